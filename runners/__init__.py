"""One profile a file: what each engine needs to run the job."""
