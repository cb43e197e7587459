"""How fast byteroute is, beside what else does the same work: `make bench`, or `python -m benchmarks.speed --help`."""
