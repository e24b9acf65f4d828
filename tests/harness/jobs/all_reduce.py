"""A run that does nothing but sum over the first second network of its pods, as long as it is asked to."""

from __future__ import annotations

from tests.cluster import api
from tests.cluster.errors import ClusterError

from .run import Run

MEBIBYTES = 64
# A network that is lost between two sums must be noticed within seconds and not within gloo's own half an hour.
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
    # What happens beside it on the same processors is what is tested.
    time.sleep(0.5)
said = {{"rank": dist.get_rank(), "sum": tensor[0].item(), "sent": int(sent.read_text()) - before}}
print("result", json.dumps(said))
"""
FIRST_SECONDS = 120
NEXT_SECONDS = 60


def settings(*, rounds: int) -> dict[str, object]:
    """What makes a run of training-job sum; the network that it attaches comes beside."""
    return {
        "launcher": "command",
        "train.command": ["python3", "-c", PROGRAM],
        "train.args": [],
        "env": {"GLOO_SOCKET_IFNAME": "net1", "ROUNDS": str(rounds)},
        "checkpoints.enabled": False,
        "runPolicy.restartsPerNode": 0,
        "restartPolicy": "Never",
        # The program does not listen to SIGTERM, as process 1 of its container.
        "terminationGracePeriodSeconds": 1,
    }


def require_traffic(run: Run) -> None:
    """Wait until the run's first pod has sent one more tensor; raise `ClusterError` when it does not."""
    before = api.wait_until(lambda: _sent(run), what=f"{run.release} to use net1", seconds=FIRST_SECONDS)
    tensor = MEBIBYTES << 20
    api.wait_until(lambda: _sent(run) > before + tensor, what=f"{run.release} to sum on", seconds=NEXT_SECONDS)


def _sent(run: Run) -> int:
    pod = ("--namespace", run.namespace, "exec", f"{run.release}-master-0")
    file = "/sys/class/net/net1/statistics/tx_bytes"
    try:
        return int(api.kubectl(run.cluster.kubeconfig, *pod, "--", "cat", file))
    except ClusterError:  # the pod has not started
        return 0
