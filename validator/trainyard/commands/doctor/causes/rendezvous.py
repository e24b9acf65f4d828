"""Messages of the rendezvous: addresses, ports, names."""

from __future__ import annotations

from trainyard.commands.doctor.cause import Cause, Level, Sign

_SOCKET = "github.com/pytorch/pytorch torch/csrc/distributed/c10d/socket.cpp"
_NO_CONNECTION = (
    Sign("client socket has timed out after"),
    Sign("failed to connect to any network address"),
    Sign("RendezvousConnectionError"),
    Sign("not ready endpoints:"),
)
# Programs other than PyTorch, which tries again after such a message.
_NO_NAME = (Sign("Could not resolve host: "), Sign("UnknownHostException"), Sign("no such host"))

CAUSES = (
    Cause(
        name="rendezvous-timeout",
        title="not all nodes joined the rendezvous",
        signs=(
            Sign("RendezvousTimeoutError"),
            Sign("clients joined", r"Timed out after \d+ seconds waiting for (?:clients|workers)"),
            Sign("workers joined", r"Timed out after \d+ seconds waiting for (?:clients|workers)"),
        ),
        confidence="medium",
        messages=(
            "RendezvousTimeoutError",
            "Timed out after 901 seconds waiting for clients",
        ),
        explanation="A pod is Pending or failed early, or the pods have different numbers of nodes or addresses.",
        remedy="Compare the pods with the number of nodes: kubectl get pods, events of pods that are "
        "Pending, and the options --nnodes and --rdzv-endpoint of all pods.",
        source="github.com/OpenRLHF/OpenRLHF issue 1040",
        rules=(
            "torchrun-nnodes-replica-mismatch",
            "torchrun-endpoint-localhost",
            "gang-not-scheduled",
            "torchrun-standalone-multi-node",
        ),
    ),
    Cause(
        name="rendezvous-closed",
        title="the rendezvous was closed",
        signs=(Sign("RendezvousClosedError"),),
        level=Level.CONSEQUENCE,
        confidence="low",
        explanation="Another agent has ended the run, for example after its last restart, before this one joined.",
        remedy="Find the node that failed first; start all nodes again, with a new rendezvous id.",
        source="github.com/pytorch/pytorch issue 147064",
        rules=("torchrun-restart-on-shared-store",),
    ),
    Cause(
        name="address-in-use",
        title="the port of the rendezvous is in use",
        signs=(Sign("EADDRINUSE"), Sign("errno: 98"), Sign("Address already in use", r"(?i)error|errno")),
        explanation="Another process of the same network namespace listens on it: a second run on a host "
        "network, or an old process.",
        remedy="Choose another port, or leave the host network; end the old process.",
        source=_SOCKET,
        rules=("torchrun-port-shared-on-host",),
    ),
    Cause(
        name="master-unreachable",
        title="the address of the rendezvous does not answer",
        signs=_NO_CONNECTION,
        confidence="medium",
        explanation="The first pod does not run (yet), listens elsewhere, or a NetworkPolicy blocks the port.",
        remedy="Check that the first pod runs and that its Service and port are those of MASTER_ADDR and "
        "MASTER_PORT; then the network policies.",
        source="github.com/nvidia-cosmos/cosmos-rl issue 681",
        rules=("rendezvous-names-absent-replica", "torchrun-endpoint-localhost", "service-selects-no-pod"),
    ),
    Cause(
        name="name-not-known",
        title="a host name cannot be resolved",
        signs=(
            Sign("Name or service not known"),
            Sign("Temporary failure in name resolution"),
            Sign("gaierror"),
            *_NO_NAME,
        ),
        needs=(*_NO_CONNECTION, *_NO_NAME, Sign("gaierror"), Sign("NameResolutionError"), Sign("gai error: -3")),
        unless=r"ssh: |gai error: -2 .*socket has connected|(?i:pull|failed to do request|webhook)",
        hides=("master-unreachable", "download-failed"),
        explanation="No pod or Service has this name, its headless Service is missing, or the pod has no DNS.",
        remedy="Resolve the name in a pod (getent hosts NAME). Check the Service and the subdomain of the pods.",
        source=_SOCKET,
        rules=("rendezvous-names-absent-replica", "address-names-no-pod", "subdomain-without-service"),
    ),
    Cause(
        name="rendezvous-variables-missing",
        title="a process does not know its rank",
        signs=(Sign("environment variable", r"environment variable (?:RANK|WORLD_SIZE|MASTER_\w+) expected"),),
        messages=("environment variable RANK expected, but not set",),
        explanation="The program was started without a launcher, so RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are "
        "not set.",
        remedy="Start it with torchrun (`train.script` of training-job does so), or set the variables in each pod.",
        source="github.com/pytorch/pytorch torch/distributed/rendezvous.py",
        rules=(),
    ),
    Cause(
        name="process-group-missing",
        title="the program uses torch.distributed before it is initialized",
        signs=(
            Sign("Default process group has not been initialized"),
            Sign("parallel group is not initialized"),
        ),
        explanation="init_process_group was not called in this process, has failed before, or the group was destroyed.",
        remedy="Call init_process_group first in each process, also in those of the data loader that need it.",
        source="github.com/pytorch/pytorch torch/distributed/distributed_c10d.py",
    ),
    Cause(
        name="store-timeout",
        title="a rank did not arrive at the store in time",
        signs=(
            Sign("DistStoreError"),
            Sign("waitForInput", r"timed out after \d+ms"),
            Sign("via c10d key-value store", r"got error: .*[Tt]imeout"),
            Sign("store based barrier", r"[Tt]imed out"),
            Sign("Timeout waiting for key"),
        ),
        level=Level.CONSEQUENCE,
        confidence="low",
        messages=(
            "DistStoreError: wait timeout after 1800000ms",
            "store->get('0') got error: Socket Timeout",
            "waitForInput ... timed out after 1800000ms",
        ),
        explanation="Ranks leave keys in the store of the rendezvous for each other. One rank did not: it has failed, "
        "prepares data for longer than the timeout, or has taken another path.",
        remedy="Find the rank that did not arrive. For long preparations, raise the timeout of init_process_group or "
        "prepare the data before the run.",
        source="github.com/NVIDIA/nccl issue 708",
    ),
    Cause(
        name="store-lost",
        title="the connection to the store of the rendezvous broke",
        signs=(
            Sign("[c10d] recvValue", r"failed on SocketImpl"),
            Sign("[c10d] sendBytes failed on"),
            Sign("Connection was likely closed. Did the remote server shutdown or crash?"),
            Sign("maybe TCPStore server has shut down too early"),
        ),
        level=Level.CONSEQUENCE,
        confidence="low",
        messages=(
            "[c10d] recvValue failed on SocketImpl",
            "maybe TCPStore server has shut down too early",
        ),
        explanation="The process with the store, mostly rank 0 or the agent of the first node, has ended.",
        remedy="Read the log of rank 0 and of the first pod.",
        source="github.com/pytorch/pytorch pull request 153586",
    ),
    Cause(
        name="elastic-old-launcher",
        title="torch.distributed.launch starts the ranks, which is not elastic",
        signs=(Sign("torch.distributed.launch is deprecated"),),
        level=Level.HINT,
        explanation="The old launcher neither restarts ranks nor lets nodes join or leave.",
        remedy="Start the program with torchrun and --rdzv-backend=c10d.",
        source="docs.pytorch.org docs/stable/distributed.html: launch utility",
    ),
)
