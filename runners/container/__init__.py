"""Container files and templates for workers."""
