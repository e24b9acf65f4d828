"""Each pod computes the place or the ID of the rendezvous itself, so the pods wait for each other in different ones.

Every pod runs the same command, and its shell expands `$RANDOM`, `$(uuidgen)`, `$(hostname)` or the name of the pod.
`--rdzv-id` is the name of the rendezvous in its store: pods with different IDs never see each other, and end after the
join timeout. The same holds for a random port, and for an address that is the pod's own. Such commands come from
scripts that run once for all nodes, as those of Slurm.

The rule leaves out values that a script chooses among several, and the own address in a role with one pod.

Write one value for all pods: the name of the job as the ID, the name of the first pod as the address.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.torchrun import node_range, torchrun_commands
from trainyard.document.document import Place
from trainyard.document.lookup import items, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Command, Container, Role
from trainyard.startup import pattern

_RANDOM = pattern(
    r"\bRANDOM\b|(?:\$\(|`)[ ]*(?:uuidgen|shuf|mktemp|openssl[ ]+rand|cat[ ]+/proc/sys/kernel/random/uuid)\b"
    r"|(?:\$\(|`)[ ]*date[^)`]{0,40}%[sN]"
)
_OWN = pattern(r"(?:\$\(|`)[ ]*hostname\b|\$\{?HOSTNAME\b")
_NAME = pattern(r"\$[({]?([A-Za-z_]\w{0,99})[)}]?")
_OF_POD = ("metadata.name", "metadata.uid", "status.podIP")
_ID, _ADDRESS, _PORT = "--rdzv-id", ("--rdzv-endpoint", "--master-addr"), "--master-port"


@rule(
    code="TD081",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "pytorch 2.15.0 torch/distributed/elastic/rendezvous/c10d_rendezvous_backend.py: the key has the run_id; "
        "static_tcp_rendezvous.py line 75: PrefixStore(run_id)",
        "pytorch 2.15.0 torch/distributed/run.py: --rdzv-id, --rdzv-endpoint",
        "github.com/pytorch/examples pull request 1254",
    ),
    needs=("RANDOM", "hostname", "HOSTNAME", "uuid", "fieldPath", "date", "shuf"),
)
def rendezvous_of_each_pod(role: Role, context: Context) -> Iterator[Problem]:
    """Report values of the rendezvous that differ from pod to pod."""
    container, run = role.container, context.run
    launches = list(torchrun_commands(container)) if container is not None and role.trains else []
    if container is None or run is None or len(launches) != 1 or not _counts_pods(launches[0], role, context):
        return
    for name, place, told in _values(launches[0], container):
        is_own = bool(_OWN.search(told)) or told in _OF_POD
        may_be_random = name in (_ID, _PORT) or ":" in told
        is_other = is_own or (may_be_random and bool(_RANDOM.search(told)))
        # The one pod of a role may name itself, and the others name it.
        if is_other and (name == _ID or not is_own or (role.replicas or 0) > 1):
            what = "the rendezvous ID" if name == _ID else "the address" if name in _ADDRESS else "the port"
            message = f"{what} differs between the pods, because each pod computes `{name}` itself: the pods never meet"
            yield Problem(place, message, "write one value for all pods")


def _counts_pods(launch: Command, role: Role, context: Context) -> bool:
    """True if several pods start torchrun for one rendezvous."""
    if role.container is None or context.run is None or launch.has("--standalone"):
        return False
    nodes = node_range(launch, role.container, context.run)
    return nodes is not None and nodes[1] > 1


def _values(launch: Command, container: Container) -> Iterator[tuple[str, Place, str]]:
    """Yields the options of the rendezvous, with what the script or the pod gives them."""
    for name in (_ID, *_ADDRESS, _PORT):
        found = launch.option_at(name)
        if found is not None and ("$" in found[0] or "`" in found[0]):
            yield name, found[1], _told(found[0], container)


def _told(written: str, container: Container) -> str:
    """Returns the value of the one variable that a word begins with, or the word."""
    match = _NAME.match(written)
    if match is None or match[1] in ("RANDOM", "HOSTNAME"):
        return written
    for entry in items(container.tree, "env"):
        path = text(entry, "valueFrom", "fieldRef", "fieldPath") if text(entry, "name") == match[1] else ""
        if path in _OF_POD:
            return path
    values = {one.value for one in container.settings if one.name == match[1] and one.via == "script"}
    return (values.pop() or written) if len(values) == 1 else written
