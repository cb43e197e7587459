"""The report in a terminal: the answers, then short tables."""

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from .headline import answers
from .model import Report
from .show import show
from .views import View, common_views, tokenizer_views

N_ROWS = 12
"""Rows of a table; the files have all of them."""

_COMMON = ("tokenizers", "disparity", "premiums", "compression", "targets")

_NARROW = {
    "unknown_reason",
    "documents",
    "n_codepoints",
    "bytes_per_character",
    "p50",
    "p90",
    "max",
    "documents_from_8192",
}
# Left out here, so that a table of scripts or languages fits a usual width.


def print_report(console: Console, report: Report) -> None:
    """Prints the summary of a report."""
    for one in answers(report):
        console.print(f"[bold]{escape(one.question)}[/] {escape(one.answer)}")
        for detail in one.details:
            console.print(Padding(escape(detail), (0, 0, 0, 2)), style="dim")
    views = {view.name: view for view in common_views(report)}
    for name in _COMMON:
        if name in views and views[name].rows:
            console.print(_table(views[name]))
    for number, tokenizer in enumerate(report.tokenizers):
        for view in tokenizer_views(report, tokenizer, number):
            if view.rows and view.name.startswith(("scripts", "languages", "context", "costs")):
                console.print(_table(view))


def _table(view: View) -> Table:
    """Returns the first rows and the columns that fit a usual width."""
    left_out = _NARROW if view.bins else {"unknown_reason"}
    shown = [i for i, column in enumerate(view.columns) if not column.extra and column.name not in left_out]
    table = Table(title=escape(view.caption), title_justify="left", header_style="bold", box=None, pad_edge=False)
    for i in shown:
        column = view.columns[i]
        table.add_column(escape(column.label), justify="left" if column.kind == "text" else "right")
    for row in view.rows[:N_ROWS]:
        table.add_row(*_cells(view, row, shown))
    if len(view.rows) > N_ROWS:
        table.caption = f"{N_ROWS} of {len(view.rows):,} rows"
        table.caption_justify = "left"
    return table


def _cells(view: View, row: Sequence[object], shown: Sequence[int]) -> list[str]:
    return [escape(show(row[i], view.columns[i].kind)) for i in shown]
