"""Everything that decides what a run writes, checked before any data is read.

Facts of a run that change no byte of its output (workers, runner, progress) are not here.
"""

import difflib
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from .errors import ConfigError
from .records import SHARD

MIB = 1 << 20


class Settings(BaseModel):
    """One run's settings. Unknown keys are errors that name the nearest known one.

    Attributes:
        format: how records lie in the input files; `auto` goes by suffix and first bytes.
        text_field: column or key of the text; `a.b` is a path into nested columns.
        id_field: column or key of the document id; None, or a record without it: an id made of source and position.
        lang_field: column or key of the BCP-47 tag; None, or a record without it: `und`.
        lang_pattern: regular expression with a group `lang` that finds the tag in the name of the source, where the
            record has none.
        identify_languages: whether to identify the language of texts for which neither record nor name tells it
            (extra `lid`).
        lang_threshold: the least confidence of an identification; below it a text stays `und`.
        separator: what ends a document in the format `text-separator`.
        keep: columns that pass through to the shards, as strings (other JSON values as JSON text).
        keep_text: whether the clean text goes into the shards beside its routed bytes.
        keep_raw: whether rejects keep the raw bytes of their record.
        max_document_bytes: longer texts (UTF-8 bytes) are rejected, or split with `split_long`.
        split_long: cut longer texts into pieces at white space instead of rejecting them.
        limit: the first so many documents in input order, read by one worker; None reads all.
        sample: the fraction of documents to take, by a stable hash of the id; None takes all.
        zwsp: what cleaning does to U+200B; `script-aware` keeps it next to scripts that write no spaces.
        policy: a built-in policy's name, or a policy as a mapping.
        framing: how routed segments are marked in the stream.
        profile: `bytes` keeps raw UTF-16 payload; `text` maps it to printable code points.
        barrier: whether C0 80 stands before every opening marker (bytes profile only).
        never_worse: keep a document UTF-8 when its routed form has more tokens, counted as `routed_engine` says.
        tokenizers: `default`, `bytes`, or paths of tokenizer.json files; the first one's ids go into the shards.
        engine: which implementation tokenizes; `auto` takes the fastest that proves equal.
        add_special_tokens: whether the tokenizer's post-processor adds its tokens.
        routed_engine: what counts routed tokens: the tokenizer's own byte alphabet, or one id a byte.
        ids: which ids the shards hold.
        shard_format: file format of the shards.
        compression: of the shards; deflate is for Avro only.
        shard_bytes: a shard file is closed when it has reached this many bytes on disk.
        range_bytes: how much input (bytes, compressed input counted as what it expands to) is one unit of work.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["auto", "jsonl", "text", "text-file", "text-separator", "parquet", "avro", "wet"] = "auto"
    text_field: str = "text"
    id_field: str | None = "id"
    lang_field: str | None = "lang"
    lang_pattern: str | None = None
    identify_languages: bool = False
    lang_threshold: float = Field(default=0.6, ge=0, le=1)
    separator: str | None = None
    keep: tuple[str, ...] = ()
    keep_text: bool = False
    keep_raw: bool = False
    max_document_bytes: int = Field(default=64 * MIB, ge=1, le=1024 * MIB)
    split_long: bool = False
    limit: int | None = Field(default=None, ge=1)
    sample: float | None = Field(default=None, gt=0, le=1)
    zwsp: Literal["script-aware", "strip", "keep"] = "script-aware"
    policy: str | dict[str, Any] = "min-bytes"
    framing: Literal["control", "bom"] = "control"
    profile: Literal["bytes", "text"] = "bytes"
    barrier: bool = False
    never_worse: bool = False
    tokenizers: tuple[str, ...] = Field(default=("default",), min_length=1)
    engine: Literal["auto", "tokenizers", "gigatoken"] = "auto"
    add_special_tokens: bool = True
    routed_engine: Literal["tokenizer", "bytes"] = "tokenizer"
    ids: Literal["text", "routed", "none"] = "text"
    shard_format: Literal["parquet", "avro"] = "parquet"
    compression: Literal["zstd", "deflate", "none"] = "zstd"
    shard_bytes: int = Field(default=256 * MIB, ge=1)
    range_bytes: int = Field(default=64 * MIB, ge=1)

    @field_validator("keep")
    @classmethod
    def _keep_new_names(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        taken = {*SHARD.names, "text"} & set(value)
        if taken:
            raise ValueError(
                f"keep names columns that every shard has anyway: {sorted(taken)}; use keep_text for the text"
            )
        if len(set(value)) != len(value):
            raise ValueError("keep names a column twice")
        return value

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.compression == "deflate" and self.shard_format != "avro":
            raise ValueError("compression deflate is for Avro shards; use zstd or none with parquet")
        if (self.separator is None) == (self.format == "text-separator"):
            raise ValueError("separator and format text-separator go together")
        if self.profile == "text" and (self.framing != "control" or self.barrier):
            raise ValueError("the text profile needs framing control and no barrier")
        return self

    def differences(self, other: "Settings") -> list[str]:
        """Returns the names of the settings in which two runs differ, in order of definition."""
        return [name for name in type(self).model_fields if getattr(self, name) != getattr(other, name)]


def load_settings(values: dict[str, Any]) -> Settings:
    """Returns checked settings.

    Raises:
        ConfigError: an unknown key (the nearest known one is named) or a value that does not fit.

    >>> load_settings({"framing": "bom"}).framing
    'bom'
    >>> load_settings({"framming": "bom"})
    Traceback (most recent call last):
    byteroute_ops.errors.ConfigError: framming: no such setting; did you mean framing?
    """
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise ConfigError("\n".join(_explain(problem) for problem in error.errors())) from None


def _explain(problem: Any) -> str:
    where = ".".join(str(part) for part in problem["loc"]) or "settings"
    if problem["type"] == "extra_forbidden":
        near = difflib.get_close_matches(where, Settings.model_fields, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known settings: {', '.join(Settings.model_fields)}"
        return f"{where}: no such setting; {hint}"
    message = str(problem["msg"]).removeprefix("Value error, ")
    if problem["type"] == "value_error":
        return message
    return f"{where}: {message}, found {problem['input']!r:.80}"
