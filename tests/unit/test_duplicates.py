"""Which ids were seen before."""

import random

import pyarrow as pa

from byteroute_ops.duplicates import SeenIds, id_digests


def test_repeats_are_those_of_a_set() -> None:
    """Over batches of any size, empty ones too, an id repeats exactly where a Python set holds it already."""
    source = random.Random(7)
    seen, known = SeenIds(), set[str]()
    for size in [0, 1, 700, 3, 0, 900, 40, 700]:
        ids = [f"id-{source.randrange(1500)}" for _ in range(size)]
        expected = []
        for one in ids:
            expected.append(one in known)
            known.add(one)
        assert seen.repeats(pa.array(ids, pa.string())).tolist() == expected


def test_ids_are_taken_by_their_utf8() -> None:
    """Digests differ for ids that look alike (composed or not), and a slice has those of its rows."""
    ids = pa.array(["é", "e\u0301", "", "é"])
    first, second, empty, again = id_digests(ids).tolist()
    assert first == again
    assert len({first, second, empty}) == 3
    assert id_digests(ids[1:3]).tolist() == [second, empty]
