"""Documents from a parser that is ten times as fast and knows no places, for plain manifests.

Most files are clean, and only findings need places. yaml_rs follows YAML 1.2; Helm and kubectl read words such as `on`
and numbers such as `010` in the way of YAML 1.1. So it is given only what is written in the plainest way, line by line:
what both parsers read alike. `tests/validator/test_quick.py` holds them against each other.
"""

from __future__ import annotations

import re

import yaml_rs

from validator.source import Document, Source

_NO_TEXT = "true|True|TRUE|false|False|FALSE|null|Null|NULL"
_SWITCH = "y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF"

_KEY = rf"(?!(?:{_NO_TEXT}):)[A-Za-z_][\w./-]*+"
_QUOTED = r""" "[^"\\\n]*+" | '[^'\n]*+' """
_START = r"(?: --?[A-Za-z] | [A-Za-z/^$=](?=[\w./:(]) | [A-Za-z] )"
_LETTER = r"[\w./=@$()^+~-] | :(?=[\w./])"
_PLAIN = rf"(?!(?:{_SWITCH})[ ]*+(?:\n|\Z|\#)) {_START} (?: {_LETTER} | , | [ ](?=[\w./=@$()^+,~-]) )*"
_NUMBER = r"-?(?:0|[1-9][0-9]{0,14}) (?:\.[0-9]{1,6})? (?:[kMGTPE]i|[kmMGTPE])?"
_ITEM = rf"""
    (?: {_QUOTED}
      | (?!(?:{_SWITCH})[,\]}}]) (?: --?[A-Za-z] | [A-Za-z/] ) (?: {_LETTER} )* (?=[,\]}}])
      | -?(?:0|[1-9][0-9]{{0,14}}) (?=[,\]}}])
    )"""
_LIST = rf"\[ (?: {_ITEM} (?: ,[ ]? {_ITEM} )* )? \]"
_FIELD = rf"{_KEY}:[ ]{_ITEM}"
_MAPPING = rf"\{{ (?: {_FIELD} (?: ,[ ]? {_FIELD} )* )? \}}"
_VALUE = rf"(?: {_QUOTED} | {_PLAIN} | {_NUMBER} | {_LIST} | {_MAPPING} ) (?=[ \n]|\Z)"
_LINE = rf"""
    [ ]{{0,80}}+
    (?: (?:-[ ]){{0,3}}
        (?: (?: {_KEY} | "[\w\ ./-]*+" ):(?=[ \n]) (?: [ ] {_VALUE} )?
          | (?<=-[ ]) {_VALUE}
        )
    )?
    [ ]*+ (?: (?:(?<=\s)|(?<=^)) \#[^\n]*+ )? (?:\n|\Z)"""
# An atomic group for each line, and no possessive ones: Python 3.11 up to 3.11.4 gets those wrong.
_PLAIN_MANIFEST = re.compile(f"(?: (?>{_LINE}) )*", re.VERBOSE | re.ASCII)


def read(source: Source) -> list[Document] | None:
    """The only document of a text, or None when it is for the other parser."""
    text = source.text
    if not text.isascii() or _PLAIN_MANIFEST.fullmatch(text) is None:
        return None
    try:
        tree = yaml_rs.loads(text)
    except yaml_rs.YAMLDecodeError:
        return None
    return [Document(source, 0, tree, ())] if isinstance(tree, dict) else None
