"""Token budgets: what each script and each language costs, for every tokenizer of a run.

A budget is a commutative monoid (`zero`, `merge`), so that batches, ranges and runs can be counted apart and
put together in any order. What is counted is exact; only quantiles read off the histograms are estimates.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..records import ADDED, LANGUAGE_BUDGET, SCRIPT_BUDGET
from ..unicode_data import SCRIPTS
from .ledger import MEASURES, Ledger

if TYPE_CHECKING:
    # Reading a finished budget needs neither the router nor the Unicode tables behind it.
    from ..routing import Routed
    from ..segmentation import Segmentation

Ints = npt.NDArray[np.int64]

_N_SCRIPTS: Final = len(SCRIPTS)


@dataclass(frozen=True, eq=False, kw_only=True)
class BatchCounts:
    """What a batch holds apart from tokens.

    Attributes:
        lang: string[n_docs]; BCP-47, no nulls.
        run_doc: int[n_runs]; the document of each script run.
        run_script: uint8[n_runs]; its report class, an index into `SCRIPTS`.
        n_codepoints: int64[n_runs].
        n_utf8_bytes: int64[n_runs].
        row_doc: int[n_rows]; the document of each row of `segments`.
        row_script: uint8[n_rows]; its report class.
        n_routed_bytes: int64[n_rows]; of the stream, framing included.
    """

    lang: pa.StringArray
    run_doc: npt.NDArray[Any]
    run_script: npt.NDArray[Any]
    n_codepoints: Ints
    n_utf8_bytes: Ints
    row_doc: npt.NDArray[Any]
    row_script: npt.NDArray[Any]
    n_routed_bytes: Ints

    @classmethod
    def of(cls, lang: pa.StringArray, seg: "Segmentation", routed: "Routed") -> "BatchCounts":
        """Returns the counts of a segmented and routed batch."""
        # Runs tile the documents, which lie back to back: a run ends where the next begins.
        return cls(
            lang=lang,
            run_doc=seg.run_doc,
            run_script=seg.run_report,
            n_codepoints=np.diff(seg.run_start, append=seg.n_codepoints),
            n_utf8_bytes=np.diff(seg.run_byte),
            row_doc=routed.row_doc,
            row_script=routed.row_report,
            n_routed_bytes=np.diff(routed.row_region),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class TokenCounts:
    """The tokens of a batch under one tokenizer, as attribution assigned them.

    Attributes:
        text: int64[n_runs]; tokens of the clean text.
        text_added: int64[n_docs]; tokens that the post-processor added.
        routed: int64[n_rows]; tokens of the routed stream; None where the model has none.
        routed_added: int64[n_docs]; None together with `routed`.
    """

    text: Ints
    text_added: Ints
    routed: Ints | None = None
    routed_added: Ints | None = None


class Budget:
    """Counts by (tokenizer, script) and by (tokenizer, language).

    `documents` of a script row counts the documents with at least one code point of the script, and its
    histograms count these documents by their tokens in that script. The row `(added)` does the same for the
    documents that got added tokens. A language row counts whole documents, added tokens included. So the
    script rows of a tokenizer add up to its language rows in every column but `documents` and histograms.
    """

    def __init__(self) -> None:
        # Tokenizers in the order in which they came; each with (whether it has routed ids, scripts, languages).
        self._books: dict[str, tuple[bool, Ledger, Ledger]] = {}

    @classmethod
    def zero(cls) -> "Budget":
        """Returns the budget of nothing."""
        return cls()

    @property
    def tokenizers(self) -> tuple[str, ...]:
        """The tokenizers counted so far, in the order in which they were first added."""
        return tuple(self._books)

    def _book(self, tokenizer: str, routed: bool) -> tuple[Ledger, Ledger]:
        known, scripts, languages = self._books.setdefault(tokenizer, (routed, Ledger(), Ledger()))
        if known != routed:
            raise ValueError(f"tokenizer {tokenizer!r} has routed tokens in one part of the counts and none in another")
        return scripts, languages

    def add(self, batch: BatchCounts, tokens: Mapping[str, TokenCounts]) -> None:
        """Counts a batch, in place.

        Args:
            batch: what all tokenizers share.
            tokens: by tokenizer name; the names and their order are the same for every batch of a run.

        Raises:
            ValueError: a tokenizer that had routed tokens has none now, or the other way round.
        """
        n_docs = len(batch.lang)
        if not n_docs:
            return
        cells = _Cells(batch, n_docs)
        lang = batch.lang.dictionary_encode()
        lang_names, lang_key = lang.dictionary.to_pylist(), lang.indices.to_numpy().astype(np.int64)
        for tokenizer, counts in tokens.items():
            has_routed = counts.routed is not None
            scripts, languages = self._book(tokenizer, has_routed)
            by_cell = cells.values(counts)
            scripts.add(SCRIPTS, cells.script, by_cell, routed=has_routed)
            by_doc = np.stack([_sums(cells.doc, column, n_docs) for column in by_cell])
            added = np.zeros_like(by_doc)
            added[3] = counts.text_added
            if counts.routed_added is not None:
                added[4] = counts.routed_added
            touched = added.any(axis=0)
            scripts.add([ADDED], np.zeros(int(touched.sum()), np.int64), added[:, touched], routed=has_routed)
            languages.add(lang_names, lang_key, by_doc + added, routed=has_routed)

    def merge(self, other: "Budget") -> "Budget":
        """Returns the budget of both, without changing either."""
        return Budget.merged([self, other])

    @classmethod
    def merged(cls, budgets: Iterable["Budget"]) -> "Budget":
        """Returns the sum of all; for many parts this is much faster than merging two at a time.

        Raises:
            ValueError: a tokenizer has routed tokens in one of them and none in another.
        """
        total = cls.zero()
        for budget in budgets:
            for tokenizer, (routed, scripts, languages) in budget._books.items():
                mine = total._book(tokenizer, routed)
                mine[0].merge_in(scripts)
                mine[1].merge_in(languages)
        return total

    def totals(self, tokenizer: str) -> dict[str, int | None]:
        """Returns the sum of the script rows of one tokenizer, which are the document totals; None: no routed ids.

        Raises:
            KeyError: a tokenizer that was not counted.
        """
        routed, scripts, _ = self._books[tokenizer]
        totals: dict[str, int | None] = dict(scripts.totals())
        return totals if routed else totals | {"n_routed_tokens": None}

    def script_table(self) -> pa.Table:
        """Returns the rows of `records.SCRIPT_BUDGET`: by tokenizer as added, then by script."""
        return self._table(SCRIPT_BUDGET, [(name, book[0], book[1]) for name, book in self._books.items()])

    def language_table(self) -> pa.Table:
        """Returns the rows of `records.LANGUAGE_BUDGET`: by tokenizer as added, then by language."""
        return self._table(LANGUAGE_BUDGET, [(name, book[0], book[2]) for name, book in self._books.items()])

    @staticmethod
    def _table(schema: pa.Schema, books: Sequence[tuple[str, bool, Ledger]]) -> pa.Table:
        batches = []
        for tokenizer, routed, ledger in books:
            keys, columns = ledger.to_columns(routed=routed)
            names = pa.array([tokenizer] * len(keys), pa.string())
            batches.append(pa.RecordBatch.from_arrays([names, pa.array(keys, pa.string()), *columns], schema=schema))
        return pa.Table.from_batches(batches, schema=schema).combine_chunks()

    @classmethod
    def from_tables(cls, scripts: pa.Table, languages: pa.Table) -> "Budget":
        """Returns the budget whose tables these are. A tokenizer without a row is not remembered.

        Raises:
            ValueError: a key comes twice under one tokenizer, a bucket is out of range, or a tokenizer has
                routed tokens in some rows only.
        """
        budget = cls.zero()
        for position, (table, key) in enumerate(((scripts, "script"), (languages, "lang"))):
            tokenizer = table["tokenizer"].to_pylist()
            for name in dict.fromkeys(tokenizer):
                rows = table.filter(pa.array([one == name for one in tokenizer]))
                missing = rows["n_routed_tokens"].null_count
                if 0 < missing < rows.num_rows:
                    raise ValueError(f"tokenizer {name!r} has routed tokens in some rows only")
                ledger = Ledger.from_rows(rows[key].to_pylist(), rows)
                budget._book(name, not missing)[position].merge_in(ledger)
        return budget

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Budget):
            return NotImplemented
        mine = (self.script_table(), self.language_table())
        theirs = (other.script_table(), other.language_table())
        return all(a.equals(b) for a, b in zip(mine, theirs, strict=True))

    __hash__ = None  # type: ignore[assignment]
    # `add` changes it.


class _Cells:
    """The (document, script) pairs that occur in a batch, ordered by document, then script."""

    def __init__(self, batch: BatchCounts, n_docs: int) -> None:
        run_code = batch.run_doc.astype(np.int64) * _N_SCRIPTS + batch.run_script
        row_code = batch.row_doc.astype(np.int64) * _N_SCRIPTS + batch.row_script
        # Marking a dense table costs a byte for every possible pair; sorting the codes takes ten times as long.
        seen = np.zeros(n_docs * _N_SCRIPTS, np.bool_)
        seen[run_code] = True
        seen[row_code] = True
        codes = np.flatnonzero(seen)
        number = np.empty(len(seen), np.int64)
        number[codes] = np.arange(len(codes))
        self._of_run, self._of_row = number[run_code], number[row_code]
        self.doc, self.script = codes // _N_SCRIPTS, codes % _N_SCRIPTS
        self._shared = [
            _sums(self._of_run, batch.n_codepoints, len(codes)),
            _sums(self._of_run, batch.n_utf8_bytes, len(codes)),
            _sums(self._of_row, batch.n_routed_bytes, len(codes)),
        ]

    def values(self, counts: TokenCounts) -> Ints:
        """Returns the measures of each cell under one tokenizer, int64[5, n_cells]."""
        values = np.zeros((len(MEASURES), len(self.doc)), np.int64)
        values[:3] = self._shared
        values[3] = _sums(self._of_run, counts.text, len(self.doc))
        if counts.routed is not None:
            values[4] = _sums(self._of_row, counts.routed, len(self.doc))
        return values


def _sums(key: Ints, values: Ints, n_keys: int) -> Ints:
    """Returns the sum of the values of each key, int64[n_keys].

    `np.bincount` adds doubles, which is exact below 2**53, more than a batch can hold, and faster than `np.add.at`.
    """
    return np.bincount(key, values, n_keys).astype(np.int64)
