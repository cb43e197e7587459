"""Damage on which a library in C++ ends its process: a worker must never meet it."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

READ_ALL = """
import sys
from reader_harness import read_files
data = open(sys.argv[1], "rb").read()
footer = int.from_bytes(data[-8:-4], "little")
n = 0
for place in range(len(data) - 8 - footer, len(data) - 8):
    for change in (0x01, 0x04, 0x80):
        damaged = bytearray(data)
        damaged[place] ^= change
        read_files({"a.parquet": bytes(damaged)}, range_bytes=66_000)
        n += 1
print(n)
"""


def test_no_damage_of_a_parquet_footer_ends_the_process(tmp_path: Path) -> None:
    """Every byte of a footer, changed in three ways: rows and rejects, never an abort.

    pyarrow ends the process when the statistics of a column chunk are damaged and somebody asks for that chunk's
    metadata.
    """
    out = io.BytesIO()
    table = pa.table({"id": [str(i) for i in range(40)], "text": ["some words"] * 40})
    pq.write_table(table, out, row_group_size=20, compression="zstd")
    (tmp_path / "a.parquet").write_bytes(out.getvalue())
    done = subprocess.run(
        [sys.executable, "-c", READ_ALL, tmp_path / "a.parquet"],
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 1000
