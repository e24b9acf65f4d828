"""Recognises files that cannot be parsed and that a linter of training runs has nothing to say about.

A template of Helm, Jinja or another program becomes YAML only when it is rendered. JSON with comments belongs to an
editor or a compiler. Such a file gets a note. A damaged file that names itself as Kubernetes, as DeepSpeed or as the
values of a run stays an error: it would fail when it is used.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trainyard.loaders.training_job.values import OWN_KEYS, TELLING_KEYS

if TYPE_CHECKING:
    from trainyard.engine.subjects import Reading

_QUOTED = re.compile(r"""(?:^|(?<=[\s:\[{,-]))(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*')|(?:^|\s)#(?!\{).*$""", re.MULTILINE)
_TEMPLATE = re.compile(r"\{[{%]|%\{")
# A line of YAML is never a variable alone: envsubst or a script puts other lines there.
_LINES = re.compile(r"^\$\{\w+\}[^\S\n]*$", re.MULTILINE)
# The indentation contains no line end. Otherwise the search reads on from every empty line, in quadratic time.
_KUBERNETES = re.compile(r"""(?:^|[{,])(?:-|[^\S\n])*["']?(?:apiVersion|kind)["']?\s*:""", re.MULTILINE)
_DEEPSPEED = re.compile(r"\"(?:train_batch_size|train_micro_batch_size_per_gpu|zero_optimization)\"\s*:")
_KEY = re.compile(r"^([A-Za-z]\w*):", re.MULTILINE)


def reason(reading: Reading) -> str | None:
    """Returns the reason why a broken file is not judged; None if its faults are the user's to mend."""
    text = reading.source.text
    if not text.strip():
        return None
    fault = reading.broken[0]
    if _LINES.search(text) or _is_template(text):
        return "not checked: this is a template, which is no YAML before it is rendered"
    if any(isinstance(document.tree, dict) and "kind" in document.tree for document in reading.documents):
        return None
    if _KUBERNETES.search(text) or _DEEPSPEED.search(text) or _is_values(text):
        return None
    return f"not checked: nothing names it as Kubernetes, and it cannot be parsed: line {fault.line}: {fault.message}"


def _is_template(text: str) -> bool:
    """True if a text has an action of a template outside of quotes and comments, which end with their line."""
    found = _TEMPLATE.search(text)
    while found is not None:
        start, end = text.rfind("\n", 0, found.start()) + 1, text.find("\n", found.end())
        line = text[start : end if end >= 0 else len(text)]
        if _TEMPLATE.search(_QUOTED.sub("", line)):
            return True
        found = _TEMPLATE.search(text, start + len(line))
    return False


def _is_values(text: str) -> bool:
    """True if a damaged text has the keys of a run's values."""
    keys = set(_KEY.findall(text))
    return bool(keys & OWN_KEYS) or len(keys & (TELLING_KEYS | {"image", "resources", "fabric"})) > 1
