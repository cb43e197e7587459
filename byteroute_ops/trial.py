"""What routing a batch would change for each script run, whoever's tokens move.

A budget counts a token where it stands. For the question "what does routing this script cost?" that is not enough:
a segment also changes the UTF-8 beside it (a word loses the space before it, a space is left alone), and those
tokens stand in the neighbour's run. Here what a segment changes in UTF-8 runs is billed to it, like its markers,
so that a script of which nothing is routed always changes by 0, and the changes add up to that of the documents.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .encoders import UTF8_ID
from .policy import Policy
from .routing import Routed, Router
from .segmentation import Segmentation
from .tokenization import Tokens, routed_tokens_per_row
from .tokenization.protocol import Bools, Int64

Framing = Literal["control", "bom", "none", "text"]


@dataclass(frozen=True)
class Variant:
    """One way of routing that is tried.

    Attributes:
        policy: of the router.
        framing: `control`, `bom`; `none`: as `bom`, but bytes and tokens of markers are not counted, as in
            publications that compare payloads alone; `text`: framing control in the text profile.
        barrier: whether C0 80 stands before opening markers; framings `control` and `bom`.
    """

    policy: Policy
    framing: Framing = "control"
    barrier: bool = False

    @property
    def framed(self) -> bool:
        """Whether markers are counted."""
        return self.framing != "none"

    @property
    def name(self) -> str:
        """For tables: the policy, and the framing where it is not the default."""
        extra = [self.framing] * (self.framing != "control") + ["barrier"] * self.barrier
        return self.policy.name + (f" ({', '.join(extra)})" if extra else "")

    def router(self) -> Router:
        """Returns the router.

        Raises:
            ConfigError: the barrier with a framing that cannot have it.
        """
        if self.framing == "text":
            return Router(self.policy, profile="text", barrier=self.barrier)
        return Router(self.policy, framing="control" if self.framing == "control" else "bom", barrier=self.barrier)


@dataclass(frozen=True)
class Trial:
    """What the runs of a batch cost when routed.

    Attributes:
        cost: int64[n_runs], tokens or bytes.
        edges: int64[n_runs], the part of `cost` that a budget shows elsewhere; sums to 0 in every document. A budget
            has `cost - edges`.
    """

    cost: Int64
    edges: Int64


def try_bytes(seg: Segmentation, routed: Routed, *, framed: bool = True) -> Int64:
    """Returns the routed bytes of every run: int64[n_runs].

    Args:
        seg: the segmentation that was routed.
        routed: the streams.
        framed: whether framing counts, for the run that it is billed to.
    """
    per_row = np.diff(routed.row_region)
    if not framed:
        # Escapes are no framing: they stand in the payload of UTF-8 rows.
        per_row = (routed.row_end - routed.row_start).astype(np.int64)
    return _by_run(per_row, routed, seg)


def try_tokens(seg: Segmentation, routed: Routed, stream: Tokens, text: Int64, *, framed: bool = True) -> Trial:
    """Returns the tokens of every run when routed.

    A UTF-8 run's change is billed to the next run of its document with a segment in it, or, after the last one, to
    that. In a document without segments everything stays where it is.

    Args:
        seg: the segmentation that was routed.
        routed: the streams.
        stream: their tokens.
        text: int64[n_runs], tokens of the clean text.
        framed: whether tokens of markers and barriers count.
    """
    per_row, _ = routed_tokens_per_row(stream, routed, seg)
    if not framed:
        per_row = per_row - _framing_tokens(stream, routed)
    found = _by_run(per_row, routed, seg)
    has_segment = np.zeros(len(seg.run_doc), np.bool_)
    has_segment[routed.row_run[routed.row_encoding != UTF8_ID]] = True
    run = np.arange(len(seg.run_doc))
    payer = _nearest_in_document(has_segment, seg)
    change = np.where(has_segment | (payer < 0), 0, found - text)
    edges = np.bincount(np.where(payer < 0, run, payer), change, len(run)).astype(np.int64) - change
    return Trial(found + edges, edges)


def _by_run(per_row: Int64, routed: Routed, seg: Segmentation) -> Int64:
    return np.bincount(routed.row_run, per_row, len(seg.run_doc)).astype(np.int64)


def _nearest_in_document(wanted: Bools, seg: Segmentation) -> Int64:
    """Returns for each run the next wanted one of its document, else the last one before it, else -1."""
    n = len(seg.run_doc)
    run = np.arange(n)
    after = np.minimum.accumulate(np.where(wanted, run, n)[::-1])[::-1]
    before = np.maximum.accumulate(np.where(wanted, run, -1))
    doc = np.append(seg.run_doc, -1)
    return np.where(doc[after] == seg.run_doc, after, np.where(doc[before] == seg.run_doc, before, -1))


def _framing_tokens(stream: Tokens, routed: Routed) -> Int64:
    """Returns the tokens of markers and barriers by row: int64[n_rows]. Each is a pre-token of its own."""
    starts = stream.starts[~stream.added]
    payload = routed.doc_routed[routed.row_doc] + np.stack([routed.row_start, routed.row_end])
    bounds = np.searchsorted(starts, [routed.row_region[:-1], payload[0], payload[1], routed.row_region[1:]])
    tokens: Int64 = (bounds[1] - bounds[0]) + (bounds[3] - bounds[2])
    return tokens
