"""From texts to findings: read files, load the model, run the rules, and remove suppressed findings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from trainyard.document import fast_yaml, reading
from trainyard.document.document import Document, TextDocument
from trainyard.document.placeholders import ENCRYPTED, is_encrypted, is_format_string, is_ytt
from trainyard.document.source import SCRIPTS, Source
from trainyard.document.text import Text
from trainyard.engine.finding import Finding
from trainyard.engine.subjects import Reading
from trainyard.linting import notes, suppression
from trainyard.linting.beside import find_script
from trainyard.linting.report import Report
from trainyard.loaders import charts
from trainyard.loaders.manifests import manifest
from trainyard.loaders.schemas.partial import is_broken_on_purpose, is_compared, is_recorded

if TYPE_CHECKING:
    from trainyard.document.files import File
    from trainyard.engine.engine import Engine
    from trainyard.linting.suppression import Allowance
    from trainyard.loaders.helm.release import ChartRelease
    from trainyard.model.run import Project
    from trainyard.model.site import Site

COMPARED = "not checked: a test compares its objects with others, and nothing creates them"

FORMATTED = "not checked: a program replaces the words in braces, and only then it is an object"

YTT = "not checked: ytt makes the objects of this file; lint the output of `ytt`"

SOPS = "not checked: sops has encrypted its objects; lint the output of `sops decrypt`"

BROKEN = "not checked: the name of its folder says that it is broken; name the file to check it"

RECORDED = "not checked: JSON below `fixtures` or `testdata` may be a recorded answer; name the file to check it"


def read_file(file: File) -> Reading:
    """Returns the documents of a file."""
    documents: list[Document] = []
    broken = [file.fault] if file.fault is not None else []
    if file.fault is None:
        documents, broken = reading.read(file.source)
    return Reading(file.source, tuple(documents), tuple(broken), Text(file.source), file.folder)


def released(release: ChartRelease, readings: Sequence[Reading], site: Site | None = None) -> list[Reading]:
    """Returns the readings of values files, with the objects that a chart renders unless one of the files is broken."""
    if any(reading.broken for reading in readings):
        return list(readings)
    files = [reading.documents[0] if reading.documents else Document(reading.source, 0, {}, ()) for reading in readings]
    made = charts.documents_for_chart(release, files, values_below(site))
    own = [document for document in made if charts.holds_values(document)]
    others = tuple(document for document in made if document not in own)
    result = [reading._replace(documents=(document,)) for reading, document in zip(readings, own, strict=True)]
    return [*result[:-1], result[-1]._replace(documents=(*result[-1].documents, *others))]


def read_input(file: File) -> Reading:
    """Returns the documents of a file that may be of any kind. One that is not ours to judge gets a note, no fault."""
    if file.source.name.endswith(SCRIPTS) and file.fault is None:
        document = TextDocument(file.source)
        return Reading(file.source, (document,), (), Text(file.source), file.folder)
    if file.folder is not None and is_compared(file.source.name, file.folder):
        return Reading(file.source, (), (), Text(file.source), file.folder, note=COMPARED)
    if file.folder is not None and is_broken_on_purpose(file.source.name, file.folder):
        return Reading(file.source, (), (), Text(file.source), file.folder, note=BROKEN)
    if file.folder is not None and is_recorded(file.source.name):
        return Reading(file.source, (), (), Text(file.source), file.folder, note=RECORDED)
    if file.fault is None and is_format_string(file.source.text):
        return Reading(file.source, (), (), Text(file.source), file.folder, note=FORMATTED)
    if file.fault is None and is_ytt(file.source.text):
        return Reading(file.source, (), (), Text(file.source), file.folder, note=YTT)
    documents = fast_yaml.read_plain(file.source) if file.fault is None else None
    if documents is not None:
        return _opened(Reading(file.source, tuple(documents), (), Text(file.source), file.folder))
    found = read_file(file)
    if not found.broken:
        return _opened(found)
    from trainyard.linting import foreign

    reason = foreign.reason(found)
    return found if reason is None else found._replace(documents=(), broken=(), note=reason)


def _opened(found: Reading) -> Reading:
    """Returns a reading without the objects that are encrypted."""
    if ENCRYPTED not in found.source.text:
        return found
    kept = tuple(document for document in found.documents if not is_encrypted(document.tree))
    return found if len(kept) == len(found.documents) else found._replace(documents=kept, note=SOPS)


def lint(
    readings: Iterable[Reading],
    engine: Engine,
    allowances: Iterable[Allowance] = (),
    releases: Sequence[Sequence[Document]] = (),
) -> Report:
    """Lints everything together: a document may explain, or contradict, one of another file.

    Each of the `releases` of charts is a cluster of its own: two scenarios of a chart have the same names.
    """
    known = tuple(readings)
    scripts = {reading.source.name: one for reading in known for one in reading.documents if type(one) is TextDocument}
    named = (document for reading in known for document in reading.documents if type(document) is not TextDocument)
    project = manifest.load_project(charts.expand(named, values_below(engine.site)), find_script)
    known = _marked(known, project)
    projects = (project, *(manifest.load_project(release)._replace(around=project) for release in releases))
    findings = _distinct(finding for one in projects for finding in engine.judge(one))
    alone = None
    if scripts:
        from trainyard.linting import loose_scripts

        started = {os.path.normpath(document.source.name) for document in project.documents}
        others = [one for name, one in scripts.items() if os.path.normpath(name) not in started]
        alone = loose_scripts.project_of([one for one in others if loose_scripts.is_about_training(one)])
        linted = started.union(os.path.normpath(one.source.name) for one in alone.documents)
        known = loose_scripts.marked(known, linted)
        projects = (*projects, alone)
        findings += loose_scripts.judge(alone, engine)
    findings = _with_batch_scripts(findings, project, engine)
    findings += engine.examine((*known, *_empty_folders(known)), project)
    entries = suppression.collect(known, projects, allowances, engine.rules, engine.checks)
    kept, allowed, entries = suppression.sift(findings, entries)
    if entries:
        kept += engine.examine(entries, project)
    if engine.site is not None:
        kept = [_without_edits(finding, engine.site) for finding in kept]
    kept.sort(key=lambda finding: finding.order)
    names = tuple(reading.source.name for reading in known)
    idle = notes.unchecked(known, project)
    said = (*notes.of_files(known, kept, idle), *notes.of_projects(projects), *suppression.cut(entries))
    if alone is not None:
        said += tuple(loose_scripts.notes(known, alone))
    return Report(tuple(kept), tuple(allowed), names, project, notes=said, unchecked=len(idle))


def _with_batch_scripts(findings: list[Finding], project: Project, engine: Engine) -> list[Finding]:
    """Returns the findings with those in batch scripts of Slurm that ConfigMaps hold."""
    if not any("#SBATCH" in source.text for source in project.sources):
        return findings
    from trainyard.linting import loose_scripts

    batches = loose_scripts.project_of((), loose_scripts.batch_scripts(project))
    return _distinct((*findings, *loose_scripts.judge(batches, engine)))


def _distinct(findings: Iterable[Finding]) -> list[Finding]:
    """Returns the findings without those that several releases of a chart have at the same place."""
    return list({(finding.order, finding.message): finding for finding in findings}.values())


def values_below(site: Site | None) -> Document | None:
    """Returns the values that a site adds below every release's own."""
    return site.run_values if site is not None else None


def _without_edits(finding: Finding, site: Site) -> Finding:
    """Returns the finding, without its fix if that would change the site: its owner decides about it."""
    of_site = any(edit.at.document.source is site.document.source for edit in finding.edits)
    return finding._replace(edits=()) if of_site else finding


def _marked(readings: tuple[Reading, ...], project: Project) -> tuple[Reading, ...]:
    """Returns the readings; `linted` is set if something was found that rules check."""
    linted = {id(resource.at.document.source) for resource in project.resources}
    linted |= {id(deepspeed.at.document.source) for deepspeed in project.deepspeeds}
    linted |= {
        id(document.source)
        for document in project.documents
        if charts.holds_values(document) or _is_configuration(document)
    }
    return tuple(
        reading if reading.linted or id(reading.source) not in linted else reading._replace(linted=True)
        for reading in readings
    )


# The keys of a configuration of Accelerate, of arguments of Hugging Face's Trainer, and of files with the feature gates
# of a cluster for Talos and Kubespray.
_OF_CONFIGURATIONS = (
    ("distributed_type", "compute_environment"),
    ("per_device_train_batch_size",),
    ("machine", "cluster"),
    ("kube_feature_gates",),
)


def _is_configuration(document: Document) -> bool:
    """True for a configuration that rules read and that is no object."""
    tree = document.tree
    if not isinstance(tree, dict):
        return False
    if any(all(key in tree for key in keys) for keys in _OF_CONFIGURATIONS):
        return True
    if "kind" in tree:
        return False
    # Most files are objects.
    from trainyard.analysis.jobs.dstack import is_configuration
    from trainyard.loaders.schemas.task_files import is_task

    return is_configuration(tree) or is_task(tree)


def _empty_folders(readings: tuple[Reading, ...]) -> Iterator[Reading]:
    """Yields a placeholder for each folder in which there was nothing to lint."""
    full = {known.folder for known in readings if known.linted or known.broken or known.chart}
    for folder in dict.fromkeys(known.folder for known in readings):
        if folder is not None and folder not in full:
            source = Source(folder, "")
            yield Reading(source, (), (), Text(source))
