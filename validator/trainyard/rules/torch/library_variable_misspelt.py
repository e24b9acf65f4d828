"""The name of an environment variable differs by a letter or two from a well-known one, so nothing reads it.

Programs read variables by their names, and none tells about a name that it does not know. `CUDA_VISIBLE_DEVICE=0` hides
no GPU, and `OMP_NUM_THREAD=8` leaves the default. Other rules report variables of NCCL and of PyTorch's NCCL backend.

The rule leaves out a name that a command or a script in the files mentions outside of its assignments.

Correct the name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.pods.settings import name_at, rename_variable
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import unlike_ends
from trainyard.facts.programs.library_variables import COMMON, KNOWN
from trainyard.model.run import Setting

_FIRST = frozenset(one[:2] for one in COMMON)
# Names that users set beside `HF_TOKEN`, for programs of their own.
_OTHERS = ("HUGGINGFACE_HUB_TOKEN", "HUGGING_FACE_TOKEN")
_NAMES = frozenset((*COMMON, *KNOWN, *_OTHERS))
_SHORTEST = 11


@rule(
    code="TD041",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "facts/programs/library_variables.py: the source of each library",
        "github.com/rjmalagon/ollama-linux-amd-apu pull 35; github.com/neuralmagic/vllm pull 73",
        "github.com/Zhongdao/Towards-Realtime-MOT issue 65",
    ),
    fix="unsafe",
)
def library_variable_misspelt(setting: Setting, context: Context) -> Iterator[Problem]:
    """Report names that resemble a well-known one."""
    name = setting.name
    if len(name) < _SHORTEST - 1 or name in _NAMES or name[:2] not in _FIRST or setting.via == "mpirun":
        return
    meant = next((one for one in COMMON if len(one) >= _SHORTEST and _is_near(name, one)), None)
    container = context.container
    if meant is None or container is None:
        return
    if any(one.name == meant for one in container.settings) or any(
        _is_read(name, one.text) for one in container.scripts
    ):
        return
    if any(f"${name}" in word or f"$({name})" in word or f"${{{name}" in word for word in _words(setting, context)):
        return
    yield Problem(
        name_at(setting), f"nothing reads `{name}`", f"did you mean `{meant}`?", rename_variable(setting, meant)
    )


def _is_read(name: str, text: str) -> bool:
    """True if a script mentions the name outside of its assignments."""
    return name in text and re.search(rf"\$\{{?{name}\b|\b{name}\b(?!=)", text) is not None


def _words(setting: Setting, context: Context) -> Iterator[str]:
    container = context.container
    if container is not None:
        yield from (*container.command, *container.args)
        yield from (one.value or "" for one in container.settings if one is not setting)


def _is_near(name: str, known: str) -> bool:
    """True if one letter is missing, added, or another, or two neighbours are swapped."""
    if abs(len(name) - len(known)) > 1 or name[:2] != known[:2]:
        return False
    a, b = unlike_ends(name, known)
    return a[1:] == b or a == b[1:] or a[1:] == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:] and len(b) > 1)
