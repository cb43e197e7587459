"""Who pays for a segment: markers and the tokens that move beside it go to the script that is routed."""

import numpy as np
import pyarrow as pa
import pytest

from byteroute_ops.budgets import BatchCounts
from byteroute_ops.encoders import UTF8_ID, framing_named
from byteroute_ops.errors import ConfigError
from byteroute_ops.policy import load_policy
from byteroute_ops.routing import route_segmentation
from byteroute_ops.segmentation import segment_batch
from byteroute_ops.tokenization import open_tokenizer, routed_tokens_per_row, text_tokens_per_run
from byteroute_ops.trial import Framing, Variant, try_bytes, try_tokens

TEXTS = (
    "plain words only",
    "one ሰላም two ዓለም three, four",
    "ሰላም",
    "Привет, world! ሰላም Привет",
    "",
    "漢字かな混じり文 and ሰላም 漢字",
    "1 2 3",
    "x \uf900 ሰላም \uf901 y",
)
POLICIES = {
    "ethiopic": {"name": "e", "kind": "scripts", "default": "utf-8", "scripts": {"Ethi": "utf-16-be"}},
    "script-b": "script-b",
    "min-bytes": "min-bytes",
    "utf-8": "utf-8",
}


def tried(policy: str, framing: Framing = "control", barrier: bool = False):
    """Returns segmentation, routed streams, tokens of text by run, tokens of streams, and the trial."""
    variant = Variant(load_policy(POLICIES[policy]), framing=framing, barrier=barrier)
    tokenizer = open_tokenizer("default")
    texts = pa.array(TEXTS)
    seg = segment_batch(texts)
    routed = route_segmentation(seg, variant.router())
    text = tokenizer.text(texts)
    per_run, _ = text_tokens_per_run(text, seg)
    stream = tokenizer.routed(routed, text)
    assert stream is not None
    return seg, routed, per_run, stream, try_tokens(seg, routed, stream, per_run, framed=variant.framed)


def by_document(seg, values):
    """Returns the sums of runs by document."""
    return np.bincount(seg.run_doc, values, len(TEXTS)).astype(int)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("framing", ["control", "bom", "text"])
def test_documents_cost_what_their_streams_cost(policy: str, framing: Framing) -> None:
    """Runs add up to the tokens of the stream, document by document, and edges to nothing."""
    seg, routed, _, stream, trial = tried(policy, framing)
    assert by_document(seg, trial.cost).tolist() == stream.counts.tolist()
    assert not by_document(seg, trial.edges).any()
    assert by_document(seg, try_bytes(seg, routed)).tolist() == np.diff(routed.doc_routed).tolist()


@pytest.mark.parametrize("policy", POLICIES)
def test_budgets_have_the_cost_without_edges(policy: str) -> None:
    """A budget, which counts tokens where they stand, has `cost - edges` for every run."""
    seg, routed, _, stream, trial = tried(policy)
    per_row, _ = routed_tokens_per_row(stream, routed, seg)
    in_budget = np.bincount(routed.row_run, per_row, len(seg.run_doc))
    assert (trial.cost - trial.edges).tolist() == in_budget.tolist()
    counts = BatchCounts.of(pa.array(["und"] * len(TEXTS)), seg, routed)
    assert np.bincount(routed.row_run, counts.n_routed_bytes).tolist() == try_bytes(seg, routed).tolist()


@pytest.mark.parametrize("framing", ["control", "bom", "none", "text"])
def test_scripts_that_are_not_routed_do_not_change(framing: Framing) -> None:
    """Runs without a segment cost what their text costs, where their document has no escapes."""
    seg, routed, per_run, _, trial = tried("ethiopic", framing)
    in_segment = np.zeros(len(seg.run_doc), bool)
    in_segment[routed.row_run[routed.row_encoding != UTF8_ID]] = True
    assert in_segment.any()
    free = ~in_segment & (seg.run_doc != len(TEXTS) - 1)
    assert trial.cost[free].tolist() == per_run[free].tolist()
    # And something did move: a space is left alone before a segment.
    assert trial.edges.any()


def test_markers_are_what_framing_none_leaves_out() -> None:
    """Framing `none` counts payload and UTF-8 alone; with markers there is one more at either end of a segment."""
    seg, routed, _, stream, framed = tried("ethiopic", "bom")
    _, _, _, _, bare = tried("ethiopic", "none")
    framing = framing_named("bom")
    n_segments = np.bincount(routed.row_run[routed.row_encoding != UTF8_ID], minlength=len(seg.run_doc))
    marker_bytes = try_bytes(seg, routed) - try_bytes(seg, routed, framed=False)
    assert marker_bytes.tolist() == (n_segments * framing.n_framing_bytes).tolist()
    assert (framed.cost - bare.cost).sum() == sum(
        np.count_nonzero((stream.starts >= a) & (stream.starts < b))
        for r in np.flatnonzero(routed.row_encoding != UTF8_ID)
        for a, b in (
            (routed.row_region[r], routed.doc_routed[routed.row_doc[r]] + routed.row_start[r]),
            (routed.doc_routed[routed.row_doc[r]] + routed.row_end[r], routed.row_region[r + 1]),
        )
    )
    assert framed.cost.sum() > bare.cost.sum()


def test_variants_have_names_and_limits() -> None:
    """Names tell variants apart; the barrier needs a framing that can have it."""
    policy = load_policy("script-a")
    names = [Variant(policy, framing=framing).name for framing in ("control", "bom", "none", "text")]
    assert names == ["script-a", "script-a (bom)", "script-a (none)", "script-a (text)"]
    assert Variant(policy, barrier=True).name == "script-a (barrier)"
    assert Variant(policy, framing="text").router().profile == "text"
    with pytest.raises(ConfigError):
        Variant(policy, framing="text", barrier=True).router()
