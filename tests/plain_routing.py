"""Plain twin of the router: one document, one cluster at a time, as `schemas/routed_bytes.md` reads.

Shares with the fast one only the script runs, the cluster breaks and the policy tables.
"""

from dataclasses import dataclass
from itertools import groupby, pairwise, product

import pyarrow as pa

from byteroute_ops.policy import Policy
from byteroute_ops.routing import Router
from byteroute_ops.segmentation import Segmentation, segment_batch
from byteroute_ops.unicode_data import SCRIPTS

UTF8, BE, LE = range(3)
CODECS = ("utf-8", "utf-16-be", "utf-16-le")
OPENING = {"control": (b"", "\uf900".encode(), "\uf902".encode()), "bom": (b"", b"\xfe\xff", b"\xff\xfe")}
CLOSING = {"control": (b"", "\uf901".encode(), "\uf903".encode()), "bom": (b"", b"\xff\xff", b"\xff\xff")}
KEPT_OUT = {"control": ("", "\uefa4", "\ua4ef"), "bom": ("", "\uffff", "\uffff")}
MARKERS = "\uf900\uf901\uf902\uf903\uf904"

_PRINTING = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [byte for byte in range(256) if byte not in _PRINTING]
ALPHABET = {byte: chr(byte if byte in _PRINTING else 256 + _OTHERS.index(byte)) for byte in range(256)}


@dataclass(frozen=True)
class Cluster:
    """A grapheme cluster and the class of the run that it stands in."""

    text: str
    script: str


def segmentation_of(*texts: str) -> Segmentation:
    """Returns the segmentation of some texts as one batch."""
    return segment_batch(pa.array(texts, pa.string()))


def clusters_of(text: str) -> list[Cluster]:
    """Returns the clusters of one text."""
    seg = segmentation_of(text)
    starts = [i for i, is_break in enumerate(seg.cluster_breaks.tolist()) if is_break]
    run_starts, scripts = seg.run_start.tolist(), seg.run_script.tolist()
    found = []
    for start, end in pairwise([*starts, len(text)]):
        run = max(i for i, at in enumerate(run_starts) if at <= start)
        found.append(Cluster(text[start:end], SCRIPTS[scripts[run]]))
    return found


def literal_utf8(text: str, router: Router) -> bytes:
    """Returns text as it stands in UTF-8 state."""
    if router.framing == "control":
        text = "".join("\uf904" + char if char in MARKERS else char for char in text)
    return text.encode()


def payload(text: str, encoding: int, router: Router) -> bytes:
    """Returns text as it stands in a segment."""
    raw = text.encode(CODECS[encoding])
    return "".join(ALPHABET[byte] for byte in raw).encode() if router.profile == "text" else raw


def may_be(cluster: Cluster, encoding: int, router: Router) -> bool:
    """Returns whether the grammar lets a cluster have an encoding."""
    return encoding == UTF8 or KEPT_OUT[router.framing][encoding] not in cluster.text


def write(clusters: list[Cluster], encodings: list[int], router: Router) -> bytes:
    """Returns the stream of clusters with the given encodings."""
    out = b""
    for encoding, members in groupby(zip(clusters, encodings, strict=True), key=lambda pair: pair[1]):
        text = "".join(cluster.text for cluster, _ in members)
        if encoding == UTF8:
            out += literal_utf8(text, router)
            continue
        out += b"\xc0\x80" if router.barrier else b""
        out += OPENING[router.framing][encoding] + payload(text, encoding, router) + CLOSING[router.framing][encoding]
    return out


def table_encodings(clusters: list[Cluster], router: Router) -> list[int]:
    """Returns the encoding of each cluster under a policy of kind `scripts` or `ranges`."""
    policy: Policy = router.policy
    by_script = {SCRIPTS[script]: encoding for script, encoding in policy.scripts}
    found = []
    for cluster in clusters:
        if policy.kind == "scripts":
            encoding = by_script.get(cluster.script, policy.default)
            if cluster.script in ("Zyyy", "Zinh", "Zzzz"):
                encoding = UTF8
        else:
            first = ord(cluster.text[0])
            encoding = next((e for low, high, e in policy.ranges if low <= first <= high), policy.default)
        found.append(encoding if may_be(cluster, encoding, router) else UTF8)
    kept: list[int] = []
    for encoding, members in groupby(zip(clusters, found, strict=True), key=lambda pair: pair[1]):
        texts = [cluster.text for cluster, _ in members]
        short = sum(map(len, texts)) < policy.min_codepoints
        kept += [UTF8 if short else encoding] * len(texts)
    return kept


def n_segments(encodings: list[int]) -> int:
    """Returns how many segments neighbouring equal encodings make."""
    return sum(1 for encoding, _ in groupby(encodings) if encoding != UTF8)


def brute_force(clusters: list[Cluster], router: Router) -> list[int]:
    """Returns the best encodings by trying all of them: fewest bytes, fewest segments, lowest encodings."""
    best = None
    for encodings in product((UTF8, BE, LE), repeat=len(clusters)):
        if all(may_be(cluster, encoding, router) for cluster, encoding in zip(clusters, encodings, strict=True)):
            found = (len(write(clusters, list(encodings), router)), n_segments(list(encodings)), encodings)
            best = found if best is None else min(best, found)
    assert best is not None
    return list(best[2])


def shortest_encodings(clusters: list[Cluster], router: Router) -> list[int]:
    """Returns the best encodings by dynamic programming over whole prefixes, ties included."""
    frame = write([Cluster("a", "Latn")], [BE], router)
    n_framing = len(frame) - len(payload("a", BE, router))
    # (bytes, segments, encodings) of the best way to encode the prefix and be in a state.
    best: dict[int, tuple[int, int, list[int]]] = {UTF8: (0, 0, [])}
    for cluster in clusters:
        after = {}
        for state in (UTF8, BE, LE):
            if not may_be(cluster, state, router):
                continue
            size = len(literal_utf8(cluster.text, router) if state == UTF8 else payload(cluster.text, state, router))
            options = []
            for before, (n_bytes, segments, path) in best.items():
                opens = state not in (UTF8, before)
                options.append((n_bytes + size + n_framing * opens, segments + opens, [*path, state]))
            after[state] = min(options)
        best = after
    return min(best.values())[2]


def plain_route(text: str, router: Router) -> bytes:
    """Returns the routed stream of one text."""
    clusters = clusters_of(text)
    choose = shortest_encodings if router.policy.kind == "optimal" else table_encodings
    return write(clusters, choose(clusters, router), router)
