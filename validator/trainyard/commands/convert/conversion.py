"""The conversion of a run into values."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, NamedTuple

from trainyard.commands.convert import hosts, mpi, pods, policy, program, variables, volumes
from trainyard.commands.convert.draft import Draft
from trainyard.commands.convert.errors import ConvertError
from trainyard.commands.convert.roles import Part, differences, parts
from trainyard.commands.convert.tables import API_GROUPS, V2
from trainyard.document.document import Document
from trainyard.document.lookup import mapping
from trainyard.document.source import Source
from trainyard.facts.jobs.kubeflow import MAIN_CONTAINERS
from trainyard.facts.jobs.training_runtimes import shipped_policy
from trainyard.loaders.training_job.values import documents_from_values, refusals
from trainyard.model.run import Run

# Fields of a job that the chart has no value for.
_DROPPED = {
    "TFJob": ("enableDynamicWorker", "successPolicy"),
}
# The largest PyTorchJob that has a Master in the chart's layout `auto`.
_MOST_WITH_MASTER = 100
_SERVERS = {"TFJob": ("PS", "tensorflow"), "PaddleJob": ("Master", "paddle")}


class Converted(NamedTuple):
    """Values of a run, comments by their paths, and notes: what is changed and what is lost.

    `refusal` is the message with which the chart refuses the values; empty if it accepts them.
    """

    run: Run
    values: dict[str, Any]
    comments: dict[str, list[str]]
    changes: tuple[str, ...]
    lost: tuple[str, ...]
    refusal: str = ""


def is_convertible(run: Run) -> bool:
    """True for the kinds of jobs that the chart can start."""
    return run.api_version.startswith(API_GROUPS.get(run.kind, "-"))


def convert(run: Run, to: str = "") -> Converted:
    """Returns the values of a run, for another kind if `to` names one. Raises `ConvertError`."""
    kind = to or ("TrainJob" if run.kind in V2 else run.kind)
    if kind != run.kind and run.kind not in (*V2, "PyTorchJob"):
        raise ConvertError(f"{run.kind} {run.name}: the chart has no values for a {kind} of this framework")
    found = _converted(run, kind, exact=False)
    if found.refusal:
        # Another form of the program may be accepted.
        other = _converted(run, kind, exact=True)
        found = found if other.refusal else other
    if found.refusal:
        found = found._replace(lost=(*found.lost, f"the chart refuses these values: {found.refusal}"))
    return found


def _converted(run: Run, kind: str, *, exact: bool) -> Converted:
    _refuse_other_frameworks(run)
    known = parts(run)
    node = _node(run, known)
    if not release_name(run):
        raise ConvertError(f"the {run.kind} has no name, which the release would have")
    if node is None:
        raise ConvertError(f"{run.kind} {run.name}: it has no pods that train")
    draft = Draft(kind, MAIN_CONTAINERS[kind])
    draft.put("kind", kind)
    if run.elastic is not None and kind != "PyTorchJob":
        draft.lost.append(f"elasticPolicy: a {kind} of the chart has a fixed number of pods")
        run = run._replace(spec={key: value for key, value in run.spec.items() if key != "elasticPolicy"})
    if run.name != release_name(run):
        draft.changes.append(f"the release is called {release_name(run)}, or any other name: {run.name} was completed")
    _put_size(draft, run, known, node)
    policy.put_elastic(draft, run)
    draft.changes += hosts.renamed(run, node, kind)
    if run.kind == "MPIJob":
        launcher = next((part for part in known if part.name == "Launcher"), node)
        mpi.put_mpi(draft, run, launcher, node)
    else:
        program.put_program(draft, run, node, exact=exact)
    variables.put_variables(draft, node, run.kind, elastic=run.elastic is not None, processes=run.processes)
    names = volumes.put_volumes(draft, node)
    pods.put_pod(draft, node, names)
    pods.put_claims(draft, node)
    pods.put_resources(draft, "resources", mapping(node.container, "resources"))
    policy.put_policy(draft, run, known, node)
    _note_absent(draft, run)
    if hosts.names_pods(draft.finished(), run.name):
        draft.put("fullnameOverride", run.name, "The job names its pods")
    values = draft.finished()
    lost = tuple(dict.fromkeys(draft.lost))
    refused = refusal(rendered(run, values))
    return Converted(run, values, draft.comments, tuple(dict.fromkeys(draft.changes)), lost, refused)


def _refuse_other_frameworks(run: Run) -> None:
    """Raises `ConvertError` for a TrainJob whose runtime starts anything but PyTorch."""
    if run.kind != "TrainJob":
        return
    own = mapping(run.runtime or shipped_policy(run.spec) or {}, "mlPolicy")
    others = [name for name in own if name not in ("numNodes", "torch")]
    if others:
        reason = f"its runtime is for {others[0]}, and the chart's TrainJob starts PyTorch"
        advice = "; write values of kind MPIJob" if others[0] == "mpi" else ""
        raise ConvertError(f"TrainJob {run.name}: {reason}{advice}")


def release_name(run: Run) -> str:
    """Returns the name of the release: that of the job, or what `generateName` begins with."""
    return run.name.rstrip("-")


def _node(run: Run, known: list[Part]) -> Part | None:
    """Returns the role whose pods stand for the nodes of the run: the Workers, if there are any."""
    names = ("Worker", "Master", "Chief") if run.kind not in V2 else ("node",)
    for name in names:
        for part in known:
            if part.name == name and part.replicas != 0:
                return part
    return next((part for part in reversed(known) if part.trains), None)


def _put_size(draft: Draft, run: Run, known: list[Part], node: Part) -> None:
    """Writes the number of nodes and the layout, and notes what sets other roles apart from the nodes."""
    servers, section = _SERVERS.get(run.kind, ("", ""))
    nodes = 0
    for part in known:
        if part.name in ("Launcher", "Evaluator", servers) and not (part.name == "Launcher" and part.trains):
            _put_server(draft, part, section, servers)
        elif run.kind in V2 and part is not node:
            draft.lost.append(f"the pods of {part.name}: the chart's TrainJob has one group of pods, {node.name}")
            continue
        else:
            nodes += part.replicas or 0
        if part is not node and run.kind != "MPIJob":
            _note_apart(draft, part, node, servers)
    draft.put("nodes", nodes)
    firsts = [part for part in known if part.name in ("Master", "Chief") and part.name != servers and part.replicas]
    if draft.kind not in ("PyTorchJob", "TFJob", "XGBoostJob"):
        return
    if firsts and run.elastic is None:
        if draft.kind == "PyTorchJob" and nodes > _MOST_WITH_MASTER:
            draft.put("layout", "master-worker")
        return
    if run.elastic is None:
        draft.put("layout", "worker-only")
    if run.kind == "TFJob":
        draft.changes.append("the run succeeds when all Workers have, and not when the first one has")


def _put_server(draft: Draft, part: Part, section: str, servers: str) -> None:
    if part.name == servers:
        draft.put(f"{section}.parameterServers.count", part.replicas)
        resources = deepcopy(mapping(part.container, "resources"))
        if not mapping(resources, "limits"):
            resources["limits"] = mapping(resources, "requests")
            draft.changes.append(f"{part.name}: its requests are its limits too, or it would have those of the nodes")
        pods.put_resources(draft, f"{section}.parameterServers.resources", resources)
    elif part.name == "Evaluator":
        draft.put("tensorflow.evaluator", True)


def _note_apart(draft: Draft, part: Part, node: Part, servers: str) -> None:
    for path in differences(part.template, node.template):
        at = path.replace("spec.", "", 1)
        if not (part.name == servers and ".resources" in at):
            draft.lost.append(f"{part.name}: {at} differs from {node.name}; the chart gives all pods one template")


def _note_absent(draft: Draft, run: Run) -> None:
    if run.kind == "TrainJob" and run.runtime is None:
        name = mapping(run.spec, "runtimeRef").get("name")
        draft.lost.append(f"the runtime {name} is not among the files: its pods, volumes and policies are not known")
    if run.kind == "TrainJob" and run.spec.get("initializer"):
        draft.lost.append("initializer: fetch the data with the value dataset, or with initContainers")
    for field in _DROPPED.get(run.kind, ()):
        if run.spec.get(field):
            draft.lost.append(f"{field}: the chart has no value for it")


def refusal(documents: list[Document]) -> str:
    """Returns the message with which the chart refuses the values of a release; empty if it accepts them."""
    return next((said for _, said in refusals(documents)), "")


def rendered(run: Run, values: dict[str, Any]) -> list[Document]:
    """Returns the values and the objects of a release with the run's name."""
    document = Document(Source("run.yaml", ""), 0, values, ())
    return documents_from_values([document], release_name(run), run.namespace or "default", seeks_inert=False)
