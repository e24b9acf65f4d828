"""The values of a new run, from the answers to a few questions."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

from trainyard.commands.convert.conversion import refusal
from trainyard.commands.convert.errors import ConvertError
from trainyard.commands.convert.pods import image_values
from trainyard.commands.convert.writing import comment_lines, fields
from trainyard.document.document import Document
from trainyard.document.lookup import mapping, text
from trainyard.document.source import Source
from trainyard.facts.programs.launchers import MPI_LAUNCHERS
from trainyard.loaders.training_job.values import documents_from_values
from trainyard.model.site import Site

GPU = "nvidia.com/gpu"
# Of each GPU of a pod: an eighth of what common nodes with eight GPUs have, with room for the system.
_CPUS, _GIBIBYTES, _SHARED_GIBIBYTES = 8, 64, 8
# Kinds whose operator counts a pod as one process.
_ONE_PROCESS = ("TFJob", "JAXJob", "XGBoostJob")
_PYTHONS = ("python", "python3")
# Those that the chart starts.
_LAUNCHERS = ("torchrun", *MPI_LAUNCHERS, "accelerate", "deepspeed")


class Answers(NamedTuple):
    """The needs of a run. `claim` is empty for a new one, and `gpus` counts those of a pod."""

    kind: str
    image: str
    program: str
    nodes: int
    gpus: int
    claim: str


def defaults(site: Site | None) -> Answers:
    """Returns the answers that a site gives; the image and the program are empty if nobody has named them."""
    values = site.run_values.tree if site is not None else {}
    image = mapping(values, "image")
    digest = text(image, "digest")
    reference = (
        f"{text(image, 'repository')}@{digest}" if digest else f"{text(image, 'repository')}:{text(image, 'tag')}"
    )
    is_v2 = site is not None and mapping(site.document.tree, "trainer").get("enabled") is True
    gpus = mapping(values, "resources", "limits").get(GPU)
    nodes = values.get("nodes")
    return Answers(
        kind=text(values, "kind") or ("TrainJob" if is_v2 else "PyTorchJob"),
        image=reference if text(image, "repository") else "",
        program="",
        nodes=nodes if isinstance(nodes, int) else 2,
        gpus=gpus if isinstance(gpus, int) else 8,
        claim=text(mapping(values, "checkpoints"), "existingClaim"),
    )


def text_of(answers: Answers, site: Site | None) -> str:
    """Returns a file of values with comments. Raises `ConvertError` if the chart refuses them."""
    known = defaults(site)
    comments: dict[str, list[str]] = {}
    values: dict[str, Any] = {}
    if answers.kind != (known.kind if site is not None and "kind" in site.run_values.tree else "PyTorchJob"):
        values["kind"] = answers.kind
    if answers.image != known.image:
        values["image"] = image_values(answers.image)
        comments["image"] = ["The image holds the program and its packages"]
    values["nodes"] = answers.nodes
    comments["nodes"] = ["Number of pods"]
    values["train"] = program(answers.program)
    comments["train"] = ["The program of each process; it gets the words of args as written"]
    _put_resources(values, comments, answers, site)
    values["checkpoints"] = {"existingClaim": answers.claim} if answers.claim else {"mountPath": "/checkpoints"}
    new = "" if answers.claim else "The chart creates a claim, of storageClassName if that is set. "
    comments["checkpoints"] = [f"{new}The claim keeps the files in /checkpoints"]
    _require_accepted(values, site)
    head = ["A run: values of charts/training-job", "Its README lists all other values and their defaults"]
    if answers.image == known.image and known.image:
        head.append(f"The image is that of the site, {known.image}")
    lines = [line for note in head for line in comment_lines(f"{note}.")]
    return "\n".join([*lines, *fields(values, comments)]) + "\n"


def program(text: str) -> dict[str, Any]:
    """Returns the value `train` of a command line without its launcher.

    Raises:
        ConvertError: The line names no program, or one that the chart starts itself.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ConvertError(f"--program: {str(error).lower()}; quote it as in a shell") from None
    if words[:1] and words[0].rsplit("/", 1)[-1] in _LAUNCHERS:
        raise ConvertError(
            f"--program: the chart starts {words[0]} itself; name the program behind it, as /app/train.py"
        )
    if words[:1] and words[0].rsplit("/", 1)[-1] in _PYTHONS:
        words = words[1:]
    if words[:1] == ["-m"]:
        found: dict[str, Any] = {"module": words[1]} if words[1:] else {}
        words = words[2:]
    else:
        found = {"script": words[0]} if words else {}
        words = words[1:]
    if not found:
        raise ConvertError("--program: it names no program; write a file of the image, as /app/train.py, or -m MODULE")
    return {**found, "args": words} if words else found


def _put_resources(values: dict[str, Any], comments: dict[str, list[str]], answers: Answers, site: Site | None) -> None:
    given = mapping(site.run_values.tree, "resources", "limits") if site is not None else {}
    gpus = answers.gpus
    limits: dict[str, Any] = {"cpu": _CPUS * max(gpus, 1), "memory": f"{_GIBIBYTES * max(gpus, 1)}Gi"}
    limits = {name: value for name, value in limits.items() if name not in given}
    if gpus and gpus != given.get(GPU):
        limits[GPU] = gpus
    if limits:
        values["resources"] = {"limits": limits}
        usual = "one process for each GPU" if gpus and answers.kind not in _ONE_PROCESS else "one process"
        comments["resources"] = [f"Limits of each pod, which has {usual}. Adapt them to your nodes"]
    if gpus:
        values["sharedMemory"] = {"size": f"{_SHARED_GIBIBYTES * gpus}Gi"}
        comments["sharedMemory"] = ["Memory at /dev/shm for data loaders and NCCL. It counts as memory of the pod"]


def _require_accepted(values: Mapping[str, Any], site: Site | None) -> None:
    document = Document(Source("run.yaml", ""), 0, dict(values), ())
    below = site.run_values if site is not None else None
    said = refusal(documents_from_values([document], below=below, seeks_inert=False))
    if said:
        raise ConvertError(f"the chart refuses these values: {said}")
