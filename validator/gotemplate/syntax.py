"""Parses template text to a tree. Source: text/template/parse of Go 1.26."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from gotemplate.errors import UnsupportedError
from gotemplate.tracked import Value


class Operand(NamedTuple):
    """An operand of an expression. `kind` is literal, dot, variable, function or pipeline; `fields` follow it."""

    kind: str
    value: Any
    fields: tuple[str, ...] = ()


Command = tuple[Operand, ...]


class Pipeline(NamedTuple):
    """A chain of commands; each gets the result of the previous one as its last argument."""

    commands: tuple[Command, ...]


class Text(NamedTuple):
    """Literal text."""

    text: str


class Action(NamedTuple):
    """An expression whose result is written or assigned to a new or existing variable."""

    pipeline: Pipeline
    variable: str = ""
    is_new: bool = False


class Branch(NamedTuple):
    """`if` or `with`, and its `else` part."""

    is_with: bool
    condition: Action
    body: tuple[Node, ...]
    otherwise: tuple[Node, ...]


class Loop(NamedTuple):
    """`range`, with the variables for key and item."""

    variables: tuple[str, ...]
    pipeline: Pipeline
    body: tuple[Node, ...]
    otherwise: tuple[Node, ...]


class Call(NamedTuple):
    """`template "name" pipeline`."""

    name: str
    pipeline: Pipeline | None


class Jump(NamedTuple):
    """`break` or `continue`, in a loop."""

    word: str


Node = Text | Action | Branch | Loop | Call | Jump


class Block:
    """The nodes of a template. `program` is what the module `programs` makes of them, when the template first runs."""

    def __init__(self, nodes: tuple[Node, ...]) -> None:
        self.nodes = nodes
        self.program: Any = None


Definitions = dict[str, Block]

_ACTION = re.compile(
    r"""\{\{(?P<trim>-(?=\s))?
        (?:\s*/\*.*?\*/\s*? | (?P<code>(?: "(?:[^"\\\n]|\\.)*" | `[^`]*` | (?!-?\}\}) . )*?))
        (?P<trim_after>(?<=\s)-)?\}\}""",
    re.VERBOSE | re.DOTALL,
)
_TOKEN = re.compile(
    r"""\s*(?: (?P<string>"(?:[^"\\\n]|\\.)*" | `[^`]*`)
      | (?P<number>-?\d+(?:\.\d+)?)
      | (?P<name>\$?[A-Za-z_]\w* | \$)
      | (?P<field>(?:\.[A-Za-z_]\w*)+)
      | (?P<sign>:=|=|\||\(|\)|,|\.)
    )""",
    re.VERBOSE,
)
_BLANKS = " \t\r\n"
_WORDS: dict[str, Any] = {"true": True, "false": False, "nil": None}


class _Token(NamedTuple):
    kind: str
    text: str
    spaced: bool


def parse(text: str, definitions: Definitions) -> Block:
    """Returns the block of a file and adds the templates that it defines to `definitions`.

    Raises `UnsupportedError`.
    """
    parser = _Parser(text, definitions)
    nodes, end = parser.block(())
    if end:
        raise UnsupportedError(f"unexpected {end}")
    return Block(nodes)


def _pieces(text: str) -> Iterator[str | list[_Token]]:
    """Yields the text between actions, and the tokens of each action."""
    position, trimmed = 0, False
    for match in _ACTION.finditer(text):
        before = text[position : match.start()]
        before = before.lstrip(_BLANKS) if trimmed else before
        yield before.rstrip(_BLANKS) if match["trim"] else before
        if match["code"] is not None:
            yield list(_tokens(match["code"]))
        trimmed, position = bool(match["trim_after"]), match.end()
    yield text[position:].lstrip(_BLANKS) if trimmed else text[position:]


def _tokens(code: str) -> Iterator[_Token]:
    position = 0
    while code[position:].strip():
        match = _TOKEN.match(code, position)
        if match is None or match.lastgroup is None:
            raise UnsupportedError(f"`{code[position:].strip()[:40]}` in a template")
        yield _Token(match.lastgroup, match[match.lastgroup], match.start(match.lastgroup) > position)
        position = match.end()


class _Parser:
    def __init__(self, text: str, definitions: Definitions) -> None:
        self._pieces = _pieces(text)
        self._definitions = definitions
        self._tokens: list[_Token] = []
        self._loops = 0

    def block(self, ends: tuple[str, ...]) -> tuple[tuple[Node, ...], str]:
        """Returns the nodes up to one of these words, and that word. Further tokens of its action are left unread."""
        nodes: list[Node] = []
        for piece in self._pieces:
            if isinstance(piece, str):
                if piece:
                    nodes.append(Text(piece))
                continue
            self._tokens = piece
            word = piece[0].text if piece and piece[0].kind == "name" else ""
            if word in ends:
                self._tokens.pop(0)
                return tuple(nodes), word
            nodes += self._action(word)
        return tuple(nodes), ""

    def _action(self, word: str) -> list[Node]:
        if word in ("if", "with"):
            self._tokens.pop(0)
            return [self._branch(word)]
        if word == "range":
            self._tokens.pop(0)
            return [self._loop()]
        if word == "define":
            name = self._string(1)
            self._definitions[name] = Block(self._until_end(())[0])
            return []
        if word == "template":
            name = self._string(1)
            self._tokens = self._tokens[2:]
            return [Call(name, self._pipeline() if self._tokens else None)]
        if word in ("break", "continue") and self._loops and len(self._tokens) == 1:
            return [Jump(word)]
        if word in ("block", "break", "continue", "else", "end"):
            raise UnsupportedError(f"`{word}` in a template")
        return [self._assigning()]

    def _string(self, index: int) -> str:
        if len(self._tokens) <= index or self._tokens[index].kind != "string":
            raise UnsupportedError("a template's name is not in quotes")
        return str(_literal(self._tokens[index]).data)

    def _until_end(self, ends: tuple[str, ...]) -> tuple[tuple[Node, ...], str]:
        nodes, end = self.block(("end", *ends))
        if not end:
            raise UnsupportedError("a block has no end")
        return nodes, end

    def _branch(self, word: str) -> Branch:
        condition = self._assigning()
        body, end = self._until_end(("else",))
        otherwise: tuple[Node, ...] = ()
        if end == "else":
            if self._tokens:
                otherwise = (self._branch(self._tokens.pop(0).text),)
            else:
                otherwise, _ = self._until_end(())
        return Branch(word == "with", condition, body, otherwise)

    def _loop(self) -> Loop:
        names: tuple[str, ...] = ()
        count = next((n for n, token in enumerate(self._tokens) if token.text == ":="), None)
        if count is not None:
            names = tuple(token.text for token in self._tokens[:count] if token.text != ",")
            self._tokens = self._tokens[count + 1 :]
        pipeline = self._pipeline()
        self._loops += 1
        body, end = self._until_end(("else",))
        self._loops -= 1
        otherwise = self._until_end(())[0] if end == "else" else ()
        return Loop(names, pipeline, body, otherwise)

    def _assigning(self) -> Action:
        if len(self._tokens) > 1 and self._tokens[1].text in (":=", "="):
            name, sign = self._tokens.pop(0).text, self._tokens.pop(0).text
            return Action(self._pipeline(), name, sign == ":=")
        return Action(self._pipeline())

    def _pipeline(self) -> Pipeline:
        commands: list[Command] = []
        operands: list[Operand] = []
        while self._tokens and self._tokens[0].text != ")":
            token = self._tokens.pop(0)
            if token.kind == "sign" and token.text == "|":
                commands.append(tuple(operands))
                operands = []
            elif token.kind == "field" and operands and not token.spaced:
                fields = tuple(token.text[1:].split("."))
                operands[-1] = operands[-1]._replace(fields=operands[-1].fields + fields)
            else:
                operands.append(self._operand(token))
        commands.append(tuple(operands))
        if not all(commands):
            raise UnsupportedError("an expression is empty")
        return Pipeline(tuple(commands))

    def _operand(self, token: _Token) -> Operand:
        if token.kind in ("string", "number"):
            return Operand("literal", _literal(token))
        if token.kind == "field":
            return Operand("dot", None, tuple(token.text[1:].split(".")))
        if token.text == ".":
            return Operand("dot", None)
        if token.text == "(":
            inner = self._pipeline()
            if not self._tokens:
                raise UnsupportedError("a parenthesis is not closed")
            self._tokens.pop(0)
            return Operand("pipeline", inner)
        if token.text in _WORDS:
            return Operand("literal", Value(_WORDS[token.text]))
        if token.kind == "name":
            return Operand("variable" if token.text.startswith("$") else "function", token.text)
        raise UnsupportedError(f"`{token.text}` in an expression")


def _literal(token: _Token) -> Value:
    if token.kind == "number":
        return Value(float(token.text) if "." in token.text else int(token.text))
    is_plain = token.text[0] == "`" or "\\" not in token.text
    # All escapes of Go that templates use are valid in Python.
    return Value(token.text[1:-1] if is_plain else ast.literal_eval(token.text))
