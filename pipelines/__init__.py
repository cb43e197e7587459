"""The batch job and the command line."""
