"""Reads `checks` of the configuration. Errors name the file, the line and the remedy."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from trainyard.checks.check import Case, Check, Match
from trainyard.checks.values import VARIABLES
from trainyard.document import opening
from trainyard.document.document import Document, Place
from trainyard.document.errors import MistakeError
from trainyard.document.source import Path
from trainyard.document.text import Text
from trainyard.engine import registry
from trainyard.engine.rule import SEVERITIES
from trainyard.engine.selection import nearest

_CODE = re.compile(r"[A-Z]{2,8}[0-9]{3,4}")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")
# A step of a place: a field, an index in brackets, or a quoted field in brackets.
_STEP = re.compile(r"""\.?([A-Za-z_][\w-]*)|\[(\d+)\]|\[(?:"([^"]*)"|'([^']*)')\]""")
_REQUIRED = ("code", "name", "expression", "message")
_TEXTS = ("severity", "subject", "messageExpression", "help", "link", "description", "at")
_KEYS = (*_REQUIRED, *_TEXTS, "match", "cases")


class CheckError(MistakeError):
    """A mistake in a check; `args[0]` gives the place in the configuration, the mistake and the remedy."""


class Checks:
    """The checks of one configuration. `root` is the folder that the files of their cases may not leave."""

    def __init__(self, name: str, document: Document, root: str | None) -> None:
        self._name = name
        self._document = document
        self._root = root

    def read(self, written: Any) -> tuple[Check, ...]:
        """Returns the checks. Raises `CheckError`."""
        if not isinstance(written, list):
            raise self._error((), "write a list of checks, each with `code`, `name`, `expression` and `message`")
        checks = [self._check(index, entry) for index, entry in enumerate(written)]
        self._are_distinct(checks)
        return tuple(checks)

    def _check(self, index: int, entry: Any) -> Check:
        at: Path = (index,)
        self._known(at, entry, _KEYS)
        for key in _REQUIRED:
            if not entry.get(key):
                raise self._error(at, f"`{key}` is missing; {_MEANINGS[key]}")
        texts = {key: self._text((*at, key), entry.get(key) or "") for key in (*_REQUIRED, *_TEXTS)}
        subject = texts["subject"] or "object"
        self._one_of((*at, "subject"), subject, VARIABLES)
        severity = next((one for one in SEVERITIES if one == (texts["severity"] or "error")), None)
        if severity is None:
            self._one_of((*at, "severity"), texts["severity"], SEVERITIES)
            raise AssertionError
        self._fits((*at, "code"), texts["code"], _CODE, "such as ACME001: capital letters, then three or four digits")
        self._fits((*at, "name"), texts["name"], _NAME, "such as owner-label-missing: words with dashes")
        if texts["link"] and not texts["link"].startswith(("https://", "http://")):
            raise self._error((*at, "link"), "write an address that begins with https://")
        return Check(
            code=texts["code"],
            name=texts["name"],
            severity=severity,
            subject=subject,
            expression=texts["expression"],
            message=texts["message"],
            message_expression=texts["messageExpression"],
            help=texts["help"],
            link=texts["link"],
            description=texts["description"],
            match=self._match((*at, "match"), entry.get("match") or {}),
            at=self._place((*at, "at"), texts["at"]),
            at_text=texts["at"],
            cases=self._cases((*at, "cases"), entry.get("cases") or {}),
            where=self._where(at),
            source=os.path.relpath(self._file(at)),
        )

    def _match(self, at: Path, written: Any) -> Match:
        self._known(at, written, Match._fields)
        return Match(**{key: self._texts((*at, key), written[key]) for key in written})

    def _place(self, at: Path, text: str) -> Path:
        steps: list[str | int] = []
        end = 0
        while end < len(text):
            step = _STEP.match(text, end)
            if step is None:
                raise self._error(at, f'`{text[end:]}` is no path; write one such as `metadata.labels["team"]`')
            name, index, *quoted = step.groups()
            steps.append(int(index) if index else name or quoted[0] or quoted[1] or "")
            end = step.end()
        return tuple(steps)

    def _cases(self, at: Path, written: Any) -> tuple[Case, ...]:
        self._known(at, written, ("good", "bad"))
        cases = []
        for kind, entries in written.items():
            if not isinstance(entries, list):
                raise self._error((*at, kind), "write a list of manifests, or of names of files")
            for index, entry in enumerate(entries):
                here = (*at, kind, index)
                text, name = self._case(here, entry)
                cases.append(Case(text, kind == "bad", name, self._where(here)))
        return tuple(cases)

    def _case(self, at: Path, entry: Any) -> tuple[str, str]:
        """Returns the text of a case and its name in messages."""
        name = self._key(at)
        if isinstance(entry, dict):
            import yaml

            return yaml.safe_dump(entry, sort_keys=False), name
        text = self._text(at, entry)
        if "\n" in text:
            return text, name
        path = os.path.join(os.path.dirname(self._name), text)
        try:
            return opening.read_text(path, self._root), path
        except (OSError, UnicodeDecodeError) as error:
            reason = opening.reason(error) if isinstance(error, OSError) else "it is not UTF-8 text"
            raise self._error(at, f"{text} cannot be read: {reason}; write a manifest, or the name of a file") from None

    def _are_distinct(self, checks: Iterable[Check]) -> None:
        prefixes = {rule.code.rstrip("0123456789") for rule in registry.rules()}
        known = {word: rule.name for rule in registry.rules() for word in (rule.name, rule.code)}
        for index, check in enumerate(checks):
            for key, word in (("name", check.name), ("code", check.code)):
                if word in known:
                    raise self._error((index, key), f"`{word}` is that of the rule `{known[word]}`; choose another")
                known[word] = check.name
            prefix = check.code.rstrip("0123456789")
            if prefix in prefixes:
                raise self._error((index, "code"), f"codes with {prefix} are those of Trainyard; choose other letters")

    def _known(self, at: Path, tree: Any, names: Iterable[str]) -> None:
        if not isinstance(tree, dict):
            raise self._error(at, "write a mapping, `key: value`")
        for key in tree:
            if key not in names:
                hint = nearest(str(key), names) or f"write one of {', '.join(names)}"
                raise self._error((*at, str(key)), f"there is no such key; {hint}")

    def _one_of(self, at: Path, word: str, names: Iterable[str]) -> None:
        if word not in names:
            hint = nearest(word, names)
            listed = f"write one of {', '.join(names)}"
            raise self._error(at, f"there is no `{word}`; {hint or listed}")

    def _fits(self, at: Path, word: str, pattern: re.Pattern[str], wanted: str) -> None:
        if not pattern.fullmatch(word):
            raise self._error(at, f"write a word {wanted}, not `{word}`")

    def _text(self, at: Path, value: Any) -> str:
        if not isinstance(value, str):
            raise self._error(at, f"write a string, not `{value}`")
        return value

    def _texts(self, at: Path, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._error(at, "write a list of strings")
        return tuple(value)

    def _error(self, at: Path, reason: str) -> CheckError:
        return CheckError(f"{self._where(at)}: {reason}")

    def _where(self, at: Path) -> str:
        return f"{self._file(at)}: {self._key(at)}"

    def _file(self, at: Path) -> str:
        """Returns the name of the file and the line, which is unknown in a TOML file."""
        if isinstance(self._document, Text):
            return self._name
        return f"{self._name}:{self._document.locate(Place(self._document, ('checks', *at))).line}"

    @staticmethod
    def _key(at: Path) -> str:
        return "checks" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in at)


_MEANINGS = {
    "code": "a short name for `select`, such as ACME001",
    "name": "it states the fault, such as owner-label-missing",
    "expression": "it is true for a correct object, such as `has(object.metadata.labels)`",
    "message": "it states the fault in a sentence",
}
