"""Settings: checked before anything is read, with messages that say what to do."""

import pytest

from byteroute_ops.errors import ConfigError
from byteroute_ops.jobs import Job
from byteroute_ops.settings import Settings, load_settings


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"polcy": "utf-8"}, "polcy: no such setting; did you mean policy?"),
        ({"zzz": 1}, "zzz: no such setting; known settings: format, text_field"),
        ({"framing": "boom"}, "framing: Input should be 'control' or 'bom', found 'boom'"),
        ({"sample": 0}, "sample: Input should be greater than 0, found 0"),
        ({"compression": "deflate"}, "compression deflate is for Avro shards; use zstd or none with parquet"),
        ({"profile": "text", "barrier": True}, "the text profile needs framing control and no barrier"),
        ({"keep": ["text"]}, "keep names columns that every shard has anyway: ['text']; use keep_text for the text"),
        ({"keep": ["url", "url"]}, "keep names a column twice"),
        ({"format": "text-separator"}, "separator and format text-separator go together"),
        ({"tokenizers": []}, "tokenizers: "),
    ],
)
def test_wrong_settings_say_what_to_do(values: dict[str, object], message: str) -> None:
    """Each message names the setting, what was found or what is allowed."""
    with pytest.raises(ConfigError) as caught:
        load_settings(values)
    assert str(caught.value).startswith(message)


def test_every_problem_is_named_at_once() -> None:
    """Two mistakes give two lines."""
    with pytest.raises(ConfigError) as caught:
        load_settings({"framing": "boom", "shard_format": "orc"})
    assert len(str(caught.value).splitlines()) == 2


def test_a_job_survives_its_json() -> None:
    """Workers get the job as JSON; nothing is lost on the way."""
    settings = load_settings(
        {"keep": ["url"], "tokenizers": ["bytes", "default"], "sample": 0.25, "policy": "script-c"}
    )
    job = Job(settings=settings, input_root="/data/", output="s3://bucket/out")
    assert Job.from_json(job.to_json()) == job


def test_settings_cannot_be_changed() -> None:
    """A run's settings are one value."""
    with pytest.raises(ValueError, match="frozen"):
        Settings().limit = 3  # type: ignore[misc]
