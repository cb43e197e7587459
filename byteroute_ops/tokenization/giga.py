"""The fast engine: gigatoken (extra `fast`), for the byte-level and byte-fallback BPE models that it loads.

A young library: it is used only where it gives the reference's ids on a sample, checked at every start, and it never
computes spans. Memory: it caches every pre-token it has ever seen (7 to 10 bytes for each byte of ever-new words), so
the instance is renewed when that has taken `RENEW_GROWTH`. Memory that others gave back is filled unseen first.
"""

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from byteroute_ops.encoders import BYTE_ALPHABET
from byteroute_ops.fingerprints import NASTY_TEXTS

from .hf import ReferenceEngine
from .protocol import Encoded
from .source import Source

RENEW_GROWTH = 160 << 20
"""Growth of the process during calls that ends an instance. A new one has to be loaded, 0.4 s of a core, and has
an empty cache, which makes it half as fast for a while: at 48 MiB text in 250 languages took a third more time. Random
words cause that much growth every 20 MB of text, text in 250 languages every 100 MB to 150 MB."""

RENEW_BYTES = 64 << 20
"""Text that ends an instance where the system does not tell how much memory the process has."""

_STATM = Path("/proc/self/statm")


class GigatokenEngine:
    """gigatoken, renewed after a bounded amount of text.

    Args:
        source: the tokenizer file.
        parallel: whether a call may use the library's thread pool; it never does in a forked or spawned worker.

    Raises:
        Exception: whatever the library raises for a file it cannot load; ImportError without the extra.
    """

    name = "gigatoken"

    def __init__(self, source: Source, *, parallel: bool = True) -> None:
        self._source = source
        self._parallel = None if parallel else False
        self._lock = threading.Lock()
        self._held = self._grown = 0
        self.renewals = 0
        self._library = self._load()

    def encode(self, pieces: Sequence[bytes]) -> Encoded:
        """Returns the ids of pieces; see `Engine.encode`."""
        library = self._current(sum(map(len, pieces)))
        before = _resident()
        encoded = _flat(library.encode_batch(list(pieces), parallel=self._parallel))
        self._grown += max(0, _resident() - before - encoded.ids.nbytes - encoded.counts.nbytes)
        return encoded

    def _current(self, n_bytes: int) -> Any:
        # A thread that still encodes with the old instance keeps it alive until it is done.
        with self._lock:
            is_full = self._grown > RENEW_GROWTH if _resident() else self._held + n_bytes > RENEW_BYTES
            if self._held and is_full:
                self._library = None  # before the new one comes: never two full caches
                self._library = self._load()
                self._held = self._grown = 0
                self.renewals += 1
            self._held += n_bytes
            return self._library

    def _load(self) -> Any:
        from gigatoken import Tokenizer

        return Tokenizer.from_json(self._source.json)


def _flat(rows: Any) -> Encoded:
    offsets = np.asarray(rows.layout.offsets.data, np.int64)
    content = np.asarray(rows.layout.content.data)[offsets[0] : offsets[-1]]
    return Encoded(content.astype(np.int32), np.diff(offsets))


def _resident() -> int:
    """Returns the bytes of this process in memory; 0 where the system does not say."""
    try:
        return int(_STATM.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def try_gigatoken(source: Source, reference: ReferenceEngine, *, parallel: bool) -> GigatokenEngine | str:
    """Returns the fast engine if it is there and equal to the reference on the sample, else why not."""
    try:
        engine = GigatokenEngine(source, parallel=parallel)
    except ImportError:
        return "gigatoken is not installed (pip install 'byteroute[fast]')"
    except Exception as error:
        return f"gigatoken cannot load it ({str(error).splitlines()[0]:.120})"
    sample = [text.encode() for text in check_sample(source)]
    try:
        ours, theirs = engine.encode(sample), reference.encode(sample)
    except Exception as error:
        return f"gigatoken failed on the check sample ({type(error).__name__})"
    if np.array_equal(ours.ids, theirs.ids) and np.array_equal(ours.counts, theirs.counts):
        return engine
    return "gigatoken gives other ids than tokenizers on the check sample"


def check_sample(source: Source) -> list[str]:
    """Returns the texts on which engines must agree: the nasty ones, what payloads look like, added tokens as text."""
    payloads = [
        "".join(BYTE_ALPHABET[byte] for byte in text.encode(encoding))
        for text in NASTY_TEXTS[7:13]
        for encoding in ("utf-16-be", "utf-16-le")
    ]
    marked = [f"a{token} b {token}" for token in list(source.traits.added.values())[:200]]
    return [*NASTY_TEXTS, *payloads, *marked]
