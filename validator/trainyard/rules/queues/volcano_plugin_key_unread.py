"""Volcano's scheduler does not read a key beside the name of a plugin: it is misspelt, or an argument of the plugin.

The entry of a plugin has a fixed list of keys, most of which begin with `enable`. Its own parameters stand under
`arguments`. The scheduler leaves out other keys without a word, so the plugin works with its default.

The rule reads ConfigMaps with a key such as `volcano-scheduler.conf`.

Write the key under `arguments`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.scheduler_configurations import volcano_plugins
from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.programs.volcano_scheduler import PLUGIN_KEYS
from trainyard.model.run import Resource


@rule(
    code="QU023",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "volcano-sh/volcano master pkg/scheduler/conf/scheduler_conf.go: PluginOption",
        "github.com/volcano-sh/volcano pull 5110",
    ),
    needs=("volcano-scheduler",),
)
def volcano_plugin_key_unread(resource: Resource) -> Iterator[Problem]:
    """Report keys that the scheduler leaves out."""
    for plugin, at in volcano_plugins(resource):
        for key in plugin:
            if key not in PLUGIN_KEYS:
                near = closest_match(str(key), sorted(PLUGIN_KEYS), 0.85)
                yield Problem(
                    at.child(key).key(),
                    f"Volcano's scheduler does not read `{key}` beside the name of plugin {text(plugin, 'name')}",
                    f"did you mean `{near}`?" if near is not None else "write it under `arguments` of the plugin",
                )
