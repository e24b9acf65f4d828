"""Parses a shell script to a tree of commands.

The grammar of lists, pipelines and compound commands is small, and an exit code depends on its details. The libraries
that were tried do not fit: bashlex is under the GPL. tree-sitter-bash 0.25.1 reads `! { a; }` as a program named `{`
without an error, has no tree for a here-document with `;` on its first line, takes 18 s for 160 kB of `<<A`, and needs
8 ms to import, a sixth of the time for a file. rable 0.2.1 has no wheel for Python 3.11. This parser is compared with
bash itself, on generated scripts.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from trainyard.analysis.scripts.lexer import Token, UnsupportedError, tokens

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_NAME = re.compile(r"[A-Za-z_][\w.-]*\Z")
_ENDS_OF_BODIES = frozenset(("then", "do", "else", "elif", "fi", "done", "esac", "}"))
_ARRAYS = re.compile(r"[A-Za-z_]\w*\+?=\(")
_DEEPEST = 50


class Work:
    """The number of tokens and commands read so far, by which the time for a file is limited."""

    steps = 0


work = Work()


class Redirect(NamedTuple):
    """A redirection; `document` is the text of a here-document, which starts at `line`."""

    operator: str
    target: str
    document: str | None
    line: int


class Simple(NamedTuple):
    """A simple command: words and assignments as written."""

    assignments: tuple[str, ...]
    words: tuple[str, ...]
    redirects: tuple[Redirect, ...]
    line: int


class Pipeline(NamedTuple):
    """Commands joined by pipes."""

    stages: tuple[Command, ...]
    negated: bool
    line: int


class AndOr(NamedTuple):
    """Pipelines joined by `&&` and `||`; the operator before each, empty for the first."""

    parts: tuple[tuple[str, Pipeline], ...]


class Sequence(NamedTuple):
    """Lists one after another; true for those that run in the background."""

    items: tuple[tuple[AndOr, bool], ...]


class Group(NamedTuple):
    """`{ ...; }`, or `( ... )` if it is a subshell."""

    body: Sequence
    subshell: bool
    redirects: tuple[Redirect, ...] = ()


class If(NamedTuple):
    """Conditions with their bodies, and the body of `else`."""

    clauses: tuple[tuple[Sequence, Sequence], ...]
    otherwise: Sequence | None


class While(NamedTuple):
    """A loop with a condition, which ends it if it is met for `until`."""

    condition: Sequence
    body: Sequence
    until: bool


class For(NamedTuple):
    """A loop over words; None for the arguments of the script, or for `for ((...))`."""

    name: str
    words: tuple[str, ...] | None
    body: Sequence


class Case(NamedTuple):
    """The patterns of each branch, its body and its end."""

    word: str
    branches: tuple[tuple[tuple[str, ...], Sequence, str], ...]


class Function(NamedTuple):
    """The definition of a function."""

    name: str
    body: Command


class Test(NamedTuple):
    """`[[ ... ]]` with its words, or `(( ... ))` with its text as the only one."""

    words: tuple[str, ...]
    arithmetic: bool


Command: TypeAlias = Simple | Group | If | While | For | Case | Function | Test


@functools.lru_cache(maxsize=128)
def parse(text: str) -> Sequence:
    """Returns the commands of a script. Raises `UnsupportedError`."""
    found = list(tokens(text))
    work.steps += len(found)
    parser = _Parser(found)
    body = parser.sequence()
    if parser.token is not None:
        raise UnsupportedError(parser.token.text)
    return body


class _Parser:
    """A position in the tokens of a script."""

    def __init__(self, found: list[Token]) -> None:
        # Here-documents are given to their redirections, in order.
        self._documents = iter([token for token in found if token.kind == "document"])
        self._tokens = [token for token in found if token.kind != "document"]
        self._at = 0
        self._depth = 0

    @property
    def token(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _is(self, *texts: str) -> bool:
        token = self.token
        return token is not None and token.kind != "redirect" and token.text in texts

    def _take(self) -> Token:
        token = self.token
        if token is None:
            raise UnsupportedError("an end in the middle of a command")
        self._at += 1
        return token

    def _expect(self, text: str) -> None:
        if not self._is(text):
            raise UnsupportedError(f"no {text}")
        self._at += 1

    def _accept(self, *texts: str) -> bool:
        found = self._is(*texts)
        self._at += found
        return found

    def _lines(self) -> None:
        while self._accept("\n"):
            pass

    def sequence(self) -> Sequence:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UnsupportedError("too deep")
        items = list[tuple[AndOr, bool]]()
        self._lines()
        while self.token is not None and not self._is(*_ENDS_OF_BODIES, ")", ";;", ";&", ";;&"):
            one = self._and_or()
            background = self._is("&")
            items.append((one, background))
            if not self._accept("&", ";", "\n"):
                break
            self._lines()
        self._depth -= 1
        return Sequence(tuple(items))

    def _body(self) -> Sequence:
        body = self.sequence()
        if not body.items:
            raise UnsupportedError("an empty list")
        return body

    def _and_or(self) -> AndOr:
        parts = [("", self._pipeline())]
        while self._is("&&", "||"):
            operator = self._take().text
            self._lines()
            parts.append((operator, self._pipeline()))
        return AndOr(tuple(parts))

    def _pipeline(self) -> Pipeline:
        negated, line = False, self.token.line if self.token is not None else 0
        while self._is("!", "time"):
            negated ^= self._take().text == "!"
            self._accept("-p")
        stages = [self._command()]
        while self._accept("|", "|&"):
            self._lines()
            stages.append(self._command())
        return Pipeline(tuple(stages), negated, line)

    def _command(self) -> Command:
        token = self.token
        if token is None:
            raise UnsupportedError("an end in the middle of a command")
        word = token.text if token.kind == "word" else ""
        if self._is("("):
            return self._parentheses()
        compound: dict[str, Callable[[], Command]] = {
            "{": self._group, "if": self._if, "while": self._while, "until": self._while, "for": self._for,
            "case": self._case, "function": self._function, "[[": self._test,
        }  # fmt: skip
        if word in compound:
            return compound[word]()
        if word in _ENDS_OF_BODIES or word in ("select", "coproc", "in", "!"):
            raise UnsupportedError(word)
        return self._simple()

    def _parentheses(self) -> Command:
        self._expect("(")
        if self._is("("):
            return self._arithmetic()
        body = self._body()
        self._expect(")")
        return Group(body, subshell=True, redirects=self._redirects())

    def _arithmetic(self) -> Test:
        """Reads `(( ... ))`, whose text is made of tokens: enough for a comparison with a number."""
        self._expect("(")
        words, depth = list[str](), 2
        while depth:
            token = self._take()
            depth += token.text.count("(") - token.text.count(")") if token.kind == "operator" else 0
            words.append(token.text)
        return Test((" ".join(words[:-2]),), arithmetic=True)

    def _group(self) -> Group:
        self._expect("{")
        body = self._body()
        self._expect("}")
        return Group(body, subshell=False, redirects=self._redirects())

    def _if(self) -> If:
        clauses, otherwise = list[tuple[Sequence, Sequence]](), None
        while self._accept("if" if not clauses else "elif"):
            condition = self._body()
            self._expect("then")
            clauses.append((condition, self._body()))
        if self._accept("else"):
            otherwise = self._body()
        self._expect("fi")
        self._redirects()
        return If(tuple(clauses), otherwise)

    def _while(self) -> While:
        until = self._take().text == "until"
        condition = self._body()
        return While(condition, self._do(), until)

    def _do(self) -> Sequence:
        self._expect("do")
        body = self._body()
        self._expect("done")
        self._redirects()
        return body

    def _for(self) -> For:
        self._expect("for")
        if self._accept("("):
            self._arithmetic()
            name, words = "", None
        else:
            name, words = self._take().text, None
            self._lines()
            if self._accept("in"):
                words = self._words()
        self._accept(";")
        self._lines()
        return For(name, words, self._do())

    def _words(self) -> tuple[str, ...]:
        words = list[str]()
        while (token := self.token) is not None and token.kind == "word":
            words.append(self._take().text)
        return tuple(words)

    def _case(self) -> Case:
        self._expect("case")
        word = self._take().text
        self._lines()
        self._expect("in")
        self._lines()
        branches = list[tuple[tuple[str, ...], Sequence, str]]()
        while not self._accept("esac"):
            self._accept("(")
            patterns = [self._pattern()]
            while self._accept("|"):
                patterns.append(self._pattern())
            self._expect(")")
            body = self.sequence()
            end = self._take().text if self._is(";;", ";&", ";;&") else ";;"
            branches.append((tuple(patterns), body, end))
            self._lines()
        self._redirects()
        return Case(word, tuple(branches))

    def _pattern(self) -> str:
        token = self._take()
        if token.kind != "word":
            raise UnsupportedError(token.text)
        return token.text

    def _function(self) -> Function:
        self._expect("function")
        name = self._take().text
        if self._accept("("):
            self._expect(")")
        return self._definition(name)

    def _definition(self, name: str) -> Function:
        self._lines()
        body = self._command()
        if isinstance(body, Simple | Function) or not _NAME.match(name):
            raise UnsupportedError(name)
        return Function(name, body)

    def _test(self) -> Test:
        self._expect("[[")
        words = list[str]()
        while not self._is("]]"):
            words.append(self._take().text)
        self._expect("]]")
        self._redirects()
        return Test(tuple(words), arithmetic=False)

    def _simple(self) -> Command:
        assignments, words, redirects = list[str](), list[str](), list[Redirect]()
        line = self.token.line if self.token is not None else 0
        while (token := self.token) is not None and token.kind != "operator":
            if token.kind == "redirect":
                redirects.append(self._redirect())
            elif not words and (_ASSIGNMENT.match(token.text)):
                assignments.append(self._take().text)
            elif token.text.endswith(")") and "=(" in token.text and not _ARRAYS.match(token.text):
                raise UnsupportedError(token.text)
            else:
                words.append(self._take().text)
        if len(words) == 1 and not assignments and not redirects and self._accept("("):
            self._expect(")")
            return self._definition(words[0])
        if not (assignments or words or redirects) or self._is("("):
            raise UnsupportedError(self.token.text if self.token is not None else "nothing")
        return Simple(tuple(assignments), tuple(words), tuple(redirects), line)

    def _redirects(self) -> tuple[Redirect, ...]:
        found = list[Redirect]()
        while self.token is not None and self.token.kind == "redirect":
            found.append(self._redirect())
        return tuple(found)

    def _redirect(self) -> Redirect:
        operator = re.sub(r"\A(?:[0-9]+|\{\w+\})", "", self._take().text)
        token = self._take()
        if token.kind != "word":
            raise UnsupportedError(operator)
        if operator not in ("<<", "<<-"):
            return Redirect(operator, token.text, None, token.line)
        document = next(self._documents, None)
        if document is None:
            raise UnsupportedError("a here-document without an end")
        return Redirect(operator, token.text, document.text, document.line)
