"""An example or a test has a password in plain text, which its readers copy.

Manifests of tutorials, demos and tests hold passwords that protect nothing, so this is advice. Users apply examples as
they are, and then their database has a password that everyone can read.

`token-in-plain-env` describes which values count. A folder below the linted one tells an example: its name has a word
such as `examples`, `samples`, `tutorial`, `demo`, `tests`, `e2e` or `hack`. A folder `test` may be an environment.

Refer to a Secret with `valueFrom.secretKeyRef`, and let the reader create it.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.plain_secrets import is_of_example, is_plain_secret
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Setting


@rule(
    code="SC062",
    severity="info",
    confidence="high",
    since="0.4.0",
    sources=("Kubernetes documentation, Good practices for Kubernetes Secrets",),
)
def password_of_example(setting: Setting, context: Context) -> Iterator[Problem]:
    """A plain-text password in a folder of examples or tests."""
    if is_plain_secret(setting, context.container) and is_of_example(setting):
        yield Problem(
            setting.at,
            f"the value of {setting.name} is in plain text, and readers of this example copy it",
            "refer to a Secret with valueFrom.secretKeyRef, and let the reader create it",
        )
