"""The report on a finished run: load, compute one plain model, render it as text, HTML, charts and tables."""
