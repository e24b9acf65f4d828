"""A token or password is in plain text: everyone who can read the job or the repository has it.

A value in `env` is part of the object. It shows in `kubectl get -o yaml`, in the audit log, in Helm's release Secret,
in the version control of the values file and in every tool that lists pods; a ConfigMap is no better. A token that was
committed once must be revoked.

The rule ignores values that refer to something else (`$(NAME)`, `${NAME}`, a path, `file://`), values that are empty,
too short, or obvious placeholders (`<your token>`, `ch4ngeme`, `test-only`, `from_file`, also in base64), defaults that
everyone knows or guesses (`minio123`, `rootsecret`, `P@ssw0rd`, the name of the user), and names of a tokenizer's
special tokens, such as `EOS_TOKEN`.

`password-of-example` is about folders of examples and tests. Keys and tokens that a service has issued are reported
there, too.

Put the value into a Secret and refer to it with `valueFrom.secretKeyRef`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.plain_secrets import is_of_example, is_plain_secret
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Setting


@rule(
    code="SC004",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "Kubernetes documentation, Good practices for Kubernetes Secrets",
        "Kubernetes documentation, ConfigMaps: not for confidential data",
    ),
)
def token_in_plain_env(setting: Setting, context: Context) -> Iterator[Problem]:
    """A plain-text value of a variable that holds a secret."""
    if is_plain_secret(setting, context.container) and not is_of_example(setting):
        yield Problem(
            setting.at,
            f"the value of {setting.name} is in plain text: everyone who can read this object has it",
            "put it into a Secret, refer to it with valueFrom.secretKeyRef, and revoke this one",
        )
