"""Volcano's scheduler does not read a key beside the name of a plugin: it is misspelt, or an argument of the plugin.

The entry of a plugin has a fixed list of keys, most of which begin with `enable`. Its own parameters stand under
`arguments`. The scheduler leaves out other keys without a word, so the plugin works with its default.

The rule reads ConfigMaps with a key such as `volcano-scheduler.conf`.

Write the key under `arguments`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.document.reading import embedded
from trainyard.document.source import BrokenText
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.programs.volcano_scheduler import PLUGIN_KEYS
from trainyard.model.run import Resource


@rule(
    code="QU023",
    severity="warning",
    confidence="high",
    since="0.5.0",
    sources=(
        "volcano-sh/volcano master pkg/scheduler/conf/scheduler_conf.go: PluginOption",
        "github.com/volcano-sh/volcano pull 5110",
    ),
    needs=("volcano-scheduler",),
)
def volcano_plugin_key_unread(resource: Resource) -> Iterator[Problem]:
    """Report keys that the scheduler leaves out."""
    if resource.kind != "ConfigMap":
        return
    for key, raw in mapping(resource.tree, "data").items():
        if str(key).startswith("volcano-scheduler") and isinstance(raw, str) and "plugins:" in raw and "{{" not in raw:
            inner = embedded(resource.at.child("data", key), raw)
            if not isinstance(inner, BrokenText):
                yield from _of_tiers(inner.tree, Place(inner))


def _of_tiers(tree: Any, at: Place) -> Iterator[Problem]:
    for number, tier in enumerate(items(tree, "tiers")):
        for index, plugin in enumerate(items(tier, "plugins")):
            for key in mapping(plugin):
                if key not in PLUGIN_KEYS:
                    near = closest_match(str(key), sorted(PLUGIN_KEYS), 0.85)
                    yield Problem(
                        at.child("tiers", number, "plugins", index, key).key(),
                        f"Volcano's scheduler does not read `{key}` beside the name of plugin {text(plugin, 'name')}",
                        f"did you mean `{near}`?" if near is not None else "write it under `arguments` of the plugin",
                    )
