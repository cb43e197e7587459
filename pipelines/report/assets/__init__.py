"""Style and script of the HTML report; both are put into the file."""
