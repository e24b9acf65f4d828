"""A token or password is in plain text: everyone who can read the job or the repository has it.

A value in `env` is part of the object. It shows in `kubectl get -o yaml`, in the audit log, in Helm's release Secret,
in the version control of the values file and in every tool that lists pods; a ConfigMap is no better. A token that was
committed once must be revoked.

The rule ignores values that refer to something else (`$(NAME)`, `${NAME}`, a path, `file://`), values that are empty,
too short, or obvious placeholders (`<your token>`, `ch4ngeme`, `test-only`, `from_file`, also in base64), defaults that
everyone knows or guesses (`minio123`, `rootsecret`, `P@ssw0rd`, the name of the user), and names of a tokenizer's
special tokens, such as `EOS_TOKEN`.

Put the value into a Secret and refer to it with `valueFrom.secretKeyRef`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Setting
from trainyard.startup import pattern

NAMES = pattern(
    r"(?:^|_)(?:TOKEN|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|SECRET|SECRET_(?:ACCESS_)?KEY|PRIVATE_KEY|STORAGE_KEY)$"
)
# A word of at least four letters, and the end of a password that everybody adds.
STEM = pattern(r"([a-z]{4,})(?:[-_.]?(?:\d{1,4}|local|dev|test|pass|password|pw))?!?", re.IGNORECASE)
USER = pattern(r"USER(?:NAME)?$", re.IGNORECASE)
# Tokens of a tokenizer, limits that are counted in tokens, and names of clusters.
OTHER = pattern(
    r"(?:^|_)(?:PAD|EOS|BOS|UNK|MASK|SEP|CLS|STOP|IMAGE|SPECIAL|START|END|PER|MAX|MIN|NEXT|CLUSTER|DISCOVERY)_TOKEN$"
)
REFERENCE = pattern(r"[/~<{\[]|file:|secret:|vault:", re.IGNORECASE)
PLACEHOLDER = pattern(
    r".*(?:\$|your|insert|change[-_ ]?(?:me|it|this)|replace|placeholder|dummy|redacted|xxx|\*\*\*|todo|\.\.\."
    r"|\bdemo[-_]|(?:test|testing|dev|demo|example|local)[-_ ]?only|not[-_ ]?(?:for[-_ ]?prod|(?:a[-_ ]?)?secret)"
    r"|some[-_ ]?(?:value|password|secret|token|key)|from[-_ ]?(?:file|env|secret|vault)\b)",
    re.IGNORECASE,
)
# Digits and signs that stand for letters.
LETTERS = str.maketrans("0134", "oiea")
SIGNS = str.maketrans("0@$", "oas")
# Words without digits: the name of a Secret, of a profile or of an authentication method.
WORDS = pattern(r"[a-z]+(?:[-_.][a-z]+)*\Z")
# The name of a variable or of a key, as `HF_TOKEN` and `nvapi-NVKEY`.
CAPITALS = pattern(r"(?:[a-z]{2,6}[-_])?[A-Z]+(?:_[A-Z]+)*\Z")
# Passwords that everybody tries first: a word, a name and a word, such as `rootsecret`, or a product with digits.
GUESSED = pattern(
    r"(?:(?:[a-z]+[-_]?)?(?:secret|password|passwd|pass)"
    r"|minio(?:admin)?|admin|root|test|postgres|mysql|grafana|redis|mongo(?:db)?|rabbitmq)[-_]?\d{0,5}!?\Z",
    re.IGNORECASE,
)
SHORTEST = 8
# Passwords of quick starts and of images, which reveal nothing: MinIO's, and those of the manuals of databases.
KNOWN = frozenset(
    ("minio123", "minioadmin", "password", "password1", "password123", "passw0rd", "postgres", "mysecretpassword",
     "my-secret-pw", "rootpassword", "admin123", "admin1234", "rabbitmq", "testpassword", "test1234", "12345678",
     "123456789", "1234567890", "aa123456", "qwerty123")
)  # fmt: skip


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
    name, value = setting.name.upper(), (setting.value or "").strip()
    if not NAMES.search(name) or OTHER.search(name):
        return
    if (
        len(value) < SHORTEST
        or value.lower() in KNOWN
        or GUESSED.match(value)
        or GUESSED.match(value.translate(SIGNS))
        or REFERENCE.match(value)
        or any(PLACEHOLDER.match(form) for form in (value, value.translate(LETTERS), _decoded(value)))
        or any(space in value for space in " \n")
    ):
        return
    if "PASS" not in name and (WORDS.match(value) or CAPITALS.match(value)):
        return
    if _is_user(value, context):
        return
    yield Problem(
        setting.at,
        f"the value of {setting.name} is in plain text: everyone who can read this object has it",
        "put it into a Secret, refer to it with valueFrom.secretKeyRef, and revoke this one",
    )


def _is_user(value: str, context: Context) -> bool:
    """True for a default that is the name of the user too, whatever follows it: `homelab123` of `homelab`."""
    settings = context.container.settings if context.container is not None else ()
    users = (STEM.match(one.value or "") for one in settings if USER.search(one.name) is not None)
    own = STEM.fullmatch(value)
    return own is not None and any(user is not None and user[1] == own[1] for user in users)


def _decoded(value: str) -> str:
    """Returns the text that a value in base64 stands for; empty if it is none."""
    import base64

    try:
        text = base64.b64decode(value, validate=True).decode("ascii")
    except ValueError:
        return ""
    return text.strip()
