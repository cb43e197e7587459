"""Processes that tests start and stop: Beam's job service and its worker pool."""

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def free_port() -> int:
    """Returns a port that is free now."""
    with socket.socket() as one:
        one.bind(("localhost", 0))
        return int(one.getsockname()[1])


def wait_for(port: int, process: subprocess.Popen[bytes], seconds: float = 60) -> None:
    """Returns when something listens on the port.

    Raises:
        RuntimeError: the process ended, or nothing listens after that many seconds.
    """
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args!r} ended with {process.returncode}")
        with socket.socket() as one:
            if one.connect_ex(("localhost", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError(f"nothing listens on port {port}")


@contextmanager
def running(command: list[str], port: int, environment: dict[str, str], folder: Path, log: str) -> Iterator[None]:
    """Runs a service, from when its port is open until the block ends."""
    with (folder / log).open("wb") as stream:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=stream, stderr=stream)
        try:
            wait_for(port, process)
            yield
        finally:
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def worker_pool(environment: dict[str, str], folder: Path) -> Iterator[str]:
    """Runs a pool of external workers; yields its address."""
    port = free_port()
    command = ["python", "-m", "apache_beam.runners.worker.worker_pool_main", "--service_port", str(port)]
    command[0] = str(folder / "bin" / "python")
    with running(command, port, environment, folder, "pool.log"):
        yield f"localhost:{port}"


@contextmanager
def job_service(environment: dict[str, str], folder: Path) -> Iterator[str]:
    """Runs Beam's job service in Python; yields its address."""
    port = free_port()
    command = [str(folder / "bin" / "python"), "-m", "apache_beam.runners.portability.local_job_service_main"]
    with running([*command, "--port", str(port)], port, environment, folder, "service.log"):
        yield f"localhost:{port}"
