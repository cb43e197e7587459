"""A standalone Flink cluster on this machine, from the jars of PyPI's apache-flink-libraries.

    python tools/flink_cluster.py start FOLDER --task-managers 2 --slots 1
    python tools/flink_cluster.py status FOLDER
    python tools/flink_cluster.py kill FOLDER 1        # one TaskManager, as a failing machine would
    python tools/flink_cluster.py stop FOLDER

FOLDER gets configuration, logs and process ids. Jobs are restarted ten times, from checkpoints where they have any.
"""

import argparse
import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

PACKAGES = (
    "lang", "net", "io", "nio", "lang.reflect", "text", "time", "util", "util.concurrent", "util.concurrent.atomic",
    "util.concurrent.locks",
)  # fmt: skip
OPENS = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in PACKAGES]
# The TaskManager computes nothing by itself without Flink's own scripts: every part of its memory has to be given.
MEMORY = {
    "taskmanager.memory.framework.heap.size": "128m",
    "taskmanager.memory.framework.off-heap.size": "64m",
    "taskmanager.memory.task.heap.size": "512m",
    "taskmanager.memory.task.off-heap.size": "64m",
    "taskmanager.memory.managed.size": "128m",
    "taskmanager.memory.network.min": "64m",
    "taskmanager.memory.network.max": "64m",
    "taskmanager.memory.jvm-metaspace.size": "384m",
    "taskmanager.memory.jvm-overhead.min": "192m",
    "taskmanager.memory.jvm-overhead.max": "192m",
}
LOG = """rootLogger.level = INFO
rootLogger.appenderRef.out.ref = Console
appender.console.name = Console
appender.console.type = CONSOLE
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %-5p %c{1} - %m%n
"""


def jars() -> str:
    """Returns the class path of Flink: of the engines' folder, else of the installed package."""
    engines = Path(os.environ.get("BYTEROUTE_ENGINES") or Path.home() / ".cache/byteroute/engines") / "flink/pyflink"
    if (engines / "lib").is_dir():
        return str(engines / "lib" / "*")
    found = importlib.util.find_spec("pyflink")
    if found is None or not found.submodule_search_locations:
        sys.exit("no Flink: run tools/get_engines.sh, or pip install 'byteroute[flink]'")
    return str(Path(found.submodule_search_locations[0]) / "lib" / "*")


def configure(folder: Path, args: argparse.Namespace) -> None:
    """Writes Flink's configuration."""
    conf = folder / "conf"
    conf.mkdir(parents=True, exist_ok=True)
    settings = {
        "jobmanager.rpc.address": "localhost",
        "jobmanager.rpc.port": args.port + 1,
        "jobmanager.bind-host": "localhost",
        "jobmanager.memory.process.size": "1024m",
        "taskmanager.host": "localhost",
        "taskmanager.bind-host": "localhost",
        "taskmanager.numberOfTaskSlots": args.slots,
        "taskmanager.cpu.cores": args.slots,
        "rest.address": "localhost",
        "rest.bind-address": "localhost",
        "rest.port": args.port,
        "heartbeat.interval": 1000,
        "heartbeat.timeout": 10000,
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": 10,
        "restart-strategy.fixed-delay.delay": "2 s",
        "execution.checkpointing.dir": (folder / "checkpoints").as_uri(),
        "blob.storage.directory": str(folder / "blobs"),
        "io.tmp.dirs": str(folder / "tmp"),
    } | MEMORY
    (folder / "tmp").mkdir(exist_ok=True)
    (conf / "config.yaml").write_text("".join(f"{key}: {value}\n" for key, value in settings.items()))
    (conf / "log4j.properties").write_text(LOG)


def java(folder: Path, name: str, main: str, memory: list[str]) -> None:
    """Starts a JVM of the cluster in the background, and notes its process id."""
    command = [
        "java", *memory, *OPENS, "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
        f"-Dlog4j.configurationFile={folder / 'conf' / 'log4j.properties'}", "-cp", jars(), main,
        "--configDir", str(folder / "conf"),
    ]  # fmt: skip
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
    (folder / f"{name}.pid").write_text(str(process.pid))


def overview(port: int) -> dict[str, object] | None:
    """Returns what the JobManager says of the cluster; None while it does not answer."""
    try:
        with urllib.request.urlopen(f"http://localhost:{port}/overview", timeout=5) as answer:
            return dict(json.load(answer))
    except (urllib.error.URLError, OSError):
        return None


def start(args: argparse.Namespace) -> None:
    """Starts JobManager and TaskManagers and waits until all have registered."""
    folder = args.folder.resolve()
    configure(folder, args)
    java(folder, "jobmanager", "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint", ["-Xmx448m"])
    for number in range(args.task_managers):
        memory = ["-Xmx640m", "-XX:MaxDirectMemorySize=256m", "-XX:MaxMetaspaceSize=384m"]
        java(folder, f"taskmanager{number}", "org.apache.flink.runtime.taskexecutor.TaskManagerRunner", memory)
    end = time.monotonic() + args.wait
    while time.monotonic() < end:
        seen = overview(args.port)
        if seen is not None and seen["slots-total"] == args.task_managers * args.slots:
            print(json.dumps(seen))
            return
        time.sleep(1)
    stop(args)
    sys.exit(f"the cluster did not come up in {args.wait} s; see {folder}/*.log")


def pids(folder: Path) -> dict[str, int]:
    """Returns the process ids of the cluster by name."""
    return {path.stem: int(path.read_text()) for path in sorted(folder.glob("*.pid"))}


def end_process(path: Path, how: signal.Signals) -> None:
    """Signals a process of the cluster and forgets it."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(int(path.read_text()), how)
    path.unlink()


def stop(args: argparse.Namespace) -> None:
    """Ends all processes of the cluster."""
    for name in pids(args.folder):
        end_process(args.folder / f"{name}.pid", signal.SIGTERM)


def kill(args: argparse.Namespace) -> None:
    """Kills one TaskManager without warning."""
    end_process(args.folder / f"taskmanager{args.number}.pid", signal.SIGKILL)


def status(args: argparse.Namespace) -> None:
    """Prints what the JobManager says."""
    print(json.dumps({"processes": pids(args.folder), "overview": overview(args.port)}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for action in (start, stop, status, kill):
        command = commands.add_parser(action.__name__, help=action.__doc__)
        command.set_defaults(action=action)
        command.add_argument("folder", type=Path)
        command.add_argument(
            "--port", type=int, default=8081, help="of the JobManager's page; the next one is used too"
        )
        if action is start:
            command.add_argument("--task-managers", type=int, default=1)
            command.add_argument("--slots", type=int, default=2, help="of each TaskManager")
            command.add_argument("--wait", type=int, default=90, help="seconds until the cluster must be up")
        if action is kill:
            command.add_argument("number", type=int)
    args = parser.parse_args()
    args.action(args)


if __name__ == "__main__":
    main()
