"""Random shell scripts of the shapes in which training jobs are started."""

from __future__ import annotations

import random
from collections.abc import Callable

LAUNCH = "torchrun train.py"
# Programs that succeed, and questions whose answer a reader of the script cannot know.
WORK = (
    "echo start",
    "true",
    ":",
    "cd /",
    "export A=1",
    "B=2",
    "mkdir -p .",
    "date",
    "printf x",
    "cp a b",
    "nvidia-smi",
)
QUESTIONS = (
    "[ -f /nowhere ]",
    "[ -d / ]",
    "test -e /nowhere",
    "grep -q x /dev/null",
    '[ "$RANK" = 0 ]',
    "[[ -n $HOME ]]",
)
SINKS = ("tee /dev/null", "cat", "grep -v zzz || true", "sed s/a/b/", "while read line; do echo $line; done")
OPTIONS = (
    "set -e", "set -o pipefail", "set -euo pipefail", "set -eo pipefail", "set -ex", "set +e", "set -u",
    "set -exo pipefail", "set -o errexit", "set +o pipefail", "set -E",
)  # fmt: skip
TRAPS = (
    "trap 'echo ended' EXIT", "trap 'exit 3' ERR", "trap 'echo failed' ERR", "trap 'rc=$?; echo; exit $rc' EXIT",
    "trap 'kill 0' TERM", "trap '' INT", "trap 'exit 0' EXIT", "trap - EXIT", "trap - ERR", "trap 'exit 1' TERM INT",
    "cleanup() { rm -f /nowhere; }; trap cleanup EXIT", "trap 'rc=$?; [ $rc -eq 0 ] || echo bad' EXIT",
)  # fmt: skip
ENDS = (
    "exit 0", "exit $?", "exit", "exit 1", "exit $rc", 'exit "$rc"', "echo done", "[ $rc -eq 0 ]", "test $rc -ne 0",
    "exit ${PIPESTATUS[0]}", "wait", "true", "sleep 0", "[ $? -eq 0 ] || exit 1", "(( rc == 0 )) || exit $rc",
    "[[ $rc != 0 ]] && exit $rc", "if [ $rc -ne 0 ]; then exit $rc; fi", "[ $rc = 0 ] && echo ok",
)  # fmt: skip
WRAPPERS = ("timeout 9", "nohup", "env A=1", "command", "A=1", "time", "nice -n 1", "stdbuf -oL", "exec")


class Grammar:
    """Scripts from one source of random numbers; each holds the launcher at least once."""

    def __init__(self, seed: int, *, posix: bool = False) -> None:
        self._random = random.Random(seed)  # noqa: S311
        self._posix = posix
        self._names = 0

    def script(self) -> str:
        """Returns a script: options, traps, some work, the launcher in any shape, and an end."""
        lines = [self._one(OPTIONS)] * self._chance(0.5) + [self._one(TRAPS)] * self._chance(0.25)
        lines += [self._one(WORK) for _ in range(self._random.randrange(2))]
        lines += [self._statement(2)]
        lines += ["rc=$?"] * self._chance(0.4)
        lines += [self._statement(1)] * self._chance(0.1)
        lines += [self._one(WORK) for _ in range(self._random.randrange(2))]
        lines += [self._one(ENDS)] * self._chance(0.5)
        text = "\n".join(lines) + "\n"
        return text if not self._posix or not any(word in text for word in _BASH) else self.script()

    def _one(self, choices: tuple[str, ...]) -> str:
        return self._random.choice(choices)

    def _chance(self, share: float) -> int:
        return int(self._random.random() < share)

    def _statement(self, depth: int) -> str:
        """Returns a command that holds the launcher."""
        if depth <= 0 or self._chance(0.15):
            return self._launch()
        return self._random.choice(self._shapes())(depth - 1)

    def _launch(self) -> str:
        return f"{self._one(WRAPPERS)} {LAUNCH}" if self._chance(0.25) else LAUNCH

    def _name(self) -> str:
        self._names += 1
        return f"run{self._names}"

    def _list(self, depth: int) -> str:
        parts = [self._one(WORK)] * self._chance(0.3) + [self._statement(depth)] + [self._one(WORK)] * self._chance(0.4)
        return "; ".join(parts)

    def _shapes(self) -> tuple[Callable[[int], str], ...]:
        shapes: tuple[Callable[[int], str], ...] = (
            self._pipe, self._pipe, self._and, self._or, self._not, self._if, self._branch, self._loop, self._retry,
            self._function, self._group, self._background, self._substitution, self._inner_shell, self._file,
            self._case, self._counted, self._status,
        )  # fmt: skip
        return shapes

    def _pipe(self, depth: int) -> str:
        return f"{self._grouped(depth)} 2>&1 {self._one(('|', '|', '|&'))} {self._one(SINKS)}"

    def _grouped(self, depth: int) -> str:
        if depth <= 0 or self._chance(0.6):
            return self._launch()
        return self._group(depth)

    def _and(self, depth: int) -> str:
        left, right = self._one((*WORK, *QUESTIONS)), self._one((*WORK, "exit 0", "touch /dev/null"))
        return self._one((f"{left} && {self._grouped(depth)}", f"{self._grouped(depth)} && {right}"))

    def _or(self, depth: int) -> str:
        right = self._one(
            (
                "true",
                "exit 1",
                "exit $?",
                "{ echo failed; exit 2; }",
                "echo failed",
                "{ rc=$?; echo; exit $rc; }",
                "false",
                ":",
            )
        )
        return f"{self._grouped(depth)} || {right}"

    def _not(self, depth: int) -> str:
        return f"! {self._grouped(depth)}"

    def _if(self, depth: int) -> str:
        negated = "! " * self._chance(0.5)
        bodies = self._one(WORK), self._one(("exit 1", "echo failed", "exit $?", "false"))
        return f"if {negated}{self._grouped(depth)}; then\n  {bodies[0]}\nelse\n  {bodies[1]}\nfi"

    def _branch(self, depth: int) -> str:
        other = self._one((self._launch(), "echo other", "exit 4"))
        return f"if {self._one(QUESTIONS)}; then {self._list(depth)}\nelse {other}; fi"

    def _loop(self, depth: int) -> str:
        words = self._one(("1 2", "a", "$(seq 2)", "{1..2}", '"$HOME"'))
        return f"for i in {words}; do\n  {self._list(depth)}\ndone"

    def _retry(self, depth: int) -> str:
        after = self._one(("sleep 0", "echo again", "continue", ":", "rc=$?"))
        return f"for i in 1 2 3; do\n  {self._grouped(depth)} && break\n  {after}\ndone"

    def _counted(self, depth: int) -> str:
        return f"n=0\nwhile [ $n -lt 2 ]; do\n  {self._list(depth)}\n  n=$((n+1))\ndone"

    def _function(self, depth: int) -> str:
        name = self._name()
        after = self._one(("", "  return $?\n", "  return 0\n", "  echo done\n", "  local rc=$?\n  return $rc\n"))
        call = self._one((name, name, f"{name} || exit 1", f"if {name}; then :; fi", f"{name} | cat"))
        return f"{name}() {{\n  {self._statement(depth)}\n{after}}}\n{call}"

    def _group(self, depth: int) -> str:
        return self._one((f"{{ {self._list(depth)}; }}", f"( {self._list(depth)} )"))

    def _background(self, depth: int) -> str:
        wait = self._one(
            ("wait", "wait $!", "pid=$!\nwait $pid", "pid=$!\nwait $pid\nrc=$?", "wait -n", "sleep 0\nwait $!")
        )
        return f"{self._grouped(depth)} &\n{wait}"

    def _substitution(self, depth: int) -> str:
        return self._one(
            (
                f"out=$({self._list(depth)})",
                f'out="$({self._list(depth)})"',
                f"export out=$({LAUNCH})",
                f"echo $({LAUNCH})",
            )
        )

    def _inner_shell(self, _depth: int) -> str:
        options = self._one(("-c", "-ec", "-o pipefail -c", "-e -c", "-euxo pipefail -c"))
        before = self._one(("", "set -e; ", "cd /; "))
        inner = f"{before}{LAUNCH}{self._one(('', '; echo', ' | cat', ' || exit 5', ' && echo'))}"
        quote = self._one(("'", '"'))
        return f"{self._one(('', 'timeout 9 ', 'env A=1 '))}bash {options} {quote}{inner}{quote}"

    def _file(self, depth: int) -> str:
        path = f"./{self._name()}.sh"
        mark = self._one(("END", "'END'", '"END"'))
        start = self._one(
            (f"bash {path}", f"bash -e {path}", f". {path}", f"source {path}", f"chmod +x {path}\nbash {path}")
        )
        return f"cat > {path} <<{mark}\n{self._list(depth)}\nEND\n{start}"

    def _case(self, depth: int) -> str:
        return f'case "$MODE" in\n  a|b) {self._list(depth)} ;;\n  *) {self._launch()} ;;\nesac'

    def _status(self, depth: int) -> str:
        return f"set +e\n{self._grouped(depth)}\nrc=$?\nset -e\necho $rc"


# What POSIX shells do not have, or not all.
_BASH = (
    "pipefail", "PIPESTATUS", "[[", "((", "|&", "ERR", "{1..2}", "source", "wait -n", "local", "bash", "time ",
    "set -E", "errexit",
)  # fmt: skip
