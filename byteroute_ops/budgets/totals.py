"""What a run did, in numbers that add up over its ranges."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any


def _added(left: Mapping[str, int], right: Mapping[str, int]) -> dict[str, int]:
    return {key: left.get(key, 0) + right.get(key, 0) for key in sorted({*left, *right})}


@dataclass(frozen=True, kw_only=True)
class RunTotals:
    """Counts of a range or a whole run. `records` = `documents` + all `rejects` + `not_sampled`.

    Attributes:
        records: what readers found: rows, and places where there should have been some.
        documents: rows of the shards.
        not_sampled: records that `--sample` or `--limit` left out.
        rejects: rejected rows by reason.
        duplicates: documents whose id an earlier document of the same range has; they are among `documents`.
        removed: code points that cleaning removed, by kind (`bom`, `feff`, `zwsp`).
        languages: documents by where their language comes from (`record`, `path`, `identified`, `undetermined`).
        n_codepoints: of the clean texts of all documents, like the following.
        n_utf8_bytes: of the clean texts.
        n_routed_bytes: of the routed streams.
        n_text_tokens: under the first tokenizer, as in the shards' column.
        n_routed_tokens: the same of the routed streams; 0 where that tokenizer has no routed ids.
        unknown_tokens: text tokens that are the tokenizer's unknown token, by tokenizer; absent where it has none.
        n_shards: shard files.
        n_shard_bytes: their size on disk.
    """

    records: int = 0
    documents: int = 0
    not_sampled: int = 0
    rejects: Mapping[str, int] = field(default_factory=dict)
    duplicates: int = 0
    removed: Mapping[str, int] = field(default_factory=dict)
    languages: Mapping[str, int] = field(default_factory=dict)
    n_codepoints: int = 0
    n_utf8_bytes: int = 0
    n_routed_bytes: int = 0
    n_text_tokens: int = 0
    n_routed_tokens: int = 0
    unknown_tokens: Mapping[str, int] = field(default_factory=dict)
    n_shards: int = 0
    n_shard_bytes: int = 0

    @classmethod
    def zero(cls) -> "RunTotals":
        """Returns the totals of nothing."""
        return cls()

    def merge(self, other: "RunTotals") -> "RunTotals":
        """Returns the totals of both.

        >>> one = RunTotals(records=3, documents=2, rejects={"invalid_json": 1})
        >>> one.merge(one).rejects
        {'invalid_json': 2}
        """
        merged: dict[str, Any] = {}
        for one in fields(self):
            mine, theirs = getattr(self, one.name), getattr(other, one.name)
            merged[one.name] = mine + theirs if isinstance(mine, int) else _added(mine, theirs)
        return RunTotals(**merged)

    @property
    def balanced(self) -> bool:
        """Whether every record is accounted for."""
        return self.records == self.documents + sum(self.rejects.values()) + self.not_sampled

    def to_json(self) -> dict[str, Any]:
        """Returns a JSON object; mappings in order of their keys."""
        return {k: dict(sorted(v.items())) if isinstance(v, Mapping) else v for k, v in asdict(self).items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "RunTotals":
        """Returns the totals that `to_json` wrote.

        Raises:
            TypeError: an unknown key.
        """
        return cls(**data)
