"""Opens a tokenizer by name or path, once a process."""

import threading
from importlib import resources
from pathlib import Path
from typing import Final, Literal

from byteroute_ops.collecting import uncollected
from byteroute_ops.errors import ConfigError

from .byte_ids import ByteTokenizer
from .giga import GigatokenEngine, try_gigatoken
from .hf import ReferenceEngine
from .model_file import ModelTokenizer
from .prepared import Prepared
from .protocol import Engine, Tokenizer
from .source import file_name, read_source

EngineName = Literal["auto", "tokenizers", "gigatoken"]

DEFAULT_FILE: Final = "default.json.zst"
"""The bundled tokenizer, beside this module in `data/`; `tools/train_demo_tokenizer.py` makes it."""

_Key = tuple[str, str, bool, bool]
_open: dict[_Key, tuple[tuple[int, int], Tokenizer]] = {}
_adopted: dict[_Key, Tokenizer] = {}
_lock = threading.Lock()


def open_tokenizer(
    spec: str | Path, engine: EngineName = "auto", *, add_special_tokens: bool = True, parallel: bool = True
) -> Tokenizer:
    """Returns a tokenizer; the same one for the same arguments (and an unchanged file) in one process.

    Args:
        spec: path of a tokenizer.json (plain, .gz, .zst) or of a folder with one; `default`, the bundled one; `bytes`.
        engine: `auto`: gigatoken where it is installed and equal on a sample, else `tokenizers` (`note` says why).
            `gigatoken` likewise, and an error instead of the fallback.
        add_special_tokens: whether the post-processor's tokens (BOS, [CLS] …) go round every document.
        parallel: whether one call may use all cores; turn it off where several processes share the machine.

    Raises:
        ConfigError: no such file, a file that is no tokenizer, or an engine that cannot serve it.

    >>> open_tokenizer("bytes").vocab_size
    260
    """
    if engine not in ("auto", "tokenizers", "gigatoken"):
        raise ConfigError(f"unknown engine {engine!r:.80}: use auto, tokenizers or gigatoken")
    with _lock:
        key = (str(spec), engine, add_special_tokens, parallel)
        if key in _adopted:
            return _adopted[key]
        stamp = _stamp(spec)
        held = _open.get(key)
        if held is None or held[0] != stamp:
            tokenizer = _load(spec, engine, add_special_tokens=add_special_tokens, parallel=parallel)
            held = _open[key] = (stamp, tokenizer)
        return held[1]


def adopt_tokenizer(
    prepared: Prepared,
    spec: str | Path,
    engine: EngineName = "auto",
    *,
    add_special_tokens: bool = True,
    parallel: bool = True,
) -> None:
    """Makes `open_tokenizer` return, in this process and for these arguments, what another process has prepared.

    Neither the file nor the equality of the engines is looked at again, so this is for processes of one machine and one
    environment, such as a run's workers: they all have what the run was planned with, whatever becomes of the file.
    """
    source = prepared.source
    tokenizer = ModelTokenizer(
        source,
        ReferenceEngine(source, parallel=parallel),
        GigatokenEngine(source, parallel=parallel) if prepared.is_fast else None,
        note=prepared.note,
        add_special_tokens=add_special_tokens,
        fingerprint=prepared.fingerprint,
    )
    with _lock:
        _adopted[str(spec), engine, add_special_tokens, parallel] = tokenizer


def _stamp(spec: str | Path) -> tuple[int, int]:
    path = Path(spec)
    if str(spec) in ("bytes", "default") or not path.exists():
        return 0, 0
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def _load(spec: str | Path, engine: EngineName, *, add_special_tokens: bool, parallel: bool) -> Tokenizer:
    if str(spec) == "bytes":
        return ByteTokenizer(add_special_tokens=add_special_tokens)
    data, name = _read(spec)
    with uncollected():
        source = read_source(data, name)
    reference = ReferenceEngine(source, parallel=parallel)
    _ = reference.library  # a file that the library refuses is refused now
    fast: Engine | None = None
    note = None
    if engine != "tokenizers":
        found = try_gigatoken(source, reference, parallel=parallel)
        if not isinstance(found, str):
            fast = found
        elif engine == "gigatoken":
            raise ConfigError(f"tokenizer {name!r:.80}: {found}; use engine `auto` or `tokenizers`")
        else:
            note = f"tokenizer {name}: using tokenizers, because {found}"
    return ModelTokenizer(source, reference, fast, note=note, add_special_tokens=add_special_tokens)


def _read(spec: str | Path) -> tuple[bytes, str]:
    if str(spec) == "default":
        return resources.files(__package__).joinpath("data", DEFAULT_FILE).read_bytes(), "default"
    path = Path(spec)
    if path.is_dir():
        path /= "tokenizer.json"
    try:
        return path.read_bytes(), file_name(path)
    except OSError as error:
        raise ConfigError(
            f"tokenizer {str(spec)!r:.80}: {error.strerror}; give the path of a tokenizer.json (plain, .gz or .zst), "
            "`default`, or `bytes`"
        ) from None
