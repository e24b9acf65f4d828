"""Names of resources that no node has."""

from __future__ import annotations

import re

from trainyard.engine.suggestions import unlike_ends
from trainyard.facts.hardware.resource_names import CLOSED, KNOWN, MEANT, OTHERS
from trainyard.startup import pattern

_MIG = pattern(r"nvidia\.com/mig-(?:\d+c\.)?\d+g\.\d+gb(?:[.+-][\w.+-]+)?\Z")
_LIKE_MIG = pattern(r"nvidia\.com/mig-\d+g", re.IGNORECASE)
_NAME = pattern(r"[A-Za-z0-9][\w.-]*/[\w.-]+\Z")


def unknown(name: str) -> tuple[str, str] | None:
    """Returns what is wrong with the name of a resource with a domain, and the name that is meant or nothing."""
    if not _NAME.match(name) or name in KNOWN or name in OTHERS:
        return None
    if _LIKE_MIG.match(name):
        return None if _MIG.match(name) else (f"`{name}` is not a MIG profile: no node has it", "")
    meant = MEANT.get(name) or next((one for one in KNOWN if _is_near(name, one)), None)
    domain, _, last = name.partition("/")
    if meant is None and (domain not in CLOSED or last in CLOSED[domain]):
        return None
    if meant is None and CLOSED[domain]:
        meant = f"{domain}/{CLOSED[domain][0]}"
    return f"no device plugin offers `{name}`", meant or ""


def _is_near(name: str, known: str) -> bool:
    """True if case, a domain's ending or one letter differs; digits tell things apart."""
    if name.lower() == known.lower() or known == name.replace("/", ".com/", 1):
        return True
    if abs(len(name) - len(known)) > 1 or len(known) < 10 or name[:1] != known[:1]:
        return False
    a, b = unlike_ends(name, known)
    changed = f"{a[:1]}{b[:1]}"
    return not any(sign.isdigit() or sign in "._-" for sign in changed) and (a[1:] in (b, b[1:]) or a == b[1:])
