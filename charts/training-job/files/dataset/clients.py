"""External fetch programs that the image must provide: git and rclone."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from report import FetchError, Progress, TemporaryError, persist, say

_SHOWN_LINES = 5


class Git:
    """A bare repository with one remote. Git gets secrets through its environment, never its arguments."""

    def __init__(self, repository: Path, url: str, token: str, progress: Progress) -> None:
        self._repository, self._url, self._progress = repository, url, progress
        # On volumes that map owners, as NFS may, the repository seems to belong to another user.
        config = {"safe.directory": "*", "remote.origin.url": url}
        if token:
            parts = urlsplit(url)
            login = base64.b64encode(f"x-access-token:{token}".encode()).decode()
            config[f"http.{parts.scheme}://{parts.netloc}/.extraHeader"] = f"Authorization: Basic {login}"
        self._environment = os.environ | {"GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_COUNT": str(len(config))}
        for index, (key, value) in enumerate(config.items()):
            self._environment |= {f"GIT_CONFIG_KEY_{index}": key, f"GIT_CONFIG_VALUE_{index}": value}

    def run(self, *arguments: str) -> str:
        """Run git on the repository and return its output."""
        return _run("git", [f"--git-dir={self._repository}", *arguments], self._environment, self._progress)

    def fetch(self, ref: str) -> str:
        """Fetch the newest commit of a ref without its history, and return the commit."""

        def step() -> None:
            try:
                self.run("fetch", "--quiet", "--depth=1", "--no-tags", "--force", "origin", ref)
            except FetchError as error:
                raise TemporaryError(str(error)) from error

        persist("dataset.git.url, ref and token", step, attempts=3)
        return self.run("rev-parse", "FETCH_HEAD^{commit}").strip()


def rclone(source: dict[str, Any], data: Path, progress: Progress) -> None:
    """Make `data` equal to a bucket's folder. Existing equal files are not fetched again."""
    secrets, environment = os.environ, dict(os.environ)
    path = source["url"].split("://", 1)[1]
    if source["kind"] == "s3":
        remote = f":s3:{path}"
        # Without a key rclone uses the credentials of the cloud: IRSA, Pod Identity, metadata.
        environment |= {"RCLONE_S3_PROVIDER": source["provider"], "RCLONE_S3_ENDPOINT": source["endpoint"]}
        environment |= {"RCLONE_S3_REGION": source["region"], "RCLONE_S3_ENV_AUTH": _flag(not source["anonymous"])}
        if "DATASET_ACCESS_KEY" in secrets:
            environment |= {
                "AWS_ACCESS_KEY_ID": secrets["DATASET_ACCESS_KEY"],
                "AWS_SECRET_ACCESS_KEY": secrets["DATASET_SECRET_KEY"],
            }
    else:
        remote = f":gcs:{path}"
        environment |= {"RCLONE_GCS_ANONYMOUS": _flag(source["anonymous"])}
        if "DATASET_SERVICE_ACCOUNT" in secrets:
            environment["RCLONE_GCS_SERVICE_ACCOUNT_CREDENTIALS"] = secrets["DATASET_SERVICE_ACCOUNT"]
        else:
            environment["RCLONE_GCS_ENV_AUTH"] = _flag(not source["anonymous"])
    _run("rclone", ["--config=", "sync", remote, str(data)], environment, progress)


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _run(program: str, arguments: list[str], environment: dict[str, str], progress: Progress) -> str:
    """Run a program that the image may lack and return its output. Logs at intervals that it still runs."""
    if shutil.which(program) is None:
        raise FetchError(f"this image has no {program}: set dataset.image to one that has python3 and {program}")
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [program, *arguments], env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=errors
        )
        began = time.monotonic()
        try:
            while True:
                try:
                    status = process.wait(progress.interval)
                    break
                except subprocess.TimeoutExpired:
                    say(f"{program} has been running for {time.monotonic() - began:.0f} s")
        finally:
            # The program ends early when the pod is deleted.
            process.kill()
            process.wait()
        output.seek(0)
        errors.seek(0)
        if status != 0:
            lines = errors.read().decode(errors="replace").strip().splitlines()[-_SHOWN_LINES:]
            raise FetchError("\n".join([f"{program} failed with exit status {status}", *lines]))
        return output.read().decode(errors="replace")
