"""A run that only calls all-reduce over the first secondary network of its pods, for a given number of rounds."""

from __future__ import annotations

from tests.harness.cluster import api
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs.run import Run

MEBIBYTES = 16
# A network failure between two rounds must be detected within seconds, not after gloo's default of 30 minutes.
PROGRAM = f"""
import datetime, json, os, pathlib, time
import torch, torch.distributed as dist
sent = pathlib.Path("/sys/class/net/net1/statistics/tx_bytes")
rounds = int(os.environ["ROUNDS"])
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=20))
before = int(sent.read_text())
for number in range(rounds):
    tensor = torch.ones({MEBIBYTES} << 18)
    dist.all_reduce(tensor)
    if number == 0:
        print("first sum", flush=True)
    # Leaves CPU time to the events that are tested meanwhile.
    time.sleep(0.5)
said = {{"rank": dist.get_rank(), "sum": tensor[0].item(), "sent": int(sent.read_text()) - before}}
print("result", json.dumps(said))
"""
FIRST_SECONDS = 120
NEXT_SECONDS = 60


def settings(*, rounds: int) -> dict[str, object]:
    """Return the values that make a training-job release run the program; the attached network is set separately."""
    return {
        "launcher": "command",
        "train.command": ["python3", "-c", PROGRAM],
        "train.args": [],
        "env": {"GLOO_SOCKET_IFNAME": "net1", "ROUNDS": str(rounds)},
        "checkpoints.enabled": False,
        "runPolicy.restartsPerNode": 0,
        "restartPolicy": "Never",
        # As process 1 of its container the program ignores SIGTERM.
        "terminationGracePeriodSeconds": 1,
    }


def require_traffic(run: Run) -> None:
    """Wait until the run's first pod has sent another tensor; raise `ClusterError` if it does not."""
    before = api.wait_until(lambda: _sent(run), what=f"{run.release} to use net1", seconds=FIRST_SECONDS)
    tensor = MEBIBYTES << 20
    api.wait_until(lambda: _sent(run) > before + tensor, what=f"{run.release} to continue", seconds=NEXT_SECONDS)


def _sent(run: Run) -> int:
    pod = ("--namespace", run.namespace, "exec", f"{run.release}-master-0")
    file = "/sys/class/net/net1/statistics/tx_bytes"
    try:
        return int(api.kubectl(run.cluster.kubeconfig, *pod, "--", "cat", file))
    except ClusterError:  # the pod has not started
        return 0
