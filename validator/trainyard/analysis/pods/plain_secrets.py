"""Variables with a password or a token in plain text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trainyard.document.upwards import folders_of
from trainyard.startup import pattern

if TYPE_CHECKING:
    from trainyard.document.source import Source
    from trainyard.model.run import Container, Setting

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
REFERENCE = pattern(r"[/~<{\[]|file:|secret:|vault:|ref[:+]|op://|env:", re.IGNORECASE)
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
# Forms of keys and tokens that a service has issued, and long random ones.
ISSUED = pattern(
    r"(?:hf_|gh[oprsu]_|github_pat_|glpat-|sk-|nvapi-|xox[abprs]-|AIza|AKIA|ASIA|eyJ)\w{8}|[A-Za-z0-9+/=]{32,}\Z"
)
# Folders whose manifests readers and tests use, and no users. A folder `test` may be an environment.
EXAMPLES = frozenset(
    ("demo", "demos", "e2e", "example", "examples", "exercise", "exercises", "fixtures", "hack", "lesson", "lessons",
     "playground", "quickstart", "sample", "samples", "tests", "testing", "tutorial", "tutorials", "workshop",
     "workshops")
)  # fmt: skip
_WORD = pattern(r"[a-z0-9]+")


def is_plain_secret(setting: Setting, container: Container | None) -> bool:
    """True if a variable with the name of a secret holds one, and not a reference, a placeholder or a known default."""
    name, value = setting.name.upper(), (setting.value or "").strip()
    if not NAMES.search(name) or OTHER.search(name):
        return False
    if (
        len(value) < SHORTEST
        or value.lower() in KNOWN
        or GUESSED.match(value)
        or GUESSED.match(value.translate(SIGNS))
        or REFERENCE.match(value)
        or any(PLACEHOLDER.match(form) for form in (value, value.translate(LETTERS), _decoded(value)))
        or any(space in value for space in " \n")
    ):
        return False
    if "PASS" not in name and (WORDS.match(value) or CAPITALS.match(value)):
        return False
    return not _is_user(value, container)


def is_of_example(setting: Setting) -> bool:
    """True for a secret in a folder of examples or tests, unless a service has issued it."""
    return _is_example(setting.at.document.source) and ISSUED.match((setting.value or "").strip()) is None


def _is_example(source: Source) -> bool:
    """True if a folder below the linted one is named after examples or tests."""
    *folders, _ = folders_of(source)
    names = (folder.replace("\\", "/").rpartition("/")[2].lower() for folder in folders)
    return any(not EXAMPLES.isdisjoint(_WORD.findall(name)) for name in names)


def _is_user(value: str, container: Container | None) -> bool:
    """True for a default that is the name of the user too, whatever follows it: `homelab123` of `homelab`."""
    settings = container.settings if container is not None else ()
    names = [one.value or "" for one in settings if USER.search(one.name) is not None]
    if value in names:
        return True
    users = map(STEM.match, names)
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
