"""Configuration files of Hugging Face Accelerate, and the runs that use them.

Source: huggingface/accelerate 1.15.0 src/accelerate/commands/config/config_args.py (ClusterConfig), commands/launch.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from trainyard.analysis.launchers.accelerate import accelerate_scripts
from trainyard.document.document import Place
from trainyard.document.lookup import decimal, integer, mapping
from trainyard.document.reading import embedded_mapping
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Command, Project, Run

# Of more files with one name it is not clear which one a command means, and comparing all would take quadratic time.
_MOST = 16
SIGNS = ("compute_environment", "distributed_type")


class AccelerateConfig(NamedTuple):
    """A configuration as written; `name` is its file without folders."""

    tree: dict[str, Any]
    name: str
    at: Place


def accelerate_configs(project: Project) -> tuple[AccelerateConfig, ...]:
    """Returns every configuration, from ConfigMaps and from files of their own."""
    return _configs.of(project)


def _find(project: Project) -> Iterator[AccelerateConfig]:
    for document in project.documents:
        if isinstance(document.tree, dict) and all(sign in document.tree for sign in SIGNS):
            yield AccelerateConfig(document.tree, document.source.name.rsplit("/", 1)[-1], Place(document))
    for resource in project.of_kind("ConfigMap"):
        for key, raw in mapping(resource.tree, "data").items():
            if isinstance(raw, str) and all(sign in raw for sign in SIGNS):
                inner = embedded_mapping(resource.at.child("data", key), raw)
                if inner is not None:
                    yield AccelerateConfig(inner.tree, key, Place(inner))


def launches(config: AccelerateConfig, project: Project) -> Iterator[tuple[Run, Command]]:
    """Yields the starts of accelerate with this file."""
    for run, launch, _ in scripts(config, project):
        yield run, launch


def scripts(config: AccelerateConfig, project: Project) -> Iterator[tuple[Run, Command, Command]]:
    """Yields the starts of accelerate with this file, each with the script and its arguments."""
    if _shared.of(project)[config.name] <= _MOST:
        yield from _starts.of(project).get(config.name, ())


def config_of(launch: Command, project: Project) -> AccelerateConfig | None:
    """Returns the configuration that a start names, if one file alone has this name."""
    written = launch.option("--config-file")
    found = _by_name.of(project).get(written.rsplit("/", 1)[-1], ()) if written is not None else ()
    return found[0] if len(found) == 1 else None


def count_of(launch: Command, key: str, config: AccelerateConfig | None) -> int | None:
    """Returns a number of a start: its option, or the key of its configuration; None if unknown."""
    given = launch.option(f"--{key.replace('_', '-')}")
    if given is not None:
        return decimal(given)
    return integer(config.tree, key) if config is not None else None


def _by_file(project: Project) -> dict[str, list[tuple[Run, Command, Command]]]:
    """Returns the starts of accelerate, each with its script, by the name of the configuration."""
    starts: dict[str, list[tuple[Run, Command, Command]]] = {}
    for run in project.runs:
        for role in run.training_roles:
            for launch, script in accelerate_scripts(role.container) if role.container is not None else ():
                written = launch.option("--config-file")
                if written is not None:
                    starts.setdefault(written.rsplit("/", 1)[-1], []).append((run, launch, script))
    return starts


def _named(project: Project) -> dict[str, list[AccelerateConfig]]:
    found: dict[str, list[AccelerateConfig]] = {}
    for config in accelerate_configs(project):
        found.setdefault(config.name, []).append(config)
    return found


# Several rules ask, and one of them for each role.
_configs: LastIndex[Project, tuple[AccelerateConfig, ...]] = LastIndex(lambda project: tuple(_find(project)))
_starts = LastIndex(_by_file)
_by_name: LastIndex[Project, dict[str, list[AccelerateConfig]]] = LastIndex(_named)
_shared: LastIndex[Project, Counter[str]] = LastIndex(
    lambda project: Counter(config.name for config in _configs.of(project))
)
