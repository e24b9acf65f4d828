"""The action for each node: a function of the nodes, the settings and the time alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from nodehealth import condition
from nodehealth.config import Controller, Pool
from nodehealth.control import outage
from nodehealth.control.node import Node, Record
from nodehealth.keys import IGNORED, REPAIRED

QUARANTINE, RELEASE, RESTORE, WAIT, HOLD = "quarantine", "release", "restore", "wait", "hold"
# Of nodes whose kubelet is silent: tell, hold back by the limit, take out of service; and the way back.
OF_OUTAGES = LOST, LIMITED, OUT, RETURN = "lost", "limited", "out", "return"
# Somebody else removes the marks of a quarantine. After so many in an hour the controller stops to restore them.
RESTORES = 3
RESTORE_WINDOW = timedelta(hours=1)


@dataclass(frozen=True)
class Action:
    """The action for a node, and its reason."""

    kind: str
    node: Node
    pool: str
    message: str


@dataclass
class Judgement:
    """A pool: its limit, its nodes by state, and what to do."""

    pool: str
    limit: int = 0
    states: dict[str, int] = field(default_factory=dict)
    actions: list[Action] = field(default_factory=list)
    # What an administrator must know of the pool as a whole.
    warnings: list[str] = field(default_factory=list)


def limit(pool: Pool, nodes: int) -> int:
    """Returns how many nodes of a pool may be in quarantine: its share, rounded down, and never the last node."""
    share = int(nodes * pool.max_percent / 100)
    return min(max(share, pool.at_least), max(nodes - 1, 0))


def members(pools: Sequence[Pool], nodes: Iterable[Node]) -> dict[str, list[Node]]:
    """Returns the nodes of each pool. A node belongs to the first pool whose labels it has."""
    found: dict[str, list[Node]] = {pool.name: [] for pool in pools}
    for node in nodes:
        for pool in pools:
            if all(node.labels.get(key) == value for key, value in pool.node_selector.items()):
                found[pool.name].append(node)
                break
        else:
            if node.record is not None or node.outage:
                found.setdefault("", []).append(node)
    return found


def judge(settings: Controller, nodes: Sequence[Node], moment: datetime) -> list[Judgement]:
    """Returns the judgement of each pool; the pool without a name has nodes in quarantine that left their pools."""
    pools = {pool.name: pool for pool in settings.pools}
    found = members(settings.pools, nodes)
    return [_judge(settings, pools.get(name, Pool(name, {}, 0, 0)), found[name], moment) for name in found]


def _judge(settings: Controller, pool: Pool, nodes: list[Node], moment: datetime) -> Judgement:
    judged = Judgement(pool.name, limit(pool, len(nodes)))
    judged.actions += _kept(settings, pool, nodes, moment)
    judged.actions += _back(settings, pool, nodes, moment)
    held = _taken(nodes, judged.actions)
    if pool.name:
        judged.actions += _lost(settings, judged, nodes, held, moment)
    taken = len(held)
    sick = [node for node in nodes if node.status == condition.UNHEALTHY and node.record is None and not node.ignored]
    # The first to fall ill is the first to go.
    for node in sorted(sick, key=lambda one: (one.since or moment, one.name)):
        if taken < judged.limit:
            taken += 1
            judged.actions.append(Action(QUARANTINE, node, pool.name, node.message))
        else:
            full = f"pool {pool.name} has {taken} of at most {judged.limit} nodes in quarantine or out of service"
            why = f"{full}: {node.name} stays in service though {node.message}"
            judged.actions.append(Action(WAIT, node, pool.name, why))
    if nodes and pool.name and judged.limit == 0:
        judged.warnings.append(_impossible(pool, len(nodes)))
    judged.states = _states(nodes, judged.actions)
    return judged


def _taken(nodes: Sequence[Node], actions: Sequence[Action]) -> set[str]:
    """Returns the names of the nodes that count for the limit: those in quarantine, and those out of service."""
    freed = {(action.kind, action.node.name) for action in actions}
    kept = {node.name for node in nodes if node.record is not None and (RELEASE, node.name) not in freed}
    return kept | {node.name for node in nodes if node.out_of_service and (RETURN, node.name) not in freed}


def _back(settings: Controller, pool: Pool, nodes: list[Node], moment: datetime) -> Iterator[Action]:
    """Yields the return of nodes that the controller has taken out of service."""
    for node in nodes:
        if node.outage and (why := outage.returned(settings, node, moment)):
            yield Action(RETURN, node, pool.name, why)


def _lost(
    settings: Controller, judged: Judgement, nodes: list[Node], taken: set[str], moment: datetime
) -> Iterator[Action]:
    """Yields what to do with nodes whose kubelet is silent, and adds those that go out of service to `taken`."""
    silent = [node for node in nodes if node.kubelet.silent]
    open_ = [node for node in silent if not (node.out_of_service or node.outage or node.ignored)]
    for node in sorted(open_, key=lambda one: (one.kubelet.since or moment, one.name)):
        proof = outage.proof(settings, node, moment)
        if not proof:
            if why := outage.doubt(settings, node, moment):
                yield Action(LOST, node, judged.pool, why)
        elif proof == outage.TIME and len(silent) > judged.limit:
            # Nodes that fall silent together have rather lost their network than their power.
            why = f"{len(silent)} nodes of pool {judged.pool} are silent, and its limit is {judged.limit}"
            yield Action(LIMITED, node, judged.pool, f"{why}: time alone does not prove that {node.name} is off")
        elif node.name not in taken and len(taken) >= judged.limit:
            full = (
                f"pool {judged.pool} has {len(taken)} of at most {judged.limit} nodes in quarantine or out of service"
            )
            why = f"{full}: the pods of {node.name} are not replaced though it is off"
            yield Action(LIMITED, node, judged.pool, why)
        else:
            taken.add(node.name)
            yield Action(OUT, node, judged.pool, outage.shown(settings, proof))


def _impossible(pool: Pool, nodes: int) -> str:
    if nodes == 1:
        what = f"pool {pool.name} has one node, which is never put into quarantine"
        return f"{what}: add nodes, or join it with another pool"
    needed = -(-100 // nodes)
    return (
        f"pool {pool.name} has {nodes} nodes: {pool.max_percent:g}% of them is less than one node, so none is ever put "
        f"into quarantine: write maxPercent: {needed}, or atLeast: 1"
    )


def _kept(settings: Controller, pool: Pool, nodes: list[Node], moment: datetime) -> Iterator[Action]:
    """Yields what to do with the nodes in quarantine."""
    for node in nodes:
        if node.record is None:
            continue
        if node.ignored:
            yield Action(RELEASE, node, pool.name, f"an administrator keeps the node in service ({IGNORED})")
        elif why := _held(settings, node, node.record, moment):
            yield Action(HOLD, node, pool.name, why)
            if not node.marked and not node.record.contested:
                yield Action(RESTORE, node, pool.name, "another program or person removed the label or the taint")
        else:
            yield Action(RELEASE, node, pool.name, f"healthy since {node.since}")


def _held(settings: Controller, node: Node, record: Record, moment: datetime) -> str:
    """Returns why a node stays in quarantine, or nothing."""
    if node.status != condition.HEALTHY:
        return node.message
    wait = timedelta(seconds=settings.healthy_seconds)
    if node.since is None or moment - node.since < wait:
        return f"healthy, but not yet for {settings.healthy_seconds:g} s"
    if node.repaired is not None and node.repaired > record.since:
        return ""
    recent = [one for one in node.history if moment - one < timedelta(seconds=settings.window_seconds)]
    if len(recent) >= settings.max_quarantines:
        hours = settings.window_seconds / 3600
        return (
            f"in quarantine {len(recent)} times in {hours:g} h: have the node repaired, then run kubectl annotate node "
            f"{node.name} --overwrite {REPAIRED}=$(date -u +%Y-%m-%dT%H:%M:%SZ)"
        )
    return ""


def restorable(record: Record, moment: datetime) -> bool:
    """Returns true if the marks may be restored once more."""
    return sum(moment - one < RESTORE_WINDOW for one in record.restored) < RESTORES


def _states(nodes: Sequence[Node], actions: Sequence[Action]) -> dict[str, int]:
    counts = dict.fromkeys(("healthy", "unhealthy", "unknown", "quarantined", "waiting", "lost", "off"), 0)
    moved = {action.node.name: action.kind for action in actions if action.kind in (QUARANTINE, RELEASE)}
    names = {condition.HEALTHY: "healthy", condition.UNHEALTHY: "unhealthy"}
    for node in nodes:
        counts[names.get(node.status, "unknown")] += 1
        counts["quarantined"] += moved.get(node.name) != RELEASE and (node.record is not None or node.name in moved)
    counts["waiting"] = sum(action.kind == WAIT for action in actions)
    left = {(action.kind, action.node.name) for action in actions}
    off = [(node.out_of_service and (RETURN, node.name) not in left) or (OUT, node.name) in left for node in nodes]
    counts["off"] = sum(off)
    counts["lost"] = sum(node.kubelet.silent and not out for node, out in zip(nodes, off, strict=True))
    return counts
