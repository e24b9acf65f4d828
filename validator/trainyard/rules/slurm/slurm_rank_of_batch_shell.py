r"""The batch shell replaces the number of a task before srun starts the tasks, so each of them gets rank 0.

`SLURM_PROCID`, `SLURM_LOCALID` and `SLURM_NODEID` differ from task to task, and are 0 in the batch script itself. A
word such as `--node_rank $SLURM_NODEID` behind srun, or in double quotes, is replaced in the batch script: every node
starts as node 0, and the rendezvous hangs or fails. The same holds for `export RANK=$SLURM_PROCID` in front of srun.
With `--rdzv-backend=c10d` the launcher takes no number, so the rule leaves it alone. It also leaves out steps of one
task, and scripts that start themselves with srun.

Write `srun bash -c '...'` with single quotes, or `\\$SLURM_NODEID` in double quotes, so that the shell of each task
replaces it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.launchers.slurm import MARK, Batch, batches, commands_and_comments
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.launchers import SRUN
from trainyard.model.run import Container

_OF_TASK = re.compile(r"\$\{?(SLURM_(?:PROCID|LOCALID|NODEID))\b\}?")
_STEP = re.compile(rf"\s*(?:\w+=\S*\s+)*{SRUN}\b")
_NAME = re.compile(r"\$\{?([A-Za-z_]\w*)")
_RANK_OF_NODE = re.compile(r"--(?:node|machine)[-_]rank[= ]\"?$")
_NODE_RANK = re.compile(r"\b(?:NODE|MACHINE)_?RANK=\"?$")
_ONE_TASK = re.compile(r"\s(?:-n[= ]?1|--ntasks[= ]1)\b")
# The script starts itself: what follows runs in a task.
_OWN = ("$0", "BASH_SOURCE")
_C10D = re.compile(r"rdzv[-_]backend[= ]+\"?c10d")
_ASSIGNED = re.compile(r"\s*(export\s+|declare\s+-x\s+)?([A-Za-z_]\w*)=")


@rule(
    code="SL005",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "slurm.schedmd.com/srun.html: SLURM_PROCID, SLURM_LOCALID, SLURM_NODEID of the current process",
        "bash 5.2 (seen): the batch shell expands the words of srun",
        "github.com/ContextualAI/gritlm pull 62",
    ),
    needs=(MARK,),
)
def slurm_rank_of_batch_shell(container: Container) -> Iterator[Problem]:
    """Report ranks that are replaced too early."""
    for batch in batches(container):
        if batch.nodes == 1 and (batch.tasks_per_node or 1) == 1:
            continue
        if not any(command.program == SRUN for command in container.commands):
            continue
        if any(word in batch.script.text for word in _OWN):
            continue
        for line, found in dict.fromkeys(_replaced(batch)):
            yield Problem(
                batch.script.at.word(line, found),
                f"the batch shell replaces `{found}` before srun starts the tasks: each of them gets 0",
                f'write `\\{found}` inside of `srun bash -c "..."`, or single quotes',
            )


def _replaced(batch: Batch) -> Iterator[tuple[int, str]]:
    """Yields the references that the batch shell replaces in words of srun, or in variables that the tasks get."""
    lines = dict(commands_and_comments(batch.script.text))
    used = {name for line in lines.values() if _STEP.match(line) for name in _NAME.findall(line)}
    quote, head, is_continued = "", "", False
    for number, line in lines.items():
        head = head if is_continued else line
        if line.lstrip().startswith("#") and not is_continued:
            continue
        matters = _is_for_tasks(head, used)
        index = 0
        while index < len(line):
            sign = line[index]
            if sign == "\\" and quote != "'":
                index += 2
                continue
            if sign in "'\"" and quote in ("", sign):
                quote = "" if quote else sign
            found = _OF_TASK.match(line, index) if sign == "$" and quote != "'" else None
            if found is not None and matters and not _is_ignored(line[max(index - 20, 0) : index], batch.script.text):
                yield number, found.group()
            index += 1
        is_continued = bool(quote) or line.endswith("\\")


def _is_ignored(before: str, text: str) -> bool:
    """True for the rank of a node with a rendezvous that gives the ranks itself."""
    return (_RANK_OF_NODE.search(before) or _NODE_RANK.search(before)) is not None and _C10D.search(text) is not None


def _is_for_tasks(head: str, used: set[str]) -> bool:
    """True for a command of srun, an exported variable, or one that a command of srun uses."""
    if _STEP.match(head):
        return _ONE_TASK.search(head) is None
    assigned = _ASSIGNED.match(head)
    return assigned is not None and (bool(assigned[1]) or assigned[2] in used)
