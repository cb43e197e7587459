"""The bundled corpus of `byteroute demo`; README.md beside this file says where it comes from."""
