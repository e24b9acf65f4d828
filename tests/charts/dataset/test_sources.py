"""The other sources: git repositories, buckets, the Hugging Face hub, another claim."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.charts.dataset.program import MARKER, contents, fetch, fetch_error, plan, sha256
from tests.charts.dataset.server import Server

COMMIT = "0123456789012345678901234567890123456789"


def git(repository: Path, *arguments: str) -> str:
    """Run git with a neutral identity and configuration."""
    names = {f"GIT_{role}_{what}": "test@example.com" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    config = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, env=os.environ | names | config, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with the tag `v1` and a later commit on `main`."""
    folder = tmp_path / "repository"
    (folder / "data" / "train").mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / "readme").write_text("readme")
    (folder / "data" / "train" / "a.txt").write_text("a of v1")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=1")
    git(folder, "tag", "--annotate", "--message=1", "v1")
    (folder / "data" / "train" / "a.txt").write_text("a of main")
    (folder / "data" / "train" / "link").symlink_to("a.txt")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=2")
    return folder


def of_git(repository: Path, ref: str, path: str) -> dict[str, str]:
    return {"kind": "git", "url": repository.as_uri(), "ref": ref, "path": path}


@pytest.mark.parametrize(
    ("ref", "path", "wanted"),
    [
        ("v1", "", {"readme": b"readme", "data/train/a.txt": b"a of v1"}),
        ("main", "data/train", {"a.txt": b"a of main", "link": b"a of main"}),
        ("HEAD", "readme", {"readme": b"readme"}),
    ],
)
def test_a_repository_is_fetched_at_its_ref(
    repository: Path, folder: Path, ref: str, path: str, wanted: dict[str, bytes]
) -> None:
    fetch(plan(folder, of_git(repository, ref, path)))

    assert contents(folder) == wanted
    assert json.loads((folder / MARKER).read_text())["version"] == git(repository, "rev-parse", f"{ref}^{{}}").strip()
    assert [entry.name for entry in folder.parent.iterdir()] == ["flowers"]


def test_a_commit_is_fetched_by_its_hash(repository: Path, folder: Path) -> None:
    git(repository, "config", "uploadpack.allowAnySHA1InWant", "true")
    first = git(repository, "rev-parse", "v1^{}").strip()

    fetch(plan(folder, of_git(repository, first, "data/train")))

    assert contents(folder) == {"a.txt": b"a of v1"}


@pytest.mark.parametrize(("ref", "path"), [("v9", ""), ("v1", "none")])
def test_a_missing_ref_or_path_is_reported_with_git_s_message(
    repository: Path, folder: Path, ref: str, path: str
) -> None:
    errors = fetch_error(plan(folder, of_git(repository, ref, path)))

    assert "git failed with exit status" in errors
    assert (ref if ref == "v9" else path) in errors
    assert not folder.exists()


def test_git_lfs_pointers_are_refused(repository: Path, folder: Path) -> None:
    (repository / "big.bin").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n")
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "--message=3")

    errors = fetch_error(plan(folder, of_git(repository, "main", "")))

    assert "1 files such as big.bin are only pointers of Git LFS: set dataset.image" in errors


def left_locks(state: Path) -> None:
    for name in ("index.lock", "shallow.lock"):
        (state / name).touch()


def left_half_of_a_repository(state: Path) -> None:
    shutil.rmtree(state / "objects")


@pytest.mark.parametrize("leave", [left_locks, left_half_of_a_repository])
def test_a_git_that_was_killed_does_not_keep_later_attempts_from_its_repository(
    repository: Path, folder: Path, leave: Callable[[Path], None]
) -> None:
    (repository / "big.bin").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n")
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "--message=3")
    path = plan(folder, of_git(repository, "main", ""))
    assert "are only pointers of Git LFS" in fetch_error(path)
    git(repository, "rm", "--quiet", "big.bin")
    git(repository, "commit", "--quiet", "--message=4")
    (staged,) = folder.parent.glob(".flowers.*/*/staged/state/repository")
    leave(staged)

    fetch(path)

    assert "big.bin" not in contents(folder)


def test_a_token_reaches_the_git_server_but_no_command_line(server: Server, folder: Path) -> None:
    source = {"kind": "git", "url": f"{server.address}/team/a.git", "ref": "HEAD", "path": ""}

    errors = fetch_error(plan(folder, source), {"DATASET_TOKEN": "abc"})

    assert server.requests[0].authorization == "Basic " + base64.b64encode(b"x-access-token:abc").decode()
    assert "dataset.git.url, ref and token: git failed" in errors


@pytest.mark.parametrize(
    ("program", "source"),
    [
        ("git", {"kind": "git", "url": "https://example.com/a", "ref": "main", "path": ""}),
        ("rclone", {"kind": "gs", "url": "gs://bucket/a", "anonymous": True}),
    ],
)
def test_a_program_missing_from_the_image_is_named(
    tmp_path: Path, folder: Path, program: str, source: dict[str, Any]
) -> None:
    errors = fetch_error(plan(folder, source), {"PATH": str(tmp_path)})

    wanted = f"error: this image has no {program}: set dataset.image to one that has python3 and {program}\n"
    assert errors == wanted


# Takes the place of rclone: records its arguments and variables, and creates a file.
RCLONE = f"""#!{sys.executable}
import json, os, pathlib, sys
names = ("RCLONE_", "AWS_")
given = {{name: value for name, value in os.environ.items() if name.startswith(names)}}
pathlib.Path(os.environ["NOTE"]).write_text(json.dumps([sys.argv[1:], given]))
if "denied" in sys.argv[-2]:
    sys.exit("CRITICAL: AccessDenied")
pathlib.Path(sys.argv[-1], "shard").write_text("shard")
"""


@pytest.fixture
def rclone(tmp_path: Path) -> dict[str, str]:
    """The environment in which the fake rclone is found."""
    program = tmp_path / "bin" / "rclone"
    program.parent.mkdir()
    program.write_text(RCLONE)
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:{os.environ['PATH']}", "NOTE": str(tmp_path / "note")}


S3 = {"kind": "s3", "url": "s3://bucket/a b", "endpoint": "https://s3.example.com", "region": "r", "provider": "Ceph"}
OF_S3 = {"RCLONE_S3_PROVIDER": "Ceph", "RCLONE_S3_ENDPOINT": "https://s3.example.com", "RCLONE_S3_REGION": "r"}


@pytest.mark.parametrize(
    ("source", "secrets", "remote", "given"),
    [
        (S3 | {"anonymous": True}, {}, ":s3:bucket/a b", OF_S3 | {"RCLONE_S3_ENV_AUTH": "false"}),
        (
            S3 | {"anonymous": False},
            {"DATASET_ACCESS_KEY": "id", "DATASET_SECRET_KEY": "key"},
            ":s3:bucket/a b",
            OF_S3 | {"RCLONE_S3_ENV_AUTH": "true", "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key"},
        ),
        (
            {"kind": "gs", "url": "gs://bucket/a", "anonymous": False},
            {},
            ":gcs:bucket/a",
            {"RCLONE_GCS_ANONYMOUS": "false", "RCLONE_GCS_ENV_AUTH": "true"},
        ),
        (
            {"kind": "gs", "url": "gs://bucket/a", "anonymous": False},
            {"DATASET_SERVICE_ACCOUNT": "{}"},
            ":gcs:bucket/a",
            {"RCLONE_GCS_ANONYMOUS": "false", "RCLONE_GCS_SERVICE_ACCOUNT_CREDENTIALS": "{}"},
        ),
    ],
)
def test_a_bucket_is_fetched_by_rclone_with_secrets_in_the_environment(
    folder: Path,
    rclone: dict[str, str],
    source: dict[str, Any],
    secrets: dict[str, str],
    remote: str,
    given: dict[str, str],
) -> None:
    fetch(plan(folder, source, {"shard": sha256(b"shard")}), environment=rclone | secrets)

    arguments, environment = json.loads(Path(rclone["NOTE"]).read_text())
    assert arguments[:3] == ["--config=", "sync", remote]
    assert environment == given
    assert contents(folder) == {"shard": b"shard"}


def test_the_error_of_rclone_is_shown(folder: Path, rclone: dict[str, str]) -> None:
    errors = fetch_error(plan(folder, S3 | {"url": "s3://denied/a", "anonymous": True}), rclone)

    assert errors == "error: rclone failed with exit status 1\nCRITICAL: AccessDenied\n"


def hub(server: Server, **options: Any) -> dict[str, str]:
    """Serve a repository with two files, listed on two pages."""
    server.put("/api/datasets/team/flowers/revision/main", {"sha": COMMIT}, **options)
    big, small = b"big" * 1000, b"small"
    tree = f"/api/datasets/team/flowers/tree/{COMMIT}"
    pointer = {"oid": sha256(big), "size": len(big), "pointerSize": 130}
    page = [{"type": "directory", "path": "data"}, {"type": "file", "path": "data/big", "size": 3000, "lfs": pointer}]
    server.put(f"{tree}?recursive=true", page, link=f'<{server.address}{tree}?page=2>; rel="next"')
    server.put(f"{tree}?page=2", [{"type": "file", "path": "small file", "size": 5, "oid": "0"}])
    server.put(f"/datasets/team/flowers/resolve/{COMMIT}/data/big", big, **options)
    server.put(f"/datasets/team/flowers/resolve/{COMMIT}/small file", small, **options)
    return {
        "kind": "huggingFace",
        "repository": "team/flowers",
        "type": "dataset",
        "revision": "main",
        "endpoint": server.address,
    }


@pytest.fixture
def without_library(tmp_path: Path) -> dict[str, str]:
    """An environment without huggingface_hub, even if it is installed here."""
    (tmp_path / "huggingface_hub.py").write_text("raise ImportError")
    return {"PYTHONPATH": str(tmp_path)}


def test_a_repository_of_the_hub_arrives_without_its_library(
    server: Server, folder: Path, without_library: dict[str, str]
) -> None:
    source = hub(server, token="abc")  # noqa: S106
    output = fetch(plan(folder, source), environment=without_library | {"DATASET_TOKEN": "abc"})

    assert contents(folder) == {"data/big": b"big" * 1000, "small file": b"small"}
    assert json.loads((folder / MARKER).read_text())["version"] == COMMIT
    assert f"team/flowers is at commit {COMMIT}" in output
    assert "2.9 KiB of 2.9 KiB (100 %), 2 of 2 files" in output


def test_a_file_of_the_hub_is_checked_against_the_hub_s_digest(
    server: Server, folder: Path, without_library: dict[str, str]
) -> None:
    source = hub(server)
    server.put(f"/datasets/team/flowers/resolve/{COMMIT}/data/big", b"bad" * 1000)

    assert "data/big has the SHA-256" in fetch_error(plan(folder, source), without_library)


@pytest.mark.parametrize("path", ["../escape", "data/../../../escape"])
def test_a_listed_path_outside_of_the_data_set_is_refused(
    server: Server, folder: Path, without_library: dict[str, str], path: str
) -> None:
    source = hub(server)
    listed = [{"type": "file", "path": path, "size": 3, "oid": "0"}]
    server.put(f"/api/datasets/team/flowers/tree/{COMMIT}?recursive=true", listed)
    server.put(f"/datasets/team/flowers/resolve/{COMMIT}/{path}", b"bad")

    errors = fetch_error(plan(folder, source), without_library)

    assert f"the source names {path}, which lies outside of the data set" in errors
    assert not list(folder.parent.rglob("escape"))


def test_a_missing_token_for_the_hub_is_an_error_that_names_the_value(server: Server, folder: Path) -> None:
    errors = fetch_error(plan(folder, hub(server, token="abc")))  # noqa: S106

    assert "HTTP 401 Unauthorized: set dataset.huggingFace.token" in errors


def test_a_new_commit_of_the_hub_is_not_mixed_with_staged_files_of_an_older_one(
    server: Server, folder: Path, without_library: dict[str, str]
) -> None:
    source = hub(server)
    del server.pages[f"/datasets/team/flowers/resolve/{COMMIT}/small file"]
    fetch_error(plan(folder, source), without_library)
    newer = COMMIT[::-1]
    server.put("/api/datasets/team/flowers/revision/main", {"sha": newer})
    server.put(f"/api/datasets/team/flowers/tree/{newer}?recursive=true", [{"type": "file", "path": "new", "size": 3}])
    server.put(f"/datasets/team/flowers/resolve/{newer}/new", b"new")

    output = fetch(plan(folder, source), environment=without_library)

    assert "the source has a new version: starting over" in output
    assert contents(folder) == {"new": b"new"}


# Takes the place of huggingface_hub.
LIBRARY = """
import json, os, pathlib
def snapshot_download(**arguments):
    folder = pathlib.Path(arguments["local_dir"])
    (folder / ".cache" / "huggingface").mkdir(parents=True)
    (folder / ".cache" / "huggingface" / "lock").write_text("")
    (folder / "file").write_text(json.dumps({
        name: str(value) for name, value in arguments.items() if name != "local_dir"} | {
        "endpoint": os.environ["HF_ENDPOINT"]}))
"""


def test_the_library_of_the_hub_is_used_if_installed(server: Server, tmp_path: Path, folder: Path) -> None:
    (tmp_path / "huggingface_hub.py").write_text(LIBRARY)

    fetch(plan(folder, hub(server)), environment={"PYTHONPATH": str(tmp_path)})

    found = contents(folder)
    assert list(found) == ["file"]
    assert json.loads(found["file"]) == {
        "repo_id": "team/flowers",
        "repo_type": "dataset",
        "revision": COMMIT,
        "token": "None",
        "endpoint": server.address,
    }


@pytest.fixture
def claim(tmp_path: Path) -> Path:
    """The folder of another claim."""
    folder = tmp_path / "claim"
    (folder / "set" / "train").mkdir(parents=True)
    (folder / "lost+found").mkdir(mode=0)
    (folder / "set" / "train" / "a").write_bytes(b"a" * 100_000)
    (folder / "set" / "current").symlink_to("train")
    return folder


def of_claim(claim: Path, path: str) -> dict[str, str]:
    return {"kind": "claim", "name": "archive", "mountPath": str(claim), "path": path}


def test_a_folder_of_another_claim_is_copied_with_its_links_and_times(claim: Path, folder: Path) -> None:
    os.utime(claim / "set" / "train" / "a", ns=(0, 1_700_000_000_123_456_789))

    fetch(plan(folder, of_claim(claim, "set")))

    assert contents(folder) == {"train/a": b"a" * 100_000}
    assert (folder / "current").readlink() == Path("train")
    assert (folder / "train" / "a").stat().st_mtime_ns == 1_700_000_000_123_456_789


def test_a_whole_claim_is_copied_without_lost_and_found(claim: Path, folder: Path) -> None:
    fetch(plan(folder, of_claim(claim, "")))

    assert sorted(path.name for path in folder.iterdir()) == [MARKER, "set"]


def test_a_file_of_another_claim_is_copied(claim: Path, folder: Path) -> None:
    fetch(plan(folder, of_claim(claim, "set/train/a")))

    assert contents(folder) == {"a": b"a" * 100_000}


def test_a_link_to_a_target_outside_the_data_set_is_refused(claim: Path, folder: Path) -> None:
    (claim / "set" / "passwords").symlink_to("/etc/passwd")

    assert "passwords is a link to a path outside of the data set" in fetch_error(plan(folder, of_claim(claim, "set")))


def test_a_path_missing_from_the_claim_is_named(claim: Path, folder: Path) -> None:
    assert "the claim archive has no none: see dataset.claim.path" in fetch_error(plan(folder, of_claim(claim, "none")))
