"""Parameters in values, which a workflow replaces when it creates an object: their values are not in the files.

Sources: kubeflow/katib pkg/apis/controller/experiments/v1beta1: `${trialParameters.NAME}`; argoproj/argo-workflows
docs/variables.md: `{{inputs.parameters.NAME}}` and `{{=EXPRESSION}}`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from trainyard.document.source import lines
from trainyard.startup import pattern

if TYPE_CHECKING:
    from trainyard.document.document import Place

_KATIB = "${trialParameters."
_ARGO = "{{"
# An action outside of quotes is no YAML; this has the same length, so that places stay.
_ACTION = pattern(r"\{\{([^{}\n]*)\}\}")
_MASKED = pattern(r"\$<[^<>\n]*>\$")
# A field of a format string of Python where a name belongs, and one of Jinja with other brackets; YAML reads them as a
# mapping and as a list in a list.
_FIELD = pattern(
    r"(?m)^[^\S\n]*(?:-[^\S\n]+)?(?:name:[^\S\n]+\{[A-Za-z_]\w*\}|\w+:[^\S\n]+\[\[[A-Za-z_]\w*\]\])[^\S\n]*$"
)
# Variables of envsubst: `${NAME}`, `${NAME:=default}`, and `$NAME` as a whole value.
# Source: fluxcd.io/flux/components/kustomize/kustomizations, Post build variable substitution.
_VARIABLE = pattern(r"\$\{[A-Za-z_]\w*(?::?[-=?+][^}]{0,256})?\}|^\$[A-Z_][A-Z0-9_]*$")
# A shell may expand the values of these, and a rule says so if none does.
_SHELL = frozenset(
    ("containers", "initContainers", "data", "stringData", "env", "args", "command", "entrypoint", "runtimeEnvYAML")
)
# Source: carvel.dev/ytt/docs/v0.50.x/lang: directives, and annotations with the name of a module.
_YTT = pattern(r"(?m)(?:^|\s)#@(?:overlay/|schema/|data/values| (?:load\(|def |if |if/|for |end$|data\.values))")
# Source: getsops/sops aes/cipher.go: Encrypt.
ENCRYPTED = "ENC[AES256_GCM,"
# The fields of data, and the one in which sops keeps what it needs.
_DATA = ("data", "stringData", "sops")
_ANY = pattern(r"\$\{trialParameters\.[^}]*\}|\{\{.*?\}\}|\$<[^<>\n]*>\$")


def masked(text: str) -> str:
    """Returns a text in which every action of a template is a plain scalar of the same length."""
    return _ACTION.sub(r"$<\1>$", text)


def is_format_string(text: str) -> bool:
    """True for the template of an object that a program formats: `name: {name}`, or `parallelism: [[size]]`."""
    return ("name: {" in text or ": [[" in text) and _FIELD.search(text) is not None


def is_word_in_braces(value: Any) -> bool:
    """True for a word in braces, `{volume-id}`, which a user or a program replaces. YAML reads a mapping."""
    return isinstance(value, dict) and len(value) == 1 and None in value.values()


def is_ytt(text: str) -> bool:
    """True for a template or an overlay of ytt, whose directives are comments: without them it is another object."""
    return "#@" in text and _YTT.search(text) is not None


def is_encrypted(tree: Any) -> bool:
    """True for an object with values that sops has encrypted, apart from those of a Secret or a ConfigMap."""
    if not isinstance(tree, dict) or not isinstance(tree.get("sops"), dict):
        return False
    return any(_has_encrypted(value) for field, value in tree.items() if field not in _DATA)


def _has_encrypted(value: Any) -> bool:
    if isinstance(value, str):
        return value.startswith(ENCRYPTED)
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(map(_has_encrypted, parts))


def has_parameter(text: str) -> bool:
    """True if a text contains a parameter."""
    return _ARGO in text or _KATIB in text or ("$<" in text and _MASKED.search(text) is not None)


def is_parameter(place: Place) -> bool:
    """True if the value at a place, or the line of its text, is a word with a parameter."""
    value: Any = place.document.tree
    for step in place.path:
        known = step in value if isinstance(value, dict) else isinstance(value, list) and step in range(len(value))
        if not known:
            return False
        value = value[step]
    if isinstance(value, str) and place.line:
        # The lines of a script are kept.
        every = value.split("\n") if place.path else lines(place.document.source)
        value = next(iter(every[place.line - 1 : place.line]), "")
    if not isinstance(value, str):
        return False
    text = value.strip()
    if has_parameter(text) and not re.search(r"\s", _ANY.sub("", text)):
        return True
    return "$" in text and _SHELL.isdisjoint(place.path) and not re.search(r"\s", text) and has_variable(text)


def has_variable(text: str) -> bool:
    """True if a text contains a variable, which Flux or envsubst replaces: Kubernetes has none of this form."""
    return _VARIABLE.search(text) is not None
