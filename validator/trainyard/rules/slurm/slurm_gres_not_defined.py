"""A batch script asks for GPUs, and the configuration of Slurm has no generic resources, so sbatch refuses it.

`slurm.conf` names the kinds of generic resources in `GresTypes`, and those of each node in `Gres`. Without both of them
`--gres=gpu:8`, `--gpus` and `--gpus-per-node` end with "Invalid generic resource (gres) specification". A node has no
GPUs for Slurm only because its machine has some.

The rule reads a `slurm.conf` with nodes beside the script, in a folder or in ConfigMaps. It leaves out one that
includes other files.

Write `GresTypes=gpu`, and `Gres=gpu:8` for each node, with a `gres.conf`. Or ask for whole nodes by `--exclusive`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.launchers.slurm import MARK, Batch, batch_of, batches
from trainyard.document.document import Place, TextDocument
from trainyard.document.lookup import mapping
from trainyard.document.source import SLURM_CONF
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project, Script

_NODES = re.compile(r"(?im)^\s*nodename=(?!default\b)")
_GRES = re.compile(r"(?im)^\s*(?:grestypes=|include\s)|\sgres=")
_OPTIONS = ("--gres", "--gpus", "--gpus-per-node", "--gpus-per-task", "--gpus-per-socket")
_NONE = ("", "0", "none")


@rule(
    code="SL024",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "slurm.schedmd.com/slurm.conf.html: GresTypes, Gres",
        "slurm.schedmd.com/gres.html",
        "github.com/awslabs/awsome-distributed-ai issue 196",
    ),
    needs=(MARK,),
)
def slurm_gres_not_defined(project: Project) -> Iterator[Problem]:
    """Report directives for resources that no `slurm.conf` of the files has."""
    known = list(_configurations(project))
    if not known or any(_GRES.search(written) or not _NODES.search(written) for written, _ in known):
        return
    for batch in _batches(project):
        asked = next((one for one in batch.directives if one.name in _OPTIONS and one.value not in _NONE), None)
        if asked is not None:
            yield Problem(
                batch.script.at.below(asked.line),
                f"{asked.name} asks for a generic resource, and slurm.conf has none: sbatch refuses the script",
                "write `GresTypes=gpu`, and `Gres=gpu:<number>` for each node",
                related=((known[0][1], "the configuration of Slurm"),),
            )


def _configurations(project: Project) -> Iterator[tuple[str, Place]]:
    for resource in project.of_kind("ConfigMap"):
        for key, written in mapping(resource.tree, "data").items():
            if isinstance(written, str) and str(key).endswith(SLURM_CONF) and "{{" not in written:
                yield written, resource.at.child("data", key)
    for document in project.documents:
        if type(document) is TextDocument and document.source.name.endswith(SLURM_CONF):
            yield document.source.text, Place(document)


def _batches(project: Project) -> Iterator[Batch]:
    for run in project.runs:
        for container in run.containers:
            yield from batches(container)
    for resource in project.of_kind("ConfigMap"):
        for key, written in mapping(resource.tree, "data").items():
            if isinstance(written, str) and written.startswith("#!"):
                batch = batch_of(Script(written, resource.at.child("data", key), str(key)))
                if batch is not None:
                    yield batch
