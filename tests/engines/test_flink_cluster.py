"""The cluster script: a JobManager and TaskManagers come up, one can be killed, and all end."""

import json
import subprocess
import sys
import time
from typing import Any

import pytest
from worker_site import ROOT

TOOL = [sys.executable, str(ROOT / "tools" / "flink_cluster.py")]


def status(cluster: Any) -> dict[str, Any]:
    """Returns what the script says of the cluster."""
    words = ["status", str(cluster.folder), "--port", str(cluster.port)]
    return dict(json.loads(subprocess.run([*TOOL, *words], capture_output=True, check=True).stdout))


def test_a_task_manager_can_be_lost(flink_cluster: Any) -> None:
    """The cluster has all its slots at the start, and notices within its heartbeat that a TaskManager is gone."""
    assert status(flink_cluster)["overview"]["slots-total"] == 4
    subprocess.run([*TOOL, "kill", str(flink_cluster.folder), "1"], check=True)
    end = time.monotonic() + 60
    while status(flink_cluster)["overview"]["slots-total"] != 2:
        if time.monotonic() > end:
            pytest.fail("the JobManager did not notice")
        time.sleep(1)
    assert sorted(status(flink_cluster)["processes"]) == ["jobmanager", "taskmanager0"]
