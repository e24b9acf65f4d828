"""Reads plain manifests with a parser that is ten times as fast and knows no positions.

Most files are clean, and only findings need positions. yaml_rs follows YAML 1.2; Helm and kubectl read words such as
`on` and numbers such as `010` as YAML 1.1. So yaml_rs gets only the plainest notation, line by line, which both parsers
read alike. `tests/validator/document/test_fast_yaml.py` compares them.
"""

from __future__ import annotations

import re
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from types import ModuleType

from trainyard.document.budget import Budget, is_surely_within
from trainyard.document.document import Document
from trainyard.document.source import Source, distinct_lines
from trainyard.startup import pattern

_NO_TEXT = "true|True|TRUE|false|False|FALSE|null|Null|NULL"
_SWITCH = "y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF"

_KEY = rf"(?!(?:{_NO_TEXT}|{_SWITCH}):)[A-Za-z_][\w./-]*+"
# yaml_rs takes a date in quotes for a date, although it is text.
_NO_DATE = r"(?![0-9]{4}-[0-9])"
_QUOTED = rf""" "{_NO_DATE}[^"\\\n]*+" | '{_NO_DATE}[^'\n]*+' """
_START = r"(?: --?[A-Za-z] | [A-Za-z/^$=](?=[\w./:(]) | [A-Za-z] )"
_LETTER = r"[\w./=@$()^+~-] | :(?=[\w./])"
_PLAIN = rf"(?!(?:{_SWITCH})[ ]*+(?:\Z|\#)) {_START} (?: {_LETTER} | , | [ ](?=[\w./=@$()^+,~-]) )*"
_NUMBER = r"-?(?:0|[1-9][0-9]{0,14}) (?:\.[0-9]{1,6})? (?:[kMGTPE]i|[kmMGTPE])?"
_ITEM = rf"""
    (?: {_QUOTED}
      | (?!(?:{_SWITCH})[,\]}}]) (?: --?[A-Za-z] | [A-Za-z/] ) (?: {_LETTER} )* (?=[,\]}}])
      | -?(?:0|[1-9][0-9]{{0,14}}) (?=[,\]}}])
    )"""
# Each part stands once in the pattern, because compiling it takes a twentieth of the time of linting one file.
_LIST = rf"\[ (?: {_ITEM} (?: (?=\]) | ,[ ]? (?!\]) ) )* \]"
_FIELD = rf"{_KEY}:[ ]{_ITEM}"
_MAPPING = rf"\{{ (?: {_FIELD} (?: (?=\}}) | ,[ ]? (?!\}}) ) )* \}}"
_VALUE = rf"(?: {_QUOTED} | {_PLAIN} | {_NUMBER} | {_LIST} | {_MAPPING} ) (?=[ ]|\Z)"
_LINE = rf"""
    [ ]{{0,80}}+
    (?: (?:-[ ]){{0,3}}
        (?: (?P<key> (?: {_KEY} | "{_NO_DATE}[\w\ ./-]*+" ):(?=[ ]|\Z) ) | (?<=-[ ]) )
        (?: (?(key)[ ]) {_VALUE} | (?(key)|(?!)) )
    )?
    [ ]*+ (?: (?:(?<=\s)|(?<=^)) \#[^\n]*+ )?"""
_PLAIN_LINE = pattern(_LINE, re.VERBOSE | re.ASCII)
# Plain lines of the last files: most lines of a job are in other jobs, too.
_known: set[str] = set()
_MOST_KNOWN = 10_000


def _parser() -> ModuleType | None:
    """Returns the parser's binary alone; None if there is none for this platform.

    The package around it imports pathlib and urllib for a writer, in a seventh of the time of linting one file.
    """
    if _BINARY in sys.modules:
        return sys.modules[_BINARY]
    package = PathFinder.find_spec("yaml_rs")
    spec = PathFinder.find_spec(_BINARY, package.submodule_search_locations) if package is not None else None
    if spec is None or spec.loader is None:
        return None
    # A process can load the binary only once: the package, if anything imports it, takes it from here.
    found = sys.modules[_BINARY] = module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


_BINARY = "yaml_rs._yaml_rs"
# Without it, the other parser reads everything, more slowly.
_yaml_rs = _parser()


def read_plain(source: Source) -> list[Document] | None:
    """Returns the only document of a text, or None if the text needs the other parser."""
    text = source.text
    if _yaml_rs is None or not text.isascii() or not _is_plain(source):
        return None
    try:
        tree = _yaml_rs._loads(text, duplicate_key_policy="error")
    except _yaml_rs.YAMLDecodeError:
        return None
    # The other parser says where the budget ends.
    if not isinstance(tree, dict) or not (is_surely_within(text) or Budget(text).take(tree) is None):
        return None
    return [Document(source, 0, tree, ())]


def _is_plain(source: Source) -> bool:
    if len(_known) > _MOST_KNOWN:
        _known.clear()
    unknown = distinct_lines(source) - _known
    if not all(map(_PLAIN_LINE.fullmatch, unknown)):
        return False
    _known.update(unknown)
    return True
