"""The bundled tokenizer."""
