"""One field of the configuration: its default, what it may be, and its documentation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds:
    """The values that an option takes. Numbers are finite besides."""

    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    below: float | None = None
    choices: tuple[str, ...] = ()

    def hold(self, value: Any) -> bool:
        """Whether `value` is within them."""
        if self.choices:
            return value in self.choices
        if isinstance(value, bool) or not isinstance(value, int | float):
            return True
        return (
            math.isfinite(value)
            and (self.at_least is None or value >= self.at_least)
            and (self.above is None or value > self.above)
            and (self.at_most is None or value <= self.at_most)
            and (self.below is None or value < self.below)
        )

    def __str__(self) -> str:
        if self.choices:
            return "one of " + ", ".join(self.choices)
        said = [
            f"{words} {bound:g}" if isinstance(bound, float) else f"{words} {bound}"
            for words, bound in (
                ("at least", self.at_least),
                ("above", self.above),
                ("at most", self.at_most),
                ("below", self.below),
            )
            if bound is not None
        ]
        return " and ".join(said) or "a finite number"

    def as_json_schema(self) -> dict[str, Any]:
        """The same in JSON Schema's keywords."""
        keywords = {
            "minimum": self.at_least,
            "exclusiveMinimum": self.above,
            "maximum": self.at_most,
            "exclusiveMaximum": self.below,
            "enum": list(self.choices) or None,
        }
        return {keyword: value for keyword, value in keywords.items() if value is not None}


def option(default: Any, explanation: str, **bounds: Any) -> Any:
    """A field with `default`, documented by `explanation`; `bounds` are fields of `Bounds`."""
    return field(default=default, metadata={"help": explanation, "bounds": Bounds(**bounds)})


def flag(name: str, value: object = None) -> str:
    """The command-line spelling of the field `name`, with its `value` if there is one: `--batch-size 32`."""
    spelled = name.replace("_", "-")
    if isinstance(value, bool):
        return f"--{spelled}" if value else f"--no-{spelled}"
    return f"--{spelled}" if value is None else f"--{spelled} {value}"
