"""Configurations with the arguments of Lightning's Trainer, as LightningCLI and Hydra read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.document.reading import embedded_mapping
from trainyard.facts.programs.lightning import ARGUMENTS
from trainyard.model.run import Project, Resource

_SIGN = "trainer:"
# That many arguments tell Lightning's Trainer from those of other libraries.
_ENOUGH = 3


class LightningConfig(NamedTuple):
    """The section `trainer` at its place; `holder` is the ConfigMap, None for a file of its own."""

    trainer: dict[str, Any]
    at: Place
    holder: Resource | None


def lightning_configs(project: Project) -> Iterator[LightningConfig]:
    """Yields the configurations of ConfigMaps and of files."""
    for document in project.documents:
        if isinstance(document.tree, dict) and "apiVersion" not in document.tree:
            yield from _of(document.tree, Place(document), None)
    for resource in project.of_kind("ConfigMap"):
        for key, raw in mapping(resource.tree, "data").items():
            if isinstance(raw, str) and _SIGN in raw:
                inner = embedded_mapping(resource.at.child("data", key), raw)
                if inner is not None:
                    yield from _of(inner.tree, Place(inner), resource)


def _of(tree: dict[str, Any], at: Place, holder: Resource | None) -> Iterator[LightningConfig]:
    trainer = mapping(tree, "trainer")
    # `gpus` took the place of `accelerator` in Lightning 1.
    if {"accelerator", "gpus"} & trainer.keys() and len(ARGUMENTS & trainer.keys()) >= _ENOUGH:
        yield LightningConfig(trainer, at.child("trainer"), holder)
