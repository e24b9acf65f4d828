"""A script uses a variable that it never sets, and never uses one with a similar name that it sets.

The shell replaces a variable that nothing sets with nothing. After a renaming, `$ARGS` in the command is empty, while
`SCRIPT_ARGS` holds the arguments: the program starts without them, or the launcher without a program.

A variable may come from the environment, so the rule reports it only beside an assignment that nothing reads: one of
the same name with a part more, such as `SCRIPT_ARGS` for `ARGS`, or one that differs in a letter or two. Variables with
a default, as in `${ARGS:-}`, are left alone. So are a variable with the name of a file, `ARGS_FILE`, beside an `ARGS`
that the script exports: images take a password from such a file.

Write the name of the variable that the script sets.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.model.run import Container, Script

_SET = re.compile(r"(?:^|[\s;(&|{])([A-Za-z_]\w*)\+?=")
_LOOPS = re.compile(
    r"\bfor\s+([A-Za-z_]\w*)\b|\bread\s+(?:-\w+\s+)*((?:[A-Za-z_]\w*\s*)+)|\bmapfile\b.*?(\w+)\s*$", re.MULTILINE
)
_USED = re.compile(r"(?<!\\)\$(?:\{([A-Z_][A-Z0-9_]*)\}|([A-Z_][A-Z0-9_]*))")
_DEFAULT = re.compile(r"\$\{([A-Z_][A-Z0-9_]*)[:=+?-]")
# What a script prints looks like an assignment: `echo GPUS=$GPUS`.
_PRINTED = re.compile(r"\b(?:echo|printf)\b[^;|&\n]*")
_EXPORTED = re.compile(r"\bexport\s+([A-Za-z_]\w*)=")
_MOST = 50
_WORD = re.compile(r"[A-Za-z_]\w*")
# Libraries, Slurm and Python read these from the environment; the last ones are set by operators and by the kubelet.
_OF_OTHERS = re.compile(
    r"(?:NCCL|TORCH|FI|UCX|OMP|HF|CUDA|SLURM|SBATCH|SRUN|WANDB|TRANSFORMERS|PYTORCH|OMPI|MASTER|WORLD|GLOO|RDMAV|"
    r"LD|TF|XLA|NVTE|HSA|MIOPEN|RCCL|PET|ACCELERATE|DS|MKL|TOKENIZERS|PMIX?|I_MPI|ENROOT|VC|VK|LWS|RAY)_"
    r"|(?:(?:LOCAL_|NODE_|GROUP_)?RANK|JOB_COMPLETION_INDEX|HOSTNAME|HOME|USER|PWD)$"
)
_COMMENT = re.compile(r"(?:^|(?<=\s))#(?!!).*", re.MULTILINE)


@rule(
    code="SC032",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "POSIX shell command language, 2.6.2: an unset parameter expands to nothing; bash 5.2 (seen)",
        "github.com/huggingface/accelerate issue 2881",
    ),
    needs=("$",),
)
def script_variable_never_set(container: Container) -> Iterator[Problem]:
    """Report variables that nothing sets, beside similar ones that nothing reads."""
    environment = {setting.name for setting in container.settings if setting.via in ("env", "envFrom")}
    for script in container.scripts:
        text = _COMMENT.sub("", script.text)
        unread = _unread(text)
        # A script that leaves more of its variables to others is read by others.
        unset = _unset(text, environment) if 0 < len(unread) <= _MOST else {}
        if len(unset) > _MOST:
            continue
        exported = {f"{match[1]}_FILE" for match in _EXPORTED.finditer(text)} if unset else set[str]()
        for name, line in unset.items():
            similar = _similar(name, unread)
            if similar and name not in exported:
                others = [one for one, at in unset.items() if at == line and one != name]
                yield _problem(script, name, similar, line, others)


def _unread(text: str) -> set[str]:
    """Returns the variables that the text sets, and mentions nowhere else."""
    written = Counter(match[1] for match in _SET.finditer(_PRINTED.sub(" ", text)))
    words = Counter(_WORD.findall(text))
    return {
        name for name, times in written.items() if not _OF_OTHERS.match(name) and words[name] == times and len(name) > 2
    }


def _unset(text: str, environment: set[str]) -> dict[str, int]:
    """Returns the variables that the text uses and never sets, with the line of their first use."""
    known = environment | {match[1] for match in _SET.finditer(text)}
    for match in _LOOPS.finditer(text):
        known |= set(_WORD.findall(" ".join(group for group in match.groups() if group)))
    known |= set(_DEFAULT.findall(text))
    found: dict[str, int] = {}
    line = position = 0
    for match in _USED.finditer(text):
        name = match[1] or match[2]
        line += text.count("\n", position, match.start())
        position = match.start()
        if name not in known and not _OF_OTHERS.match(name):
            found.setdefault(name, line)
    return found


def _similar(name: str, unread: set[str]) -> str:
    parts = [one for one in sorted(unread) if one.endswith(f"_{name}") or one.startswith(f"{name}_")]
    parts += [one for one in sorted(unread) if name.endswith(f"_{one}") or name.startswith(f"{one}_")]
    if len(name) > 3 and parts:
        return parts[0]
    return (closest_match(name, sorted(unread), 0.85) or "") if len(name) > 4 else ""


def _problem(script: Script, name: str, similar: str, line: int, others: list[str]) -> Problem:
    named = " and ".join((name, *others))
    return Problem(
        script.at.below(line),
        f"the script never sets {named}, and never reads {similar}, which it sets",
        f"write `${similar}`, or set {name}",
    )
