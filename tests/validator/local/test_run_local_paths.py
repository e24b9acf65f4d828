"""Mount paths in arguments, variables and configurations become local folders; other text is not changed."""

from __future__ import annotations

import string
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from trainyard.commands.local.paths import Folders

HERE = Path("/home/user/runs/digits")
MOUNTS = ("/checkpoints", "/data", "/data/cache", "/etc/trainyard", "/data-2")
FOLDERS = Folders({mount: HERE / mount[1:] for mount in MOUNTS})

names = st.text(string.ascii_letters + string.digits + "-_. ", min_size=1, max_size=8)
rests = st.lists(names, max_size=3).map(lambda parts: "".join(f"/{part}" for part in parts))
mounts = st.sampled_from(MOUNTS)


@given(mounts, rests)
def test_a_path_below_a_mount_keeps_its_place_below_the_folder(mount: str, rest: str) -> None:
    assert FOLDERS.path(mount + rest) == f"{HERE}{mount}{rest}"


@given(mounts, rests)
def test_the_value_of_an_option_is_a_path_as_well(mount: str, rest: str) -> None:
    assert FOLDERS.word(f"--option={mount}{rest}") == f"--option={HERE}{mount}{rest}"


@given(st.text())
def test_a_text_without_a_mount_stays(text: str) -> None:
    if not any(mount in text for mount in MOUNTS):
        assert FOLDERS.path(text) == FOLDERS.word(text) == text


@given(names)
def test_a_name_that_only_begins_like_a_mount_stays(more: str) -> None:
    for path in (f"/checkpoints_{more}", f"/data-{more}x", f"/etc/trainyard.{more}"):
        assert FOLDERS.path(path) == path


@given(names.filter(str.strip), mounts, rests)
def test_a_path_behind_other_words_stays(before: str, mount: str, rest: str) -> None:
    """It may be a path on another machine, or no path at all."""
    text = f"{before}{mount}{rest}"
    assert FOLDERS.path(text) == text


@given(st.lists(st.tuples(mounts, rests), min_size=1, max_size=4))
def test_each_of_several_paths_is_changed(found: list[tuple[str, str]]) -> None:
    written = ":".join(mount + rest for mount, rest in found)
    assert FOLDERS.path(written) == ":".join(f"{HERE}{mount}{rest}" for mount, rest in found)


def test_of_nested_mounts_the_inner_one_is_used_in_any_order() -> None:
    outer, inner = ("/data", Path("/a")), ("/data/cache", Path("/b"))
    for pairs in ((outer, inner), (inner, outer)):
        assert Folders(dict(pairs)).path("/data/cache/x") == "/b/x"
        assert Folders(dict(pairs)).path("/data/x") == "/a/x"


def test_a_mount_may_end_with_a_slash() -> None:
    assert Folders({"/data/": Path("/a")}).path("/data/x") == "/a/x"


def test_urls_are_not_changed() -> None:
    for text in ("s3://bucket/checkpoints", "file:///checkpoints", "https://example.com/data", "host:/data"):
        assert FOLDERS.word(f"--source={text}") == f"--source={text}"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(json_values)
def test_a_configuration_keeps_its_shape_and_all_that_is_no_path(tree: object) -> None:
    changed = FOLDERS.tree({"given": tree, "nvme_path": "/data/cache", "/data": ["/checkpoints/x", 1, None]})
    assert changed["nvme_path"] == f"{HERE}/data/cache"
    assert changed["/data"] == [f"{HERE}/checkpoints/x", 1, None]
    if not any(mount in str(tree) for mount in MOUNTS):
        assert changed["given"] == tree
