"""Metrics ports: the nodes share the ports of one machine, unlike pods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def in_words(words: Sequence[str], port: int, other: int) -> tuple[str, ...]:
    """Returns arguments with another port in every `--...port PORT` and `--...port=PORT`."""
    before = ("", *words)
    return tuple(_word(word, option, str(port), str(other)) for word, option in zip(words, before, strict=False))


def in_fields(fields: dict[str, Any], port: int, other: int) -> dict[str, Any]:
    """Returns a configuration with another port in every field with a name that ends in port."""
    return {key: other if key.endswith("port") and value == port else value for key, value in fields.items()}


def _word(word: str, before: str, port: str, other: str) -> str:
    name, equals, value = word.partition("=")
    if not equals:
        return other if word == port and _is_port(before) else word
    return f"{name}={other}" if value == port and _is_port(name) else word


def _is_port(option: str) -> bool:
    return option.startswith("-") and option.endswith("port")
