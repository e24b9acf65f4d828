"""Files of web servers: whole, or an error that says what to do; interrupted ones go on where they ended."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from .program import MARKER, contents, fetched, plan, refused, sha256
from .server import Page, Server

DATA = random.Random(1).randbytes(3_000_000)  # noqa: S311


def http(*urls: str) -> dict[str, object]:
    return {"kind": "http", "urls": list(urls)}


def test_files_arrive_under_their_names_with_a_marker_and_nothing_else_stays(server: Server, folder: Path) -> None:
    urls = [server.put("/a/train%201.tar".replace("%20", " "), DATA).replace(" ", "%20"), server.put("/b", b"")]

    output = fetched(plan(folder, http(*urls)))

    assert contents(folder) == {"train 1.tar": DATA, "b": b""}
    assert json.loads((folder / MARKER).read_text())["source"]["urls"] == urls
    assert [path.name for path in folder.parent.iterdir()] == ["flowers"]
    assert "has fetched 2.9 MiB, 2 of 2 files" in output


def test_a_second_run_asks_the_server_nothing(server: Server, folder: Path) -> None:
    path = plan(folder, http(server.put("/train.tar", DATA)))
    fetched(path)
    count = len(server.asked)

    output = fetched(path, "pod-b")

    assert len(server.asked) == count
    assert output == f"dataset: {folder} is complete\n"


def test_a_connection_that_breaks_goes_on_where_it_ended(server: Server, folder: Path) -> None:
    url = server.put("/train.tar", DATA, cut_at=[1_000_000, 2_000_000])

    fetched(plan(folder, http(url)))

    assert contents(folder) == {"train.tar": DATA}
    assert server.ranges("/train.tar") == [None, "bytes=1000000-", "bytes=2000000-"]


@pytest.mark.parametrize("options", [{"knows_ranges": False}, {"tag": ""}, {"tag": 'W/"weak"'}])
def test_a_server_that_cannot_resume_sends_all_again(server: Server, folder: Path, options: dict[str, object]) -> None:
    url = server.put("/train.tar", DATA, cut_at=[1_000_000], **options)

    fetched(plan(folder, http(url)))

    assert contents(folder) == {"train.tar": DATA}


@pytest.mark.parametrize("knows_versions", [True, False])
def test_two_versions_of_a_file_are_never_joined(server: Server, folder: Path, knows_versions: bool) -> None:
    newer = Page(b"2" * 2_000_000, tag='"2"', knows_versions=knows_versions)
    url = server.put("/train.tar", b"1" * 2_000_000, cut_at=[1_000_000], then=newer)

    fetched(plan(folder, http(url)))

    assert server.ranges("/train.tar")[:2] == [None, "bytes=1000000-"]
    assert contents(folder) == {"train.tar": newer.body}


def test_a_busy_server_is_asked_again(server: Server, folder: Path) -> None:
    url = server.put("/train.tar", DATA, statuses=[503])

    output = fetched(plan(folder, http(url)))

    assert "train.tar: HTTP 503 Service Unavailable; tries again in 2 s" in output
    assert contents(folder) == {"train.tar": DATA}


def test_a_missing_file_is_named_with_the_value_to_look_at(server: Server, folder: Path) -> None:
    errors = refused(plan(folder, http(f"{server.address}/none.tar?signature=secret")))

    assert errors == f"error: {server.address}/none.tar: HTTP 404 Not Found: see dataset.http.urls\n"
    assert not folder.exists()


def test_a_token_is_sent_to_the_server_and_not_to_where_it_redirects(server: Server, folder: Path) -> None:
    with Server() as store:
        url = server.put("/train.tar", b"", token="abc", location=store.put("/signed", DATA))  # noqa: S106
        path = plan(folder, http(url))

        assert "HTTP 401 Unauthorized: set dataset.http.token to a Secret" in refused(path)
        fetched(path, environment={"DATASET_TOKEN": "abc"})

        assert [one.authorization for one in store.asked] == [None]
    assert contents(folder) == {"train.tar": DATA}
    assert "abc" not in (folder / MARKER).read_text()


@pytest.mark.parametrize(
    ("urls", "message"),
    [
        (["http://host.example.com/a/", "http://host.example.com/b"], "ends in no file name"),
        (["http://host.example.com/a/x", "http://host.example.com/b/x"], "two of dataset.http.urls end in x"),
        (["file:///etc/passwd"], "file:///etc/passwd is no address of a web server"),
    ],
)
def test_addresses_that_name_no_file_are_refused(folder: Path, urls: list[str], message: str) -> None:
    assert message in refused(plan(folder, http(*urls)))
    assert not folder.exists()


def test_a_wrong_checksum_leaves_nothing_and_fetches_only_that_file_again(server: Server, folder: Path) -> None:
    good, bad = server.put("/good", DATA), server.put("/bad", b"damaged")
    path = plan(folder, http(good, bad), {"bad": sha256(b"right"), "good": sha256(DATA)})

    errors = refused(path)

    assert f"bad has the SHA-256 {sha256(b'damaged')}, but dataset.checksum.files says {sha256(b'right')}" in errors
    assert not folder.exists()

    server.put("/bad", b"right")
    fetched(path)
    assert contents(folder) == {"good": DATA, "bad": b"right"}
    assert [one.path for one in server.asked] == ["/good", "/bad", "/bad"]


def test_the_manifest_is_what_sha256sum_prints(server: Server, folder: Path) -> None:
    urls = [server.put(f"/{name}", name.encode()) for name in ("b", "a", "Z")]
    lines = "".join(f"{sha256(name.encode())}  {name}\n" for name in ("Z", "a", "b"))

    fetched(plan(folder, http(*urls), manifest=sha256(lines.encode())))

    assert sorted(contents(folder)) == ["Z", "a", "b"]


def test_a_wrong_manifest_keeps_the_data_staged_and_says_both_digests(server: Server, folder: Path) -> None:
    url = server.put("/a", b"a")
    found = sha256(f"{sha256(b'a')}  a\n".encode())

    errors = refused(plan(folder, http(url), manifest="0" * 64))

    assert f"has the SHA-256 {found}, but dataset.checksum.manifest says {'0' * 64}" in errors
    assert not folder.exists()
    fetched(plan(folder, http(url), manifest=found))
    assert server.ranges("/a") == [None]


def test_checksums_that_come_later_are_held_against_what_is_there(server: Server, folder: Path) -> None:
    url = server.put("/a", b"a")
    fetched(plan(folder, http(url)))

    errors = refused(plan(folder, http(url), {"a": "0" * 64}))
    assert "a has the SHA-256" in errors
    assert contents(folder) == {"a": b"a"}

    fetched(plan(folder, http(url), {"a": sha256(b"a")}))
    assert json.loads((folder / MARKER).read_text())["checks"]
    assert server.ranges("/a") == [None]


@pytest.mark.parametrize("name", ["none", "../plan.json"])
def test_a_checksum_of_no_fetched_file_is_refused(server: Server, folder: Path, name: str) -> None:
    url = server.put("/a", b"a")

    assert f"dataset.checksum.files names {name}" in refused(plan(folder, http(url), {name: "0" * 64}))


def test_the_data_of_another_source_is_left_alone(server: Server, folder: Path) -> None:
    fetched(plan(folder, http(server.put("/a", b"a"))))

    errors = refused(plan(folder, http(server.put("/b", b"b"))))

    assert "holds the data of another source" in errors
    assert "set dataset.path to another folder" in errors
    assert contents(folder) == {"a": b"a"}


def test_files_that_nobody_fetched_are_left_alone(server: Server, folder: Path) -> None:
    folder.mkdir()
    path = plan(folder, http(server.put("/a", b"a")))
    (folder / "mine").write_text("mine")

    assert "holds files that no run has fetched" in refused(path)
    assert contents(folder) == {"mine": b"mine"}

    (folder / "mine").unlink()
    fetched(path)
    assert contents(folder) == {"a": b"a"}


def test_an_error_of_the_system_names_the_place(folder: Path) -> None:
    folder.parent.rmdir()
    folder.parent.write_text("a file where a volume should be")

    assert refused(plan(folder, http("http://host.example.com/a"))) == f"error: {folder.parent}: File exists\n"
