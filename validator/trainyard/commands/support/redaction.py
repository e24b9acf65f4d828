"""Removes secrets from objects and texts before they are written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

LEFT_OUT = "<left out>"
# Not `max_tokens` and `tokenizer`.
_NAME = (
    r"token(?!s|iz)|secret|passw(?:or)?d|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|credentials?"
    r"|authorization"
)
_SECRET_FIELD = re.compile(rf"(?i){_NAME}")
_SECRET_NAME = re.compile(rf"(?i){_NAME}|(?:^|_)(?:key|auth|pass|pwd)(?:$|_)")
_ASSIGNED = re.compile(
    rf"(?i)\b([\w.-]*(?:{_NAME})[\"']?(?:\s*[=:]\s*|\s+(?=\S*\d)))"
    rf"(?!{LEFT_OUT})(?:\"[^\"]*\"|'[^']*'|(?:Bearer\s+)?[^\s,;\"']+)"
)
_IN_URL = re.compile(r"(?<=://)[^\s/@:]+:[^\s/@]+(?=@)")
# Tokens that are known by their form: Hugging Face, GitHub, AWS, Weights & Biases, JSON Web Tokens.
_FORMS = re.compile(
    r"\bhf_\w{16,}|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bwandb_v1_\w{20,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|(?<=Bearer )\S+"
)
_KEY_BLOCK = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)", re.DOTALL)
_SHORTEST = 6
_DROPPED = ("managedFields", "kubectl.kubernetes.io/last-applied-configuration")


class Redaction:
    """Removes secrets, among them the values of secret-like variables wherever a text repeats them."""

    def __init__(self, objects: Iterable[dict[str, Any]] = ()) -> None:
        self._values: set[str] = set()
        for tree in objects:
            self._collect(tree)
        longest_first = sorted(self._values, key=len, reverse=True)
        self._literals = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def text(self, text: str) -> str:
        """Returns the text without secrets."""
        if self._literals is not None:
            text = self._literals.sub(LEFT_OUT, text)
        text = _FORMS.sub(LEFT_OUT, _IN_URL.sub(LEFT_OUT, _KEY_BLOCK.sub(LEFT_OUT, text)))
        return _ASSIGNED.sub(rf"\g<1>{LEFT_OUT}", text)

    def tree(self, value: Any) -> Any:
        """Returns an object without secrets."""
        if isinstance(value, dict):
            if _is_secret_variable(value):
                return {**value, "value": LEFT_OUT}
            return {
                key: LEFT_OUT if _is_secret_field(key, item) else self.tree(item)
                for key, item in value.items()
                if key not in _DROPPED
            }
        if isinstance(value, list):
            return [self.tree(item) for item in value]
        return self.text(value) if isinstance(value, str) else value

    def _collect(self, value: Any) -> None:
        if isinstance(value, dict):
            if _is_secret_variable(value) and len(value["value"]) >= _SHORTEST:
                self._values.add(value["value"])
            for item in value.values():
                self._collect(item)
        elif isinstance(value, list):
            for item in value:
                self._collect(item)


def _is_secret_field(key: str, value: Any) -> bool:
    # The name of a Secret is none.
    return isinstance(value, str) and key != "secretName" and _SECRET_FIELD.search(key) is not None


def _is_secret_variable(value: dict[str, Any]) -> bool:
    name, given = value.get("name"), value.get("value")
    return isinstance(name, str) and isinstance(given, str) and _SECRET_NAME.search(name) is not None
