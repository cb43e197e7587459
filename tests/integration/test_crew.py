"""Where workers come from: a server with imports alone, and what becomes of it."""

import os
import re
import signal
import subprocess
import sys
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import psutil
import pytest
from byteroute.pipelines import crew, preload
from byteroute.pipelines.crew import start_server, start_worker
from integration_support import run_command, servers_of

from byteroute_ops.errors import ByteRouteError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere workers are spawned")

OUTSIDE = """
import sys
sys.path.remove("")
from byteroute.pipelines.cli import main
main(sys.argv[1:])
"""


def tell(channel: Any, *names: str) -> None:
    """Sends what a worker has: modules by name, an environment variable, the parent's process id."""
    channel.send(([name in sys.modules for name in names], os.environ.get("BYTEROUTE_TEST"), os.getppid()))


def asked(*names: str) -> Any:
    """Returns what a worker tells."""
    process, channel = start_worker(tell, *names)
    try:
        return channel.recv()
    finally:
        process.join()
        channel.close()


def test_workers_have_the_imports_and_the_environment_of_their_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the server imported is there, without a tokenizer; variables are those of now, not of the server's start."""
    start_server()
    for value in ("one", "two"):
        monkeypatch.setenv("BYTEROUTE_TEST", value)
        modules, variable, parent = asked("apache_beam", "byteroute_ops.beam.serving", "byteroute.pipelines.report")
        assert modules == [True, True, False]
        assert variable == value
        assert parent == servers_of(os.getpid())[0].pid
    assert preload.MARK not in os.environ
    assert "PYTHONSAFEPATH" not in os.environ


def test_the_server_does_not_hear_ctrl_c() -> None:
    """Interrupts are held back before its first line, or else it would end in a traceback; here they are not."""
    server = asked()[2]
    blocked = re.search(r"^SigBlk:\s*(\w+)$", Path(f"/proc/{server}/status").read_text("ascii"), re.MULTILINE)
    assert blocked is not None
    assert int(blocked[1], 16) >> (signal.SIGINT - 1) & 1
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_a_server_that_was_killed_is_started_again() -> None:
    """The next worker comes from a new one."""
    before = asked()[2]
    (server,) = servers_of(os.getpid())
    server.kill()
    assert asked()[2] not in (before, os.getpid())


def test_a_server_that_cannot_start_ends_in_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not hang."""
    for server in servers_of(os.getpid()):
        server.kill()
    monkeypatch.setattr(crew, "_PAUSE_SECONDS", 0.2)
    monkeypatch.setenv("PYTHONHOME", "/nowhere")  # its Python ends before it has begun
    with pytest.raises(ByteRouteError, match="ended 3 times; run with --runner local"):
        asked()


def test_without_a_place_for_its_socket_workers_are_spawned(monkeypatch: pytest.MonkeyPatch) -> None:
    """A TMPDIR may have a longer name than a socket."""

    def too_long() -> None:
        raise OSError("AF_UNIX path too long")

    monkeypatch.setattr(forkserver, "ensure_running", too_long)
    modules, _, parent = asked("apache_beam")
    assert modules == [False]
    assert parent == os.getpid()


@pytest.mark.parametrize(("tokenizer", "code"), [("bytes", 0), ("absent.json", 2)])
def test_the_server_ends_with_the_command(corpus: Path, tmp_path: Path, tokenizer: str, code: int) -> None:
    """Whether workers were needed or not: the server is gone when the command is."""
    command = run_command(corpus, tmp_path / "out", "--tokenizer", tokenizer, "--quiet", "--max-rejected", "9")
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    assert process.wait() == code
    servers = [
        one.pid for one in psutil.process_iter(["cmdline"]) if "forkserver" in " ".join(one.info["cmdline"] or [])
    ]
    assert process.pid not in map(os.getpgid, servers)


def test_nothing_is_imported_from_the_current_folder(corpus: Path, tmp_path: Path) -> None:
    """A corpus may lie beside a file that is called like a library, and the installed command does not see it."""
    (tmp_path / "numpy.py").write_text("open('imported', 'w').close()\n", encoding="utf-8")
    options = run_command(corpus, tmp_path / "out", "--tokenizer", "bytes", "--quiet", "--max-rejected", "9")[3:]
    done = subprocess.run([sys.executable, "-c", OUTSIDE, *options], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert not (tmp_path / "imported").exists()
