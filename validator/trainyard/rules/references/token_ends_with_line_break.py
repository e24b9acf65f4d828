"""A token of a Secret ends with a line break, which is not valid in the header of a request.

A block text (`|`) ends with a line break, and `echo TOKEN | base64` encodes one. Kubernetes passes it on as it is. The
libraries then fail with "Illegal header value" or "invalid header", or the server answers that the token is wrong. Some
libraries remove the line break, such as the one of Hugging Face in Python.

The rule looks at keys that name a token or a key of an API. A shell may read a password from a file, and drops
the line break; no header carries that of a database.

Write the value in one line, or with `|-`; encode it with `echo -n`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

from trainyard.analysis.objects.secrets import TOKEN_NAMES
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

# Base64 of a line break at the end.
_ENDS = ("Cg==", "o=", "K")


@rule(
    code="RF037",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "huggingface/huggingface_hub src/huggingface_hub/utils/_auth.py: _clean_token",
        "RFC 9110, 5.5: field values; kubernetes.io/docs/concepts/configuration/secret",
        "github.com/ai-dynamo/modelexpress issue 277, github.com/huggingface/text-embeddings-inference issue 29",
    ),
    needs=("Secret",),
)
def token_ends_with_line_break(resource: Resource) -> Iterator[Problem]:
    """Report tokens with a line break at their end."""
    if resource.kind != "Secret":
        return
    for field in ("stringData", "data"):
        for name, value in mapping(resource.tree, field).items():
            if not isinstance(value, str) or not TOKEN_NAMES.search(str(name)) or "{{" in value:
                continue
            plain = value if field == "stringData" else _decoded(value)
            # More than one line is a file and not a token.
            if plain.endswith("\n") and "\n" not in plain.rstrip("\r\n") and plain.strip():
                yield Problem(
                    resource.at.child(field, name),
                    f"`{name}` ends with a line break, which no header of a request can carry",
                    "write it in one line, or with `|-`" if field == "stringData" else "encode it with `echo -n`",
                )


def _decoded(value: str) -> str:
    if not value.rstrip().endswith(_ENDS):
        return ""
    try:
        return base64.b64decode(value, validate=False).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return ""
