"""Each step of the kernel alone, in processor time of one core, against other ways to do it."""

import importlib
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import regex

from byteroute_ops import compiled, unicode_tables
from byteroute_ops import unicode_data as data
from byteroute_ops.cleaning import clean_batch
from byteroute_ops.graphemes import grapheme_breaks
from byteroute_ops.policy import load_policy
from byteroute_ops.routing import Router, route_segmentation
from byteroute_ops.segmentation import Segmentation, segment_batch, utf8_of
from byteroute_ops.unicode_data import SCRIPTS

from . import corpus
from .measure import Table, in_turns, load_average, table

_SLOW_BYTES = 4 << 20
"""The alternatives are 10 to 100 times slower, so both sides get so much text."""
_REFERENCE = "decode + encode('utf-32')"
_REMOVED = dict.fromkeys([0xFEFF, 0x200B])


def kernel_tables(files: list[Path], turns: int) -> list[Table]:
    """Returns a table for every step."""
    texts = [clean_batch(batch)[0] for batch in corpus.batches(files[:2])]
    n_bytes = corpus.n_utf8_bytes(texts)
    few = _about(texts, _SLOW_BYTES)
    return [*_own_steps(texts, n_bytes, turns), *_against_others(few, corpus.n_utf8_bytes(few), max(1, turns // 2))]


def _about(texts: list[pa.StringArray], n_bytes: int) -> list[pa.StringArray]:
    batch = texts[0]
    share = min(1.0, n_bytes / corpus.n_utf8_bytes([batch]))
    return [batch.slice(0, max(1, int(len(batch) * share)))]


def _own_steps(texts: list[pa.StringArray], n_bytes: int, turns: int) -> list[Table]:
    """Returns the steps as installed and by NumPy alone, in the same turns."""
    load = load_average()
    segmented = [segment_batch(batch) for batch in texts]
    policies = ("utf-8", "script-a", "min-bytes")
    steps: dict[str, Callable[[], Any]] = {_REFERENCE: lambda: [_through_utf32(batch) for batch in texts]}
    steps["clean"] = lambda: [clean_batch(batch) for batch in texts]
    kinds = ["", ", NumPy alone"] if compiled.is_complete() else [", NumPy alone"]
    for kind in kinds:
        form = _by_numpy if kind else _as_it_is
        steps[f"segment{kind}"] = form(lambda: [segment_batch(batch) for batch in texts])
        for name in policies:
            steps[f"route {name}{kind}"] = form(_routing(segmented, Router(load_policy(name))))
    taken = in_turns(steps, turns)
    for kind in kinds:
        both = {name: taken[f"segment{kind}"] + taken[f"route {name}{kind}"] for name in policies}
        taken |= {f"segment + route {name}{kind}": seconds for name, seconds in both.items()}
    return [table("Kernel steps, one core", taken, n_bytes, _REFERENCE, unit="processor s", load=load)]


def _as_it_is(step: Callable[[], Any]) -> Callable[[], Any]:
    return step


def _by_numpy(step: Callable[[], Any]) -> Callable[[], Any]:
    """Returns the step without the compiled modules."""

    def run() -> Any:
        with mock.patch.multiple(compiled, runs=None, streams=None, tokens=None):
            return step()

    return run


def _routing(segmented: list[Segmentation], router: Router) -> Callable[[], Any]:
    return lambda: [route_segmentation(seg, router) for seg in segmented]


def _through_utf32(batch: pa.StringArray) -> bytes:
    return utf8_of(batch)[0].tobytes().decode().encode("utf-32-le")


def _against_others(texts: list[pa.StringArray], n_bytes: int, turns: int) -> list[Table]:
    strings = [text for batch in texts for text in batch.to_pylist()]
    segmented = [segment_batch(batch) for batch in texts]
    codepoints = [(seg.codepoints, seg.doc_cp[:-1]) for seg in segmented]
    router = Router(load_policy("script-a"))
    scripts = regex.compile("|".join(rf"\p{{Script={code}}}+" for code in _scripts_in(segmented)))
    graphemes = regex.compile(r"\X")
    groups: list[tuple[str, str, dict[str, Callable[[], Any]]]] = [
        ("Segmentation", "regex script runs", {
            "byteroute": lambda: [segment_batch(batch) for batch in texts],
            "regex script runs": lambda: [scripts.findall(text) for text in strings],
            **_optional("uniseg graphemes", "uniseg.graphemecluster", lambda m: [
                sum(1 for _ in m.grapheme_clusters(text)) for text in strings[: len(strings) // 8]]),
            **_optional("PyICU scripts", "icu", lambda m: [
                [m.Script.getScript(char).getScriptCode() for char in text] for text in strings]),
        }),
        ("Segmentation and routing", "regex runs, encoded one by one", {
            "byteroute": lambda: [route_segmentation(segment_batch(batch), router) for batch in texts],
            "regex runs, encoded one by one": lambda: [_regex_routed(scripts, text) for text in strings],
            "per-character Python": lambda: [_plain_routed(text) for text in strings],
        }),
        ("Cleaning", "str.translate", {
            "byteroute": lambda: [clean_batch(batch) for batch in texts],
            "str.translate": lambda: [text.translate(_REMOVED) for text in strings],
        }),
        ("Grapheme clusters", r"regex \X", {
            "byteroute": lambda: [grapheme_breaks(cps, docs) for cps, docs in codepoints],
            r"regex \X": lambda: [graphemes.findall(text) for text in strings],
        }),
    ]  # fmt: skip
    tables = []
    for title, reference, contenders in groups:
        load = load_average()
        taken = in_turns(contenders, turns)
        taken |= {name: 8 * taken[name] for name in taken if name.startswith("uniseg")}
        notes = {name: "over an eighth of the text" for name in taken if name.startswith("uniseg")}
        tables.append(table(title, taken, n_bytes, reference, unit="processor s", load=load, notes=notes))
    return tables


def _scripts_in(segmented: list[Segmentation]) -> Iterator[str]:
    """Yields the scripts of some texts that the installed `regex` knows, the most frequent first."""
    counts = np.bincount(np.concatenate([seg.run_script for seg in segmented]), minlength=len(SCRIPTS))
    for index in [data.ZYYY, data.ZINH, *np.argsort(-counts)[: np.count_nonzero(counts)].tolist()]:
        try:
            regex.compile(rf"\p{{Script={SCRIPTS[index]}}}")
        except regex.error:
            continue
        yield SCRIPTS[index]


def _optional(name: str, module: str, run: Callable[[Any], Any]) -> dict[str, Callable[[], Any]]:
    try:
        loaded = importlib.import_module(module)
    except ImportError:
        return {}
    return {name: lambda: run(loaded)}


def _regex_routed(scripts: "regex.Pattern[str]", text: str) -> bytes:
    """Returns the runs of one script each, in UTF-16 where they are no Latin or Common; no clusters, no framing."""
    parts = []
    for found in scripts.finditer(text):
        run = found.group()
        parts.append(run.encode() if run.isascii() else run.encode("utf-16-be"))
    return b"".join(parts)


def _plain_routed(text: str) -> bytes:
    """Returns the same, looking every character up in a table."""
    table_of = unicode_tables.script_table()
    parts = []
    for script, chars in groupby(text, lambda char: int(table_of[ord(char)])):
        run = "".join(chars)
        parts.append(run.encode() if script in (data.ZYYY, data.ZINH) else run.encode("utf-16-be"))
    return b"".join(parts)
