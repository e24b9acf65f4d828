"""No release of the framework has a key of this name, and a known one is close: it is ignored, or refused.

axolotl ignores keys that it does not know: with `gradient_accumlation_steps`, a run trains with another batch.
LLaMA-Factory reads its file with the parser of Hugging Face, so an unknown key ends the run: "Some keys are not used".
Hydra, which reads verl's overrides, takes a new key with `+` alone: "Could not override ... Key is not in struct". An
override names the whole path, `trainer.total_epochs=15` and not `total_epochs=15`.

The rule knows the keys of several releases, those of axolotl's plugins among them, and reports only names that are
close to a known one. In overrides of verl it looks at the sections `trainer`, `data` and `algorithm`, and at their keys
without a section, because forks of verl add keys. It leaves out other files of configuration (`--config-name`).

Write the name that the message gives.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from trainyard.analysis.pods.framework_settings import SIGNS, Settings, framework_settings
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.programs.framework_keys import AXOLOTL, LLAMA_FACTORY, TRAINER, VERL_SECTIONS, VERL_TOP
from trainyard.model.run import Project

_NEAR = 0.88
# A file of more keys is none that a person wrote, and each unknown one is compared with all.
_MOST = 400
# The keys of files, those that are known besides, and what happens to others.
_FILES = {
    "Axolotl": (AXOLOTL, frozenset[str](), "it ignores the value"),
    "LLaMA-Factory": (LLAMA_FACTORY, TRAINER, "LLaMA-Factory stops at start-up"),
}


@rule(
    code="TD094",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "facts/programs/framework_keys.py: the releases of each framework",
        "hydra 1.3 hydra/_internal/config_loader_impl.py: Could not override, To append to your config use +",
        "transformers 5.23.0 hf_argparser.py: Some keys are not used by the HfArgumentParser",
        "github.com/SwanHubX/SwanLab-Docs pull 170",
    ),
    needs=SIGNS,
)
def framework_key_unknown(project: Project) -> Iterator[Problem]:
    """Report keys that stand elsewhere, or are misspelt."""
    for settings in framework_settings(project):
        for name, (_, at) in itertools.islice(settings.told.items(), _MOST):
            wanted, effect = _wanted(settings, name)
            if wanted:
                yield Problem(at.key(), f"{settings.program.name} has no key `{name}`: {effect}", f"write `{wanted}`")


def _wanted(settings: Settings, name: str) -> tuple[str, str]:
    """Returns the key that is meant, empty if the key is right or unknown, and what happens to it."""
    if settings.program.name == "verl":
        is_added = name.startswith("+") or f"+{name}" in settings.told
        return "" if is_added else _of_verl(name), "Hydra refuses it"
    keys, besides, effect = _FILES.get(settings.program.name, (frozenset[str](), frozenset[str](), ""))
    if not keys or "." in name or name in keys or name in besides:
        return "", effect
    return closest_match(name, sorted(keys), _NEAR) or "", effect


def _of_verl(name: str) -> str:
    section, dot, rest = name.partition(".")
    if not dot:
        homes = [one for one, keys in VERL_SECTIONS.items() if name in keys]
        return f"{homes[0]}.{name}" if len(homes) == 1 and name not in VERL_TOP else ""
    keys = VERL_SECTIONS.get(section, frozenset())
    if "." in rest or rest in keys or not keys:
        return ""
    near = closest_match(rest, sorted(keys), _NEAR)
    return f"{section}.{near}" if near is not None else ""
