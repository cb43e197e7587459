"""`python -m byteroute.pipelines` is the `byteroute` command."""

from .cli import main

if __name__ == "__main__":
    main(prog_name="byteroute")
