"""A value in `data` of a Secret is plain text that happens to be base64, so the pods get other bytes.

`data` takes base64. A key of 40 hexadecimal digits, or a word of 8 letters, is valid base64 too: the API server decodes
it without a word. The program then sends a token that nobody knows. In a variable the bytes are worse, because the
runtime takes only UTF-8 there, and the container does not start.

The rule decodes values whose key names a token or an API key, and those that pods in the files use as variables. It
reports what is no UTF-8. It leaves out placeholders, words in capitals, and a value that several keys have. Keys of
signatures may have any bytes in a file.

Write the text under `stringData`, or encode it: `printf %s TOKEN | base64 -w0`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trainyard.analysis.objects.secrets import PLACEHOLDER, TOKEN_NAMES, decoded
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource

_ALL = ""
# Shorter ones, such as `test`, are for tests.
LEAST = 8


@rule(
    code="RF050",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/configuration/secret: data holds base64, stringData any text",
        "kubernetes/cri-api pkg/apis/runtime/v1/api.proto: KeyValue.value of a variable is a string, which is UTF-8",
        "github.com/cbeneke/hcloud-fip-controller issue 54",
    ),
    needs=("Secret",),
)
def token_of_random_bytes(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report tokens that were not encoded."""
    if resource.kind != "Secret" or resource.api_version != "v1" or "sops" in resource.tree:
        return
    used = _used.of(context.project).get((resource.namespace, resource.name), set())
    data = mapping(resource.tree, "data")
    repeated = Counter(value for value in data.values() if isinstance(value, str))
    for name, value in data.items():
        is_signature = "secret" in name.lower().replace("-", "_").split("_")
        is_token = TOKEN_NAMES.search(str(name)) is not None and not is_signature
        if not isinstance(value, str) or PLACEHOLDER.search(value) or not (is_token or used & {name, _ALL}):
            continue
        # A word in capitals stands for a value that was removed, and so does one for several keys.
        is_removed = repeated[value] > 1 or (value.isalpha() and value.isupper())
        if len(value) >= LEAST and not is_removed and _is_no_text(decoded(value)):
            yield Problem(
                resource.at.child("data", name),
                f"`{name}` is base64 of bytes that are not text: it looks like the plain value, which was not encoded",
                "write the text under `stringData`, or encode it with `base64`",
            )


def _is_no_text(value: bytes | None) -> bool:
    try:
        (value or b"").decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def _find_used(project: Project) -> dict[tuple[str, str], set[str]]:
    """Returns the keys of Secrets that are variables, by namespace and name; the empty one stands for all keys."""
    found: dict[tuple[str, str], set[str]] = {}
    for run in project.runs:
        for role in run.roles:
            for container in (*role.pod.containers, *role.pod.init_containers):
                for entry in items(container.tree, "envFrom"):
                    found.setdefault((run.namespace, text(entry, "secretRef", "name")), set()).add(_ALL)
                for entry in items(container.tree, "env"):
                    told = mapping(entry, "valueFrom", "secretKeyRef")
                    found.setdefault((run.namespace, text(told, "name")), set()).add(text(told, "key") or "?")
    return found


_used: LastIndex[Project, dict[tuple[str, str], set[str]]] = LastIndex(_find_used)
