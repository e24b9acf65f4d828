"""Keys that tests throw away: of GnuPG for the provenance of charts, and of cosign."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.harness.cluster import tools


@contextmanager
def keyring(home: Path, name: str) -> Iterator[Path]:
    """Make a key of GnuPG with this name in GNUPGHOME, and yield the public key in the form that Helm reads."""
    home.chmod(0o700)
    make = ["gpg", "--batch", "--passphrase", "", "--quick-generate-key", name, "ed25519", "sign", "never"]
    subprocess.run(make, check=True, capture_output=True)
    subprocess.run(["gpg", "--batch", "--export", "--output", str(home / "public.gpg")], check=True)
    yield home / "public.gpg"
    subprocess.run(["gpgconf", "--kill", "all"], check=True)


def cosign_keys(folder: Path) -> Path:
    """Make a pair of keys of cosign with the password in COSIGN_PASSWORD; return the private one, beside `.pub`."""
    made = signing("keys", folder / "release")
    assert made.returncode == 0, made.stderr
    return folder / "release.key"


def signing(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the tool of signatures."""
    command = [tools.binary("signing"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)
