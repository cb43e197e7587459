"""What is on disk, as files; imports nothing of ours."""
