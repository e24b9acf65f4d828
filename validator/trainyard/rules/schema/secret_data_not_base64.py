"""A value in `data` of a Secret is not base64, so the API server refuses the Secret.

`data` takes base64, and `stringData` takes text. A token in `data` as it is fails with "illegal base64 data at input
byte 2", and every pod that refers to the Secret waits for it. A Secret does not replace `$(NAME)` either: that is the
text which it would hold.

The rule ignores placeholders of templates, such as `{{ .Values.token }}`, `${TOKEN}`, `$TOKEN`, `__TOKEN__`,
`<base64>`, `op://vault/token` and `TOKEN_OF_YOURS`, and `$(NAME)` if `NAME` is among the `vars` of a kustomization, or
if the kustomization beside the file replaces values of the Secret.

Move the value to `stringData`, or encode it: `printf %s TOKEN | base64 -w0`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trainyard.analysis.objects.secrets import PLACEHOLDER, decoded
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.loaders.schemas.partial import KUSTOMIZATIONS, is_patched
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource


@rule(
    code="SM012",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/configuration/secret: data holds base64, stringData any text",
        "github.com/ogx-ai/ogx pull 1914",
    ),
    needs=("Secret",),
)
def secret_data_not_base64(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report values of a Secret that cannot be decoded."""
    if resource.kind != "Secret" or resource.api_version != "v1" or "sops" in resource.tree:
        return
    for name, value in mapping(resource.tree, "data").items():
        if (
            isinstance(value, str)
            and not PLACEHOLDER.search(value)
            and decoded(value) is None
            and not (value.startswith("$(") and _is_replaced(resource, value, context.project))
        ):
            yield Problem(
                resource.at.child("data", name),
                f"the value of `{name}` is not base64: the API server rejects Secret `{resource.name}`",
                "write the text under `stringData` instead of `data`",
            )


def _is_replaced(resource: Resource, value: str, project: Project) -> bool:
    return value[2:-1] in _vars.of(project) or is_patched(resource.at.document, resource.name)


def _find_vars(project: Project) -> frozenset[str]:
    """Returns the variables of all kustomizations, which replace them in the fields that their configuration names."""
    return frozenset(
        text(mapping(one), "name")
        for document in project.documents
        if Path(document.source.name).name in KUSTOMIZATIONS
        for one in items(document.tree, "vars")
    )


_vars: LastIndex[Project, frozenset[str]] = LastIndex(_find_vars)
