"""Types of options, from `add_argument` and from the types of fields."""

from __future__ import annotations

import ast

from tools.generate.program_options.option import Option
from tools.generate.program_options.sources import Sources, last_name

_SWITCHES = frozenset(("store_true", "store_false", "store_const", "count", "append_const", "help", "version"))
# Lists of more words are those of a registry that is open.
_MOST_WORDS = 80


def of_call(call: ast.Call, sources: Sources, base: Option | None = None) -> Option:
    """Returns what an `add_argument` takes; `base` is what a dictionary of keywords says."""
    told = {word.arg: word.value for word in call.keywords if word.arg}
    return of_keywords(told, sources, base or Option("v"))


def of_keywords(told: dict[str, ast.expr], sources: Sources, option: Option) -> Option:
    """Returns what an option takes by the keywords of `add_argument`; `option` if they say nothing."""
    found = _of_action(told.get("action")) or _of_nargs(told.get("nargs"))
    if found is not None:
        return found
    if "Deprecated" in last_name(told.get("action")):
        return Option("?")
    if "choices" in told:
        words = sources.words(told["choices"])
        return Option("c", tuple(dict.fromkeys(words))) if words and len(words) <= _MOST_WORDS else Option("v")
    return option


def _of_action(action: ast.expr | None) -> Option | None:
    if isinstance(action, ast.Constant):
        return Option("b") if action.value in _SWITCHES else None
    name = last_name(action)
    if "BooleanOptional" in name:
        return Option("o")
    return Option("b") if "StoreTrue" in name or "StoreConst" in name else None


def _of_nargs(nargs: ast.expr | None) -> Option | None:
    if nargs is None:
        return None
    if not isinstance(nargs, ast.Constant):
        return Option("*")
    if nargs.value == 0:
        return Option("b")
    if nargs.value in ("?", "*"):
        return Option(str(nargs.value))
    return Option("n") if nargs.value == "+" or (isinstance(nargs.value, int) and nargs.value > 1) else None


def of_type(annotation: ast.expr, sources: Sources) -> Option:
    """Returns what an option made of a field of one of vLLM's configurations takes."""
    leaves = sources.leaves(annotation)
    names = {last_name(leaf) for leaf in leaves}
    if any(name in sources.classes and name.endswith(("Config", "Params")) for name in names):
        return Option("v")
    if "bool" in names:
        return Option("o")
    literal = next((leaf for leaf in leaves if last_name(leaf) == "Literal"), None)
    if literal is not None:
        words = sources.words(literal)
        return Option("c", tuple(sorted(set(words)))) if words and "str" not in names else Option("v")
    if names & {"list", "List", "tuple", "Tuple", "set", "Set", "Sequence", "frozenset"}:
        return Option("n")
    return Option("v")
