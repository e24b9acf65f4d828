"""What NCCL_ALGO and NCCL_PROTO may say, and which algorithm serves which collective.

Source: NVIDIA/nccl v2.30.7-1 src/graph/tuning.cc (parseList since v2.24.3-1; ncclTopoTuneModel says which pairs of
collective and algorithm get a bandwidth) and src/init.cc (ncclFuncStr, ncclAlgoStr, ncclProtoStr).
"""

from __future__ import annotations

# The first release that refuses what it does not understand, and that knows lists for single functions.
STRICT = (2, 24)

_ALL_REDUCE = frozenset(("tree", "ring", "collnetdirect", "collnetchain", "nvls", "nvlstree"))
_GATHERING = frozenset(("ring", "collnetdirect", "nvls", "pat"))
ALGORITHMS_OF = {
    "Broadcast": frozenset(("ring",)),
    "Reduce": frozenset(("ring",)),
    "AllGather": _GATHERING,
    "ReduceScatter": _GATHERING,
    "AllReduce": _ALL_REDUCE,
}
ALGORITHMS = ("Ring", "Tree", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT")
PROTOCOLS = ("LL", "LL128", "Simple")
ELEMENTS = {"NCCL_ALGO": ALGORITHMS, "NCCL_PROTO": PROTOCOLS}


class Refused(Exception):  # noqa: N818
    """The value is none that NCCL accepts; `args[0]` says why."""


def selected(value: str, elements: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """For each collective the elements that stay enabled, in lower case."""
    known = frozenset(element.lower() for element in elements)
    result = dict.fromkeys(ALGORITHMS_OF, known)
    for index, entry in enumerate(part for part in value.split(";") if part):
        function, _, listed = entry.rpartition(":")
        if not function and (index or value.startswith(";")):
            raise Refused(f"`{entry}` names no function; only the first entry may leave it out")
        names = [name for name in ALGORITHMS_OF if not function or name.lower() == function.lower()]
        if not names:
            raise Refused(f"`{function}` is no function")
        chosen = _chosen(listed, known)
        result.update((name, known - chosen if listed.startswith("^") else chosen) for name in names)
    return result


def _chosen(listed: str, known: frozenset[str]) -> frozenset[str]:
    words = [word for word in listed.removeprefix("^").split(",") if word]
    for word in words:
        if word.lower() not in known:
            raise Refused(f"`{word}` is none of the names it knows" + (", for the blank in it" if " " in word else ""))
    return frozenset(word.lower() for word in words)
