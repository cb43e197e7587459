"""A progress line on a terminal. Nothing is shown where standard error is no terminal, or with --quiet."""

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn


class RunProgress:
    """Documents, bytes, bytes per second and ranges done, while a run goes on."""

    def __init__(self, *, n_bytes: int, n_ranges: int, quiet: bool) -> None:
        self._progress = Progress(
            TextColumn("{task.fields[done]}/{task.fields[ranges]} ranges"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[documents]:,} documents"),
            TextColumn("{task.fields[megabytes]:,.1f} MB read, {task.fields[rate]:.1f} MB/s"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=quiet or not sys.stderr.isatty(),
            transient=True,
        )
        self._task = self._progress.add_task(
            "run", total=max(n_bytes, 1), documents=0, megabytes=0.0, rate=0.0, done=0, ranges=n_ranges
        )
        self._documents = 0
        self._bytes = 0
        self._done = 0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def read(self, range_index: int, source_bytes: int, documents: int) -> None:  # noqa: ARG002
        """Counts what a worker has read since it last said so."""
        self._documents += documents
        self._bytes += source_bytes
        elapsed = self._progress.tasks[0].elapsed or 0.0
        self._progress.update(
            self._task,
            completed=self._bytes,
            documents=self._documents,
            megabytes=self._bytes / 1e6,
            rate=self._bytes / 1e6 / elapsed if elapsed else 0.0,
        )

    def range_done(self, range_index: int) -> None:  # noqa: ARG002
        """Counts a finished range."""
        self._done += 1
        self._progress.update(self._task, done=self._done)
