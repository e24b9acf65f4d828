"""No release of verl has a key of this name at this place, so Hydra refuses the override and the run ends at once.

An override names the whole path of a key: `trainer.total_epochs=15`, and not `total_epochs=15`. Hydra takes a new key
with `+` alone: "Could not override ... Key is not in struct".

The rule looks at keys without a section whose name a section has, and at names in `trainer`, `data` and `algorithm`
that are close to a known one. It leaves out other files of configuration (`--config-name`), because forks of verl add
keys.

Write the path that the message names.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.framework_settings import framework_settings
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.programs.refused_settings import VERL
from trainyard.facts.programs.verl_keys import SECTIONS, TOP
from trainyard.model.run import Project


@rule(
    code="TD094",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "facts/programs/verl_keys.py: the releases of verl",
        "hydra 1.3 hydra/_internal/config_loader_impl.py: Could not override, To append to your config use +",
        "github.com/SwanHubX/SwanLab-Docs pull 170",
    ),
    needs=("verl.trainer", "verl/trainer"),
)
def verl_key_unknown(project: Project) -> Iterator[Problem]:
    """Report overrides of keys that stand elsewhere, or are misspelt."""
    for settings in framework_settings(project):
        if settings.program is not VERL:
            continue
        for name, (_, at) in settings.told.items():
            wanted = "" if name.startswith("+") or f"+{name}" in settings.told else _wanted(name)
            if wanted:
                yield Problem(at, f"verl has no key `{name}`: Hydra refuses it", f"write `{wanted}`")


def _wanted(name: str) -> str:
    """Returns the path of the key that is meant; empty if the key is right or unknown."""
    section, dot, rest = name.partition(".")
    if not dot:
        homes = [one for one, keys in SECTIONS.items() if name in keys]
        return f"{homes[0]}.{name}" if len(homes) == 1 and name not in TOP else ""
    keys = SECTIONS.get(section, frozenset())
    if "." in rest or rest in keys or not keys:
        return ""
    near = closest_match(rest, sorted(keys), 0.88)
    return f"{section}.{near}" if near is not None else ""
