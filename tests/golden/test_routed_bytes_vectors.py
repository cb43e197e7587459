"""The vectors of schemas/routed_bytes_vectors.json: other implementations are held to the same."""

import json
import re
from importlib import resources
from typing import Any

import pytest

from byteroute_ops.errors import StreamError
from byteroute_ops.policy import load_policy
from byteroute_ops.routing import Router, route_text
from byteroute_ops.stream_codec import StreamDecoder, decode
from byteroute_ops.unicode_data import UNICODE_VERSION

pytestmark = pytest.mark.usefixtures("kernel_form")

SCHEMAS = resources.files("byteroute.schemas")
VECTORS = json.loads(SCHEMAS.joinpath("routed_bytes_vectors.json").read_text("utf-8"))


def name_of(vector: dict[str, Any]) -> str:
    """Returns what a failing test is called."""
    return "-".join(str(vector[key]) for key in ("name", "policy", "framing", "profile", "barrier") if key in vector)


def options(vector: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings of a vector's stream."""
    return {key: vector[key] for key in ("framing", "profile", "barrier")}


@pytest.mark.parametrize("vector", VECTORS["vectors"], ids=name_of)
def test_stream_is_written(vector: dict[str, Any]) -> None:
    """Routing the text gives the bytes of the vector."""
    router = Router(load_policy(vector["policy"]), **options(vector))
    assert route_text(bytes.fromhex(vector["text"]).decode(), router).hex() == vector["stream"]


@pytest.mark.parametrize("vector", VECTORS["vectors"], ids=name_of)
def test_stream_is_read(vector: dict[str, Any]) -> None:
    """Decoding the bytes gives the text back."""
    assert decode(bytes.fromhex(vector["stream"]), **options(vector)).encode().hex() == vector["text"]


@pytest.mark.parametrize("vector", VECTORS["errors"], ids=name_of)
def test_stream_is_refused(vector: dict[str, Any]) -> None:
    """Decoding fails at the offset of the vector, whole and byte by byte."""
    stream = bytes.fromhex(vector["stream"])
    with pytest.raises(StreamError) as whole:
        decode(stream, **options(vector))
    decoder = StreamDecoder(**options(vector))
    with pytest.raises(StreamError) as stepwise:
        "".join([*(decoder.feed(stream[i : i + 1]) for i in range(len(stream))), decoder.finish()])
    assert whole.value.offset == stepwise.value.offset == vector["offset"]


def test_vectors_are_of_this_unicode_version() -> None:
    """The vectors name the Unicode version that the tables have."""
    assert VECTORS["unicode_version"] == UNICODE_VERSION


def test_every_policy_and_setting_has_a_vector() -> None:
    """No builtin policy and no combination of settings is without a vector."""
    policies = {vector["policy"] for vector in VECTORS["vectors"]}
    combinations = {tuple(options(vector).values()) for vector in VECTORS["vectors"]}
    assert policies == {"utf-8", "script-a", "script-b", "script-c", "min-bytes"}
    assert len(combinations) == 5


@pytest.mark.parametrize(("place", "policy"), [(0, "script-a"), (1, "utf-8")])
def test_hex_dumps_of_the_page_are_true(place: int, policy: str) -> None:
    """The annotated dumps of routed_bytes.md are the bytes that the router writes, at the offsets they state."""
    page = SCHEMAS.joinpath("routed_bytes.md").read_text("utf-8")
    dump = re.findall(r"^    offset  bytes.*\n((?:    \d.*\n)+)", page, re.MULTILINE)[place]
    expected = route_text("abc 你好世界 \uf900", Router(load_policy(policy)))
    position = 0
    for line in dump.splitlines():
        offset, found = re.match(r"    (\d+) *((?:[0-9A-F]{2} )*[0-9A-F]{2})?(?:  |$)", line).groups("")
        assert int(offset) == position
        assert bytes.fromhex(found) == expected[position : position + len(bytes.fromhex(found))]
        position += len(bytes.fromhex(found))
    assert position == len(expected)
