"""Files from web servers: complete, or an error with the remedy; interrupted transfers are resumed."""

from __future__ import annotations

import importlib
import io
import json
import os
import random
from pathlib import Path

import pytest

from tests.charts.dataset.program import FETCH, MARKER, contents, fetch, fetch_error, plan, sha256
from tests.charts.dataset.server import Page, Server

DATA = random.Random(1).randbytes(3_000_000)  # noqa: S311


def http(*urls: str) -> dict[str, object]:
    return {"kind": "http", "urls": list(urls)}


def test_files_arrive_under_their_names_with_a_marker_and_nothing_else(server: Server, folder: Path) -> None:
    urls = [server.put("/a/train%201.tar".replace("%20", " "), DATA).replace(" ", "%20"), server.put("/b", b"")]

    output = fetch(plan(folder, http(*urls)))

    assert contents(folder) == {"train 1.tar": DATA, "b": b""}
    assert json.loads((folder / MARKER).read_text())["source"]["urls"] == urls
    assert [path.name for path in folder.parent.iterdir()] == ["flowers"]
    assert "fetched 2.9 MiB, 2 of 2 files" in output


def test_a_file_is_durable_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its size is not known, so the next attempt could not tell what a power cut has left of it."""
    monkeypatch.syspath_prepend(str(FETCH.parent))
    transfer, report = importlib.import_module("transfer"), importlib.import_module("report")
    durable: list[bytes] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: durable.append(os.pread(descriptor, 9, 0)))
    (tmp_path / "state").mkdir()
    replace = Path.replace

    def renamed(part: Path, target: Path) -> Path:
        durable.append(b"renamed")
        return replace(part, target)

    monkeypatch.setattr(Path, "replace", renamed)

    def opened(start: int, tag: str) -> object:
        return transfer.Stream(io.BytesIO(b"a sample"), start, None, tag)

    transfer.receive([transfer.Item("a.txt", opened)], tmp_path, report.Progress("fetched", 60))

    assert durable == [b"a sample", b"renamed"]


def test_a_second_run_sends_no_request(server: Server, folder: Path) -> None:
    path = plan(folder, http(server.put("/train.tar", DATA)))
    fetch(path)
    count = len(server.requests)

    output = fetch(path, "pod-b")

    assert len(server.requests) == count
    assert output == f"dataset: {folder} is complete\n"


def test_an_interrupted_transfer_is_resumed(server: Server, folder: Path) -> None:
    url = server.put("/train.tar", DATA, cut_at=[1_000_000, 2_000_000])

    fetch(plan(folder, http(url)))

    assert contents(folder) == {"train.tar": DATA}
    assert server.ranges("/train.tar") == [None, "bytes=1000000-", "bytes=2000000-"]


@pytest.mark.parametrize("options", [{"knows_ranges": False}, {"tag": ""}, {"tag": 'W/"weak"'}])
def test_without_support_for_ranges_a_file_is_sent_again(
    server: Server, folder: Path, options: dict[str, object]
) -> None:
    url = server.put("/train.tar", DATA, cut_at=[1_000_000], **options)

    fetch(plan(folder, http(url)))

    assert contents(folder) == {"train.tar": DATA}


@pytest.mark.parametrize("knows_versions", [True, False])
def test_two_versions_of_a_file_are_never_mixed(server: Server, folder: Path, knows_versions: bool) -> None:
    newer = Page(b"2" * 2_000_000, tag='"2"', knows_versions=knows_versions)
    url = server.put("/train.tar", b"1" * 2_000_000, cut_at=[1_000_000], then=newer)

    fetch(plan(folder, http(url)))

    assert server.ranges("/train.tar")[:2] == [None, "bytes=1000000-"]
    assert contents(folder) == {"train.tar": newer.body}


def test_a_request_is_retried_when_the_server_is_busy(server: Server, folder: Path) -> None:
    url = server.put("/train.tar", DATA, statuses=[503])

    output = fetch(plan(folder, http(url)))

    assert "train.tar: HTTP 503 Service Unavailable; retrying in 2 s" in output
    assert contents(folder) == {"train.tar": DATA}


def test_the_error_for_a_missing_file_names_the_value_to_check(server: Server, folder: Path) -> None:
    errors = fetch_error(plan(folder, http(f"{server.address}/none.tar?signature=secret")))

    assert errors == f"error: {server.address}/none.tar: HTTP 404 Not Found: see dataset.http.urls\n"
    assert not folder.exists()


def test_a_token_is_sent_to_the_server_but_not_to_a_redirect(server: Server, folder: Path) -> None:
    with Server() as store:
        url = server.put("/train.tar", b"", token="abc", location=store.put("/signed", DATA))  # noqa: S106
        path = plan(folder, http(url))

        assert "HTTP 401 Unauthorized: set dataset.http.token to a Secret" in fetch_error(path)
        fetch(path, environment={"DATASET_TOKEN": "abc"})

        assert [one.authorization for one in store.requests] == [None]
    assert contents(folder) == {"train.tar": DATA}
    assert "abc" not in (folder / MARKER).read_text()


@pytest.mark.parametrize(
    ("urls", "message"),
    [
        (["http://host.example.com/a/", "http://host.example.com/b"], "ends in no file name"),
        (["http://host.example.com/a/x", "http://host.example.com/b/x"], "two of dataset.http.urls end in x"),
        (["file:///etc/passwd"], "file:///etc/passwd is not an HTTP URL"),
    ],
)
def test_urls_without_a_unique_file_name_are_refused(folder: Path, urls: list[str], message: str) -> None:
    assert message in fetch_error(plan(folder, http(*urls)))
    assert not folder.exists()


def test_a_wrong_checksum_leaves_no_data_and_only_that_file_is_fetched_again(server: Server, folder: Path) -> None:
    good, bad = server.put("/good", DATA), server.put("/bad", b"damaged")
    path = plan(folder, http(good, bad), {"bad": sha256(b"right"), "good": sha256(DATA)})

    errors = fetch_error(path)

    assert f"bad has the SHA-256 {sha256(b'damaged')}, but dataset.checksum.files says {sha256(b'right')}" in errors
    assert not folder.exists()

    server.put("/bad", b"right")
    fetch(path)
    assert contents(folder) == {"good": DATA, "bad": b"right"}
    assert [one.path for one in server.requests] == ["/good", "/bad", "/bad"]


def test_the_manifest_is_the_output_of_sha256sum(server: Server, folder: Path) -> None:
    urls = [server.put(f"/{name}", name.encode()) for name in ("b", "a", "Z")]
    lines = "".join(f"{sha256(name.encode())}  {name}\n" for name in ("Z", "a", "b"))

    fetch(plan(folder, http(*urls), manifest=sha256(lines.encode())))

    assert sorted(contents(folder)) == ["Z", "a", "b"]


def test_a_wrong_manifest_digest_keeps_the_data_staged_and_names_both_digests(server: Server, folder: Path) -> None:
    url = server.put("/a", b"a")
    found = sha256(f"{sha256(b'a')}  a\n".encode())

    errors = fetch_error(plan(folder, http(url), manifest="0" * 64))

    assert f"has the SHA-256 {found}, but dataset.checksum.manifest says {'0' * 64}" in errors
    assert not folder.exists()
    fetch(plan(folder, http(url), manifest=found))
    assert server.ranges("/a") == [None]


def test_checksums_added_later_are_checked_against_existing_data(server: Server, folder: Path) -> None:
    url = server.put("/a", b"a")
    fetch(plan(folder, http(url)))

    errors = fetch_error(plan(folder, http(url), {"a": "0" * 64}))
    assert "a has the SHA-256" in errors
    assert contents(folder) == {"a": b"a"}

    fetch(plan(folder, http(url), {"a": sha256(b"a")}))
    assert json.loads((folder / MARKER).read_text())["checks"]
    assert server.ranges("/a") == [None]


@pytest.mark.parametrize("name", ["none", "../plan.json"])
def test_a_checksum_for_a_file_that_is_not_fetched_is_refused(server: Server, folder: Path, name: str) -> None:
    url = server.put("/a", b"a")

    assert f"dataset.checksum.files names {name}" in fetch_error(plan(folder, http(url), {name: "0" * 64}))


def test_the_data_of_another_source_is_not_overwritten(server: Server, folder: Path) -> None:
    fetch(plan(folder, http(server.put("/a", b"a"))))

    errors = fetch_error(plan(folder, http(server.put("/b", b"b"))))

    assert "holds the data of another source" in errors
    assert "set dataset.path to another folder" in errors
    assert contents(folder) == {"a": b"a"}


SIGNED = (
    "X-Amz-Credential=me&X-Amz-Date={0}&X-Amz-Signature=secret{0}",
    "GoogleAccessId=me&Expires={0}&Signature=secret{0}",
    "sv=2024&se={0}&sig=secret{0}",
)


@pytest.mark.parametrize("signature", SIGNED)
def test_a_new_signature_of_a_url_is_the_same_data_and_is_not_printed(
    server: Server, folder: Path, signature: str
) -> None:
    old, new = (server.put(f"/a?versionId=7&{signature.format(number)}", b"a") for number in "12")
    output = fetch(plan(folder, http(old)))
    count = len(server.requests)

    output += fetch(plan(folder, http(new)), "pod-b")
    assert len(server.requests) == count

    errors = fetch_error(plan(folder, http(server.put(f"/a?versionId=8&{signature.format(3)}", b"b"))))
    assert "holds the data of another source" in errors
    assert f'"urls": ["{server.address}/a"]' in errors
    assert "secret" not in output + errors + (folder / MARKER).read_text()


def test_files_that_no_run_fetched_are_not_overwritten(server: Server, folder: Path) -> None:
    folder.mkdir()
    path = plan(folder, http(server.put("/a", b"a")))
    (folder / "mine").write_text("mine")

    assert "holds files that no run has fetched" in fetch_error(path)
    assert contents(folder) == {"mine": b"mine"}

    (folder / "mine").unlink()
    fetch(path)
    assert contents(folder) == {"a": b"a"}


def test_an_operating_system_error_names_the_path(folder: Path) -> None:
    folder.parent.rmdir()
    folder.parent.write_text("a file where a volume should be")

    assert fetch_error(plan(folder, http("http://host.example.com/a"))) == f"error: {folder.parent}: File exists\n"
