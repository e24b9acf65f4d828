"""Judges scripts and files of variables that no manifest starts: those of a folder, and those that the user names.

Without a pod, most is unknown: GPUs, volumes, and the number of nodes but for Slurm. So only rules that read nothing
but the text apply: the grammar of the shell, the options and values of launchers, and the values of variables.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set

from trainyard.analysis.launchers.slurm import batches
from trainyard.document.document import Place, TextDocument
from trainyard.document.source import SLURM_CONF
from trainyard.engine.engine import Engine
from trainyard.engine.finding import Finding
from trainyard.engine.subjects import Reading
from trainyard.loaders.manifests.pods import conf_settings
from trainyard.loaders.manifests.shell import MAX_LENGTH, mpirun_settings, parse_script
from trainyard.model.run import Command, Container, Pod, Project, Role, Run, Script, Setting

# These read the text alone, or ask the pod for nothing that would make them speak.
RULES = frozenset((
    "NC001", "NC003", "NC005", "NC006", "NC007", "NC009", "NC010", "NC011", "NC012", "NC016", "NC017", "NC019", "NC021",
    "NC026", "NC027", "NC028", "NC038", "NC039", "NC044", "NC050", "RD011", "RY026", "RY044", "SC003", "SC007", "SC008",
    "SC015", "SC016", "SC018", "SC019", "SC020", "SC021", "SC022", "SC024", "SC031", "SC032", "SC036", "SC041", "SL001",
    "SL002", "SL003", "SL004", "SL005", "SL006", "SL007", "SL008", "SL009", "SL021", "SL022", "SL024", "SL025", "TD002",
    "TD003", "TD014", "TD015", "TD021", "TD024", "TD033", "TD034", "TD035", "TD039", "TD040", "TD041", "TD043", "TD046",
    "TD061", "TD071", "TD072", "TD079",
))  # fmt: skip
_LAUNCH = re.compile(
    r"\b(?:torchrun|torch\.distributed\.(?:run|launch)|deepspeed|accelerate[ \t]+launch|mpirun|mpiexec|horovodrun"
    r"|ray[ \t]+start)\b|\bNCCL_[A-Z]|^#SBATCH[ \t]|\bgithub(?:usercontent)?\.com/(?:ray-project/kuberay"
    r"|kubernetes-sigs/(?:kueue|jobset|lws)|kubeflow/(?:mpi-operator|training-operator|trainer))\b",
    re.MULTILINE,
)


def is_about_training(document: TextDocument) -> bool:
    """True if a file starts a launcher, sets a variable of NCCL, or installs a controller of training jobs.

    The configuration of Slurm is read beside batch scripts.
    """
    return document.source.name.endswith(SLURM_CONF) or _LAUNCH.search(document.source.text[:MAX_LENGTH]) is not None


def marked(readings: Iterable[Reading], linted: Set[str]) -> tuple[Reading, ...]:
    """Returns the readings; `linted` is set for scripts of these names."""
    return tuple(
        one._replace(linted=True) if _is_script(one) and os.path.normpath(one.source.name) in linted else one
        for one in readings
    )


def _is_script(reading: Reading) -> bool:
    return bool(reading.documents) and type(reading.documents[0]) is TextDocument


def notes(readings: Iterable[Reading], project: Project) -> Iterator[str]:
    """Yields the scripts that were judged without a pod: each that the user named, and their number for a folder."""
    sources = {id(source) for source in project.sources}
    counts: Counter[str] = Counter()
    for one in readings:
        if id(one.source) in sources and one.folder is None:
            yield f"{one.source.name}: only its text was checked, because no manifest here starts it"
        elif id(one.source) in sources:
            counts[str(one.folder)] += 1
    for folder, count in counts.items():
        what, them = ("one script", "it") if count == 1 else (f"{count} scripts", "them")
        yield f"{folder}: only the text of {what} was checked, because no manifest here starts {them}"


def project_of(documents: Sequence[TextDocument], scripts: Iterable[Script] = ()) -> Project:
    """Returns the scripts as a project without objects: each is the only container of a run of its own."""
    runs = tuple(_of_script(script) for script in scripts)
    known = tuple({id(run.at.document): run.at.document for run in runs}.values())
    started = (_run(one) for one in documents if not one.source.name.endswith(SLURM_CONF))
    return Project((*started, *runs), (), (), (), (*documents, *known), {})


def batch_scripts(project: Project) -> Iterator[Script]:
    """Yields the batch scripts of Slurm in ConfigMaps: sbatch starts them, and no pod."""
    for resource in project.resources:
        data = resource.tree.get("data") if resource.kind == "ConfigMap" else None
        for key, text in data.items() if isinstance(data, dict) else ():
            if isinstance(text, str) and text.startswith("#!") and "\n#SBATCH" in text and "{{" not in text[:80]:
                yield Script(text, resource.at.child("data", key), str(key))


def judge(project: Project, engine: Engine) -> list[Finding]:
    """Returns what the rules for scripts alone find."""
    return engine.with_rules(RULES).judge(project)


def _run(document: TextDocument) -> Run:
    name, at, content = document.source.name, Place(document), document.source.text
    if name.endswith((".conf", ".env")):
        container = _container((), (), tuple(conf_settings(content[:MAX_LENGTH], at)), at)
    else:
        return _of_script(Script(content, at, name))
    return _run_of(container, name)


def _of_script(script: Script) -> Run:
    commands, exported = parse_script(script.text, script.at)
    settings = (*exported, *(one for command in commands for one in mpirun_settings(command)))
    return _run_of(_container((script,), tuple(commands), settings, script.at), script.path)


def _run_of(container: Container, name: str) -> Run:
    at = container.at
    pod = Pod((container,), (), (), {}, {}, host_network=False, tree={}, at=at, template_at=at)
    # Slurm starts a batch script on several nodes.
    nodes = next((batch.nodes for batch in batches(container)), None)
    role = Role("", nodes, None, pod, 0, trains=nodes is not None, tree={}, at=at)
    return Run("", "", name, "", {}, {}, (role,), None, {}, None, at, is_job=False)


def _container(
    scripts: tuple[Script, ...], commands: tuple[Command, ...], settings: tuple[Setting, ...], at: Place
) -> Container:
    return Container("", None, (), (), settings, scripts, commands, {}, {}, 0, (), {}, at)
