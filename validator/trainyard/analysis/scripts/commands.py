"""Executes simple commands: builtins of the shell, launchers, scripts in files, and all other programs."""

from __future__ import annotations

import re
from collections.abc import Callable

from trainyard.analysis.scripts import values
from trainyard.analysis.scripts.builtins import BUILTINS
from trainyard.analysis.scripts.interpreter import Context, Interpreter, launched
from trainyard.analysis.scripts.lexer import UnsupportedError, word_end
from trainyard.analysis.scripts.shell_options import shell_script, with_options
from trainyard.analysis.scripts.state import File, Launch, State, Value, either
from trainyard.analysis.scripts.syntax import Redirect, Simple, parse
from trainyard.analysis.scripts.texts import script_word, shebang, with_variables
from trainyard.facts.programs.launchers import BY_NAME, launcher_in
from trainyard.loaders.manifests.shell import SHELLS

# Programs whose result is an answer: both are followed wherever they stand.
_PREDICATES = frozenset(
    (
        "grep", "egrep", "fgrep", "pgrep", "diff", "cmp", "read", "expr", "let", "mountpoint", "getopts", "ping", "nc",
        "type", "which", "hash", "getent", "nslookup", "host", "id", "mapfile",
    )
)  # fmt: skip
# Programs that nobody expects to fail, even before `||`.
_CERTAIN = frozenset(("echo", "printf", "true", ":", "sleep", "date", "umask", "tee", "cat", "cd"))
# Programs that start another one, and exit as it does.
_WRAPPERS = frozenset(
    (
        "timeout", "nohup", "env", "sudo", "nice", "ionice", "stdbuf", "setsid", "numactl", "taskset", "chrt", "tini",
        "dumb-init", "unbuffer", "catchsegv", "nsys", "ncu", "strace", "ltrace", "gosu", "su-exec", "time", "chroot",
    )
)  # fmt: skip
_DETACHING = frozenset(
    ("screen", "tmux", "at", "batch", "daemonize", "start-stop-daemon", "xargs", "parallel", "watch")
)
_DECLARATIONS = frozenset(("export", "declare", "typeset", "local", "readonly"))
# Files that set variables and define functions.
_HARMLESS = re.compile(r"(?:\S*/)?(?:activate|conda\.sh|setvars\.sh|\.?bashrc|profile|\.bash_profile|os-release)\Z")
# A script that waits this long keeps its pod for a person, who ends it: 1,000 seconds, ten minutes, an hour, a day.
_FOREVER = re.compile(r"inf(?:inity)?\Z|\d{4,}s?\Z|\d{2,}m\Z|\d+[hd]\Z")
# It fails without the output of a launcher that has failed.
_MOVES = "mv"
_EXPORTED = "export -f"
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\+?)=", re.DOTALL)
_SUBSTITUTION = re.compile(r"\"?(?:\$\((?!\()(.*)\)|`(.*)`)\"?\Z", re.DOTALL)

Runs = Callable[[tuple[str, ...]], bool]


class Commands:
    """Executes simple commands. `trains` is true for programs that count as launchers."""

    def __init__(self, trains: frozenset[tuple[str, ...]]) -> None:
        self._trains = trains

    def __call__(self, shell: Interpreter, simple: Simple, state: State, context: Context) -> list[State]:
        """Returns the states after a command."""
        for text in (*simple.words, *(redirect.target for redirect in simple.redirects)):
            _refuse_hidden_launcher(text, state)
        if not simple.words:
            return self._assign(shell, simple, state)
        if simple.assignments:
            for text in simple.assignments:
                _refuse_hidden_launcher(text, state)
        state = _written(simple, state)
        words = values.expand_words(simple.words, state)
        return self._run(shell, simple, words, state, context)

    def _run(
        self, shell: Interpreter, simple: Simple, words: tuple[Value, ...], state: State, context: Context
    ) -> list[State]:
        if not words:
            return [state.ends(0)]
        program = words[0]
        if not isinstance(program, str):
            raise UnsupportedError("a program that is not known")
        if program in state.functions:
            return shell.call(program, words[1:], state, context)
        if program in ("exec", "command", "builtin"):
            return self._exec(shell, simple, words, state, context)
        if program in _DECLARATIONS:
            return [_declared(simple, words, state)]
        builtin = BUILTINS.get(program)
        if builtin is not None:
            return builtin(words[1:], state)
        if program in ("source", ".", "eval"):
            return self._here(shell, words, state, context)
        return self._program(shell, simple, words, state, context)

    def _program(
        self, shell: Interpreter, simple: Simple, words: tuple[Value, ...], state: State, context: Context
    ) -> list[State]:
        plain = tuple(word if isinstance(word, str) else "" for word in words)
        name = plain[0].rsplit("/", 1)[-1]
        if name in SHELLS:
            return self._shell(shell, simple, words, state)
        file = state.files.get(_path(plain[0]))
        if file is not None:
            return self._file(shell, "", file, words[1:], state, [])
        start = launcher_in(plain)
        if name in _WRAPPERS:
            inner = next((n for n, word in enumerate(plain) if n and self._is_program(word, plain[n:], state)), None)
            if inner is not None:
                return self._program(shell, simple, words[inner:], state, context)
        if start is not None or plain in self._trains:
            if name in _DETACHING:
                raise UnsupportedError(name)
            shown = start.launcher.name if start is not None else name
            at = state.line(simple.line)._replace(words=shown)
            return [launched(state, Launch(shown, at, state.is_inner))]
        if name in _DETACHING and any(word in SHELLS or word in state.files for word in plain[1:]):
            raise UnsupportedError(name)
        return _other(name, plain, state, context)

    def _is_program(self, word: str, words: tuple[str, ...], state: State) -> bool:
        name = word.rsplit("/", 1)[-1]
        known = name in SHELLS or name in BY_NAME or name in _WRAPPERS or _path(word) in state.files
        return known or name.startswith("python") or words in self._trains

    def _exec(
        self, shell: Interpreter, simple: Simple, words: tuple[Value, ...], state: State, context: Context
    ) -> list[State]:
        """Runs `exec` and `command`, which know no functions."""
        rest = words[1:]
        if words[0] == "command" and rest and rest[0] in ("-v", "-V"):
            return either(state, None)
        while rest and isinstance(rest[0], str) and rest[0].startswith("-"):
            rest = rest[2:] if rest[0] == "-a" else rest[1:]
        if not rest:
            return [state.ends(0)]
        # Nothing is left of the shell that could run a trap.
        inner = state._replace(functions={}, on_exit="" if words[0] == "exec" else state.on_exit)
        found = [end._replace(functions=state.functions) for end in self._run(shell, simple, rest, inner, context)]
        return [end._replace(flow="exit") for end in found] if words[0] == "exec" else found

    def _assign(self, shell: Interpreter, simple: Simple, state: State) -> list[State]:
        """Returns the states after assignments, which exit as the last command substitution does."""
        state = _written(simple, state)
        states, before = [state._replace(status=0)], state
        for text in simple.assignments:
            match = _ASSIGNMENT.match(text)
            name, value = (match[1], text[match.end() :]) if match else ("", text)
            inner = _SUBSTITUTION.match(value)
            if inner is not None and _is_single(value):
                states = [s.set(name, None) for one in states for s in self._substituted(shell, inner, one, before)]
                continue
            _refuse_hidden_launcher(value, state)
            known = None if (match and match[2]) or value.startswith("(") else values.expand(value, before)
            states = [one.set(name, known) for one in states]
            before = before.set(name, known)
        return [one._replace(statuses=(one.status,)) for one in states]

    def _substituted(self, shell: Interpreter, match: re.Match[str], state: State, before: State) -> list[State]:
        text = match[1] if match[1] is not None else match[2]
        if "<<" in text:
            raise UnsupportedError("<<")
        body = parse(text)

        def run(inner: State) -> list[State]:
            return shell.sequence(
                body, inner._replace(errexit=state.errexit and not state.is_bash, status=before.status), Context()
            )

        return shell.subshell(run, state)

    def _here(self, shell: Interpreter, words: tuple[Value, ...], state: State, context: Context) -> list[State]:
        """Runs text in the same shell."""
        rest = words[1:]
        if not all(isinstance(word, str) for word in rest) or not rest:
            raise UnsupportedError(str(words[0]))
        if words[0] == "eval":
            return shell.sequence(parse(" ".join(map(str, rest))), state, context)
        file = state.files.get(_path(str(rest[0])))
        if file is None:
            if _HARMLESS.match(str(rest[0])):
                return [state.ends(0)]
            raise UnsupportedError(str(rest[0]))
        # dash applies `set -e` in a sourced file even where a condition asks for it.
        if not file.text or state.depth > 8 or (context.is_checked and state.errexit and not state.is_bash):
            raise UnsupportedError("too deep")
        inner = state._replace(at=file.at, depth=state.depth + 1, may_return=True)
        found = shell.sequence(parse(file.text), inner, context)
        return [
            s._replace(
                at=state.at,
                depth=state.depth,
                may_return=state.may_return,
                flow="" if s.flow == "return" else s.flow,
                statuses=(),
            )
            for s in found
        ]

    def _shell(self, shell: Interpreter, simple: Simple, words: tuple[Value, ...], state: State) -> list[State]:
        options, path, arguments = shell_script(words[1:])
        name = str(words[0])
        if path is None:
            raw = next((n for n, word in enumerate(simple.words) if word == words[0] or word.endswith("/" + name)), 0)
            after = next(
                (n + 1 for n in range(raw + 1, len(simple.words)) if re.match(r"-\w*c\w*\Z", simple.words[n])), None
            )
            if after is None or after >= len(simple.words):
                raise UnsupportedError(name)
            file = File(script_word(simple.words[after], state), state.line(simple.line))
            return self._file(shell, name, file, tuple(arguments[1:]), state, options)
        if not isinstance(path, str):
            raise UnsupportedError(name)
        known = state.files.get(_path(path))
        if known is None:
            return _other(name, tuple(str(word) for word in words), state, Context())
        return self._file(shell, name, known, tuple(arguments), state, options)

    def _file(
        self,
        shell: Interpreter,
        name: str,
        file: File,
        arguments: tuple[Value, ...],
        state: State,
        options: list[Value],
    ) -> list[State]:
        """Runs a script in a shell of its own."""
        if not file.text or state.depth > 8:
            raise UnsupportedError("a script that is not known")
        if not name:
            name, options = shebang(file.text)
            if not name:
                raise UnsupportedError("a script of another language")
        inherited = state.functions if _EXPORTED in state.variables else {}
        start = State(
            at=file.at,
            launches=state.launches,
            depth=state.depth + 1,
            arguments=arguments,
            functions=inherited,
            files=state.files,
            is_bash=name.rsplit("/", 1)[-1] == "bash",
            is_inner=True,
            options=state.options,
        )
        start, _ = with_options((*options, *state.options), start)
        refuse_dialect(name.rsplit("/", 1)[-1], file.text)
        return [
            state._replace(status=end.status, statuses=(end.status,), launches=end.launches, files=end.files)
            for end in shell.script(file.text, start)
        ]


def refuse_dialect(name: str, text: str) -> None:
    """Raises `UnsupportedError` for text that shells other than bash understand in different ways."""
    if name != "bash" and any(
        word in text for word in ("pipefail", "PIPESTATUS", "pipestatus", "[[", "((", "ERR", "function ")
    ):
        raise UnsupportedError(name)


def _other(name: str, words: tuple[str, ...], state: State, context: Context) -> list[State]:
    """Returns the states after any other program."""
    if name == "false":
        return [state.ends(1)]
    if (name == "sleep" and len(words) > 1 and _FOREVER.match(words[1])) or _follows_file(name, words):
        return []
    needs_output = bool(state.launches) and name == _MOVES
    if name in _PREDICATES or needs_output or (context.is_asked and name not in _CERTAIN):
        return either(state, None)
    return [state.ends(0)]


def _follows_file(name: str, words: tuple[str, ...]) -> bool:
    if name != "tail" or not any(re.match(r"-\w*[fF]|--follow", word) for word in words):
        return False
    if any(word.startswith("--pid") for word in words):
        raise UnsupportedError("--pid")
    return any(word.startswith("/") or not word.startswith("-") for word in words[1:])


def _refuse_hidden_launcher(text: str, state: State) -> None:
    """Raises `UnsupportedError` if a launcher may run inside of a word."""
    if "$(" in text or "`" in text or text[:2] in ("<(", ">("):
        known = (*BY_NAME, *state.functions, *filter(None, state.files))
        if any(name in text for name in known):
            raise UnsupportedError(text)


def _is_single(value: str) -> bool:
    """True if a value is one command substitution and nothing else."""
    inner = value[1:-1] if value.startswith('"') else value
    return (
        inner.startswith(("$(", "`"))
        and word_end(inner, 0) == len(inner)
        and inner.count("$(") + inner.count("`") // 2 == 1
    )


def _written(simple: Simple, state: State) -> State:
    """Returns the state with the files that a command writes; those whose text is not known get an empty one."""
    document = next((redirect for redirect in simple.redirects if redirect.document is not None), None)
    targets = [r.target for r in simple.redirects if r.operator in (">", ">>", ">|", "&>")]
    program = simple.words[0] if simple.words else ""
    if program == "tee":
        targets += [word for word in simple.words[1:] if not word.startswith("-")]
    for target in targets:
        path = values.expand(target, state)
        if isinstance(path, str) and not path.startswith("/dev/"):
            known = program in ("cat", "tee") and len(simple.words) == 1 + (program == "tee")
            text = _document_text(document, state) if known and document is not None else ""
            at = state.line(document.line) if document is not None else state.at
            state = state._replace(files={**state.files, _path(path): File(text, at)})
    return state


def _document_text(document: Redirect, state: State) -> str:
    text = document.document or ""
    if any(quote in document.target for quote in "'\"\\"):
        return text
    try:
        return with_variables(text, state)
    except UnsupportedError:
        return ""


def _path(word: str) -> str:
    return word.removeprefix("./")


def _declared(simple: Simple, words: tuple[Value, ...], state: State) -> State:
    """Returns the state after `export` and the like, whose exit code is always 0."""
    before = state
    if "-f" in words:
        state = state.set(_EXPORTED, "1")
    for text in simple.words[1:]:
        if match := _ASSIGNMENT.match(text):
            value = text[match.end() :]
            known = None if match[2] or value.startswith("(") or "$(" in value else values.expand(value, before)
            if state.may_return and words[0] in ("local", "declare", "typeset"):
                state = state.hide(match[1])
            state = state.set(match[1], known)
    return state.ends(0)
