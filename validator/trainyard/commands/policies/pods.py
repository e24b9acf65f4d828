"""Policies on pods of any kind: NCCL's variables, shared memory, placement."""

from __future__ import annotations

from trainyard.commands.policies.expressions import (
    TEMPLATES,
    each_container,
    each_variable,
    literal,
    named,
    out_of_range,
)
from trainyard.commands.policies.kinds import WITH_PODS
from trainyard.facts.hardware.devices import ACCELERATORS, RDMA
from trainyard.facts.jobs.kueue import TOPOLOGY_REQUESTS, UNCONSTRAINED
from trainyard.facts.nccl import levels, lists, numbers
from trainyard.facts.programs.go_words import BOOLEANS
from trainyard.rules.memory import shm_host_path
from trainyard.rules.nccl import (
    nccl_debug_level_invalid,
    nccl_ib_timeout_infinite,
    nccl_socket_family_invalid,
    nccl_value_out_of_range,
    nccl_word_boolean,
)
from trainyard.rules.topology import tolerates_cordoned_node

_ENDINGS = " || ".join(f"e.name.endsWith({literal(end)})" for end in numbers.SWITCHES)
_SWITCHES = f"e.?name.orValue('').startsWith('NCCL_') && ({_ENDINGS}) && !({named(nccl_word_boolean.BOOLEANS)})"
_WORDS = literal([*numbers.ON, *numbers.OFF])
_LEVELS = [*nccl_debug_level_invalid.LEVELS, *nccl_debug_level_invalid.SILENCE]
# The limit of 32 blocks of older releases depends on the release.
_RANGES = nccl_value_out_of_range.RANGES

# A sign behind the one or two that may begin a list, or at the start of a later entry.
_MISPLACED = r"^(=[\\^=]|\\^\\^|\\^=[\\^=])|,[\\^=]"

_SHM = "(m.mountPath == '/dev/shm' || m.mountPath == '/dev/shm/')"
_SHM_VOLUMES = f"c.?volumeMounts.orValue([]).all(m, !{_SHM} || t.?spec.?volumes.orValue([]).all(v, v.name != m.name || "
_DEVICES = literal([*ACCELERATORS, *RDMA])
_ASKS = " || ".join(
    f"c.?resources.?{field}.orValue({{}}).exists(n, {_DEVICES}.exists(d, n.startsWith(d)))"
    for field in ("limits", "requests")
)
_TAINTS = literal(tolerates_cordoned_node.Parameters().taints)
_TOLERATED = (
    "!(o.?effect.orValue('') in ['', 'NoSchedule']) || !((o.?key.orValue('') == '' && "
    f"o.?operator.orValue('') == 'Exists') || (o.?key.orValue('') in {_TAINTS} && "
    "(o.?operator.orValue('') == 'Exists' || o.?value.orValue('') == '')))"
)
# Nothing starts such a pod a second time on the bad node.
_ONCE = (
    "object.kind == 'Pod' && object.metadata.?ownerReferences.orValue([]).size() == 0 || object.kind == 'Job' && "
    "object.spec.?backoffLimit.orValue(6) == 0 && object.spec.?template.?spec.?restartPolicy.orValue('') == 'Never'"
)
_BENCHMARK = "(c.?command.orValue([]) + c.?args.orValue([])).exists(w, w.contains('_perf'))"
_ANNOTATIONS = "t.?metadata.?annotations.orValue({})"

# The validations of each rule; all have the variable `templates`.
PODS: dict[str, tuple[str, ...]] = {
    "nccl-word-boolean": (each_variable(_SWITCHES, f"e.value.trim().lowerAscii() in {_WORDS}"),),
    "nccl-level-case-or-unknown": (
        each_variable(
            named(levels.VARIABLES),
            f"e.value != '' && !(e.value in {literal(levels.LEVELS)}) && !e.value.matches('^[0-9]')",
        ),
    ),
    "nccl-level-legacy-integer": (each_variable(named(levels.VARIABLES), "e.value.matches('^[0-9]{1,18}$')"),),
    "nccl-socket-family-invalid": (
        each_variable(
            named(["NCCL_SOCKET_FAMILY"]),
            f"e.value != '' && !(e.value in {literal(nccl_socket_family_invalid.FAMILIES)})",
        ),
    ),
    "nccl-debug-level-invalid": (
        each_variable(named(["NCCL_DEBUG"]), f"!(e.value.trim().upperAscii() in {literal(_LEVELS)})"),
    ),
    "nccl-ib-timeout-infinite": (
        each_variable(named(["NCCL_IB_TIMEOUT"]), out_of_range(1, nccl_ib_timeout_infinite.LONGEST)),
    ),
    "nccl-p2p-disable-not-one": (each_variable(named(["NCCL_P2P_DISABLE"]), out_of_range(0, 1)),),
    "nccl-value-out-of-range": tuple(
        each_variable(named([name]), out_of_range(one.low, one.high))
        if one.multiple_of == 1
        else each_variable(
            named([name]),
            f"{out_of_range(one.low, one.high)} || e.value.matches('^[1-9][0-9]{{0,8}}$') && "
            f"int(e.value) % {one.multiple_of} != 0",
        )
        for name, one in _RANGES.items()
    ),
    "nccl-list-caret-or-equals-misplaced": (each_variable(named(lists.LISTS), f"e.value.matches('{_MISPLACED}')"),),
    "shm-not-memory-medium": (
        each_container(
            f"{_SHM_VOLUMES}!has(v.emptyDir) || v.emptyDir.?medium.orValue('') == 'Memory' || "
            "v.emptyDir.?medium.orValue('').startsWith('HugePages')))"
        ),
    ),
    "shm-host-path": (
        each_container(
            f"{_SHM_VOLUMES}!has(v.hostPath) || "
            f"!({literal(shm_host_path.SAME)}.exists(s, v.hostPath.path == s || v.hostPath.path == s + '/'))))",
            "t.?spec.?containers.orValue([])",
        ),
    ),
    "kueue-topology-conflict": (
        f"variables.templates.all(t, {literal(TOPOLOGY_REQUESTS)}.filter(n, n in {_ANNOTATIONS}).size() <= 1)",
        f"variables.templates.all(t, {_ANNOTATIONS}[?{literal(UNCONSTRAINED)}].orValue('true') in {literal(BOOLEANS)})",
    ),
    "tolerates-cordoned-node": (
        f"object.kind == 'DaemonSet' || {_ONCE} || "
        f"variables.templates.exists(t, t.?spec.?containers.orValue([]).exists(c, {_BENCHMARK})) || "
        f"variables.templates.all(t, !t.?spec.?containers.orValue([]).exists(c, {_ASKS}) || "
        f"t.?spec.?tolerations.orValue([]).all(o, {_TOLERATED}))",
    ),
}
KINDS = WITH_PODS
VARIABLES = TEMPLATES
