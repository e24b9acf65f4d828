"""Files that a repository may hold to stop the linter, or to make it read the machine: links, pipes, /proc."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.validator.cli.sample_runs import CLEAN, FAULTY
from trainyard.cli import main
from trainyard.document import opening

NOBODY = 65534
SECRET = "aws_access_key_id = AKIAEXAMPLE\n"  # noqa: S105
CHART = {
    "apps/llm/Chart.yaml": "apiVersion: v2\nname: llm\nversion: 0.1.0\n",
    "apps/llm/values.yaml": "nodes: 2\n",
    "apps/llm/templates/job.yaml": CLEAN,
}

Run = Callable[..., tuple[int, str, str]]

# A file that never ends, a pipe, or a device stops a linter that waits for it. Beside a cluster a test takes long.
pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """A function that runs a command in a repository beside a folder with a secret, and returns status and output."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home/credentials").write_text(SECRET)
    (tmp_path / "home/job.yaml").write_text(FAULTY)
    (tmp_path / "repository/.git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "repository")

    def call(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        code = main.main(list(arguments))
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        assert "AKIA" not in out + err
        return code, out, err

    return call


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


@pytest.mark.parametrize(
    "target",
    ["/dev/zero", "/dev/stdin", "/proc/self/environ", "/proc/kmsg", "../../home/credentials", "../.git/config"],
)
def test_a_link_out_of_the_folder_is_reported_and_never_followed(run: Run, target: str) -> None:
    write({"k8s/run.yaml": CLEAN, ".git/config": SECRET})
    Path("k8s/x.yaml").symlink_to(target)
    code, out, _ = run("lint", "k8s")
    assert code == 1
    assert "k8s/x.yaml:1:1: error HV009" in out
    assert "its link leads out of `k8s`" in out


def test_a_link_into_the_git_folder_is_never_followed(run: Run) -> None:
    write({"run.yaml": CLEAN, ".git/config": SECRET})
    Path("x.yaml").symlink_to(".git/config")
    code, out, _ = run("lint", ".")
    assert code == 1
    assert "its link leads into a .git folder" in out


def test_a_link_within_the_folder_is_followed(run: Run) -> None:
    write({"k8s/base/run.txt": FAULTY})
    Path("k8s/run.yaml").symlink_to("base/run.txt")
    code, out, _ = run("lint", "k8s")
    assert code == 1
    assert "k8s/run.yaml:17:" in out


def test_a_pipe_in_a_folder_is_reported_and_not_waited_for(run: Run) -> None:
    write({"k8s/run.yaml": CLEAN})
    os.mkfifo("k8s/x.yaml")
    code, out, _ = run("lint", "k8s")
    assert code == 1
    assert "k8s/x.yaml:1:1: error HV009" in out
    assert "it is not a regular file" in out


def test_a_named_pipe_is_read_when_the_user_names_it(run: Run) -> None:
    os.mkfifo("x.yaml")
    writer = threading.Thread(target=Path("x.yaml").write_text, args=(FAULTY,))
    writer.start()
    code, out, _ = run("lint", "x.yaml")
    writer.join()
    assert (code, "x.yaml:17:" in out) == (1, True)


def test_a_named_pipe_that_nothing_writes_to_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_PATIENCE", 0.1)
    os.mkfifo("x.yaml")
    code, out, err = run("lint", "x.yaml")
    assert (code, out) == (2, "")
    assert "x.yaml: it is a named pipe, and nothing has written to it in 0.1 seconds" in err


def test_a_writer_of_a_named_pipe_may_write_late(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chart is rendered before the first line is written."""
    waited = threading.Event()
    monkeypatch.setattr(opening, "_PATIENCE", -1)
    original = os.set_blocking

    def set_blocking(handle: int, blocking: bool) -> None:
        original(handle, blocking)
        waited.set()

    monkeypatch.setattr(os, "set_blocking", set_blocking)
    os.mkfifo("x.yaml")
    # Linux opens a pipe for both at once.
    handle = os.open("x.yaml", os.O_RDWR)

    def write_late() -> None:
        waited.wait()
        os.write(handle, FAULTY.encode())
        os.close(handle)

    writer = threading.Thread(target=write_late)
    writer.start()
    code, out, _ = run("lint", "x.yaml")
    writer.join()
    assert (code, "x.yaml:17:" in out) == (1, True)


def test_an_empty_process_substitution_is_not_waited_for(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_PATIENCE", float("inf"))
    read, write_end = os.pipe()
    os.close(write_end)
    assert run("lint", f"/dev/fd/{read}")[0] != 2
    os.close(read)


def test_process_substitution_is_read(run: Run) -> None:
    read, write_end = os.pipe()
    os.write(write_end, FAULTY.encode())
    os.close(write_end)
    code, out, _ = run("lint", f"/dev/fd/{read}")
    os.close(read)
    assert (code, f"/dev/fd/{read}:17:" in out) == (1, True)


@pytest.mark.parametrize("target", ["/proc/self/environ", "../../home/credentials", "../.git/config"])
def test_a_link_out_of_the_repository_is_not_followed_when_a_script_names_it(run: Run, target: str) -> None:
    """CI names the changed files of a branch, and the branch may hold links."""
    write({".git/config": SECRET})
    Path("k8s").mkdir()
    Path("k8s/x.yaml").symlink_to(target)
    code, _, err = run("lint", "k8s/x.yaml")
    assert code == 2
    assert "its link leads" in err
    assert "name its target" in err


def test_a_named_link_to_a_file_of_the_repository_is_followed(run: Run) -> None:
    write({"base/run.txt": FAULTY})
    Path("k8s").mkdir()
    Path("k8s/run.yaml").symlink_to("../base/run.txt")
    code, out, _ = run("lint", "k8s/run.yaml")
    assert (code, "k8s/run.yaml:17:" in out) == (1, True)


@pytest.mark.parametrize("arguments", [["/dev/zero"], ["--site", "/dev/zero", "run.yaml"]])
def test_a_named_file_without_an_end_is_read_up_to_the_limit(run: Run, arguments: list[str]) -> None:
    write({"run.yaml": CLEAN})
    code, out, err = run("lint", *arguments)
    assert code in (1, 2)
    assert "it is larger than 32 MiB" in out + err


def test_a_baseline_without_an_end_is_an_error(run: Run) -> None:
    write({"run.yaml": CLEAN})
    code, _, err = run("lint", "--baseline", "/dev/zero", "run.yaml")
    assert code == 2
    assert "it is larger than 32 MiB" in err


def test_a_gitignore_without_an_end_is_passed_over(run: Run) -> None:
    write({"run.yaml": CLEAN})
    Path(".gitignore").symlink_to("/dev/zero")
    assert run("lint", ".")[0] == 0


@pytest.mark.parametrize("name", [".trainyard.yaml", "pyproject.toml"])
@pytest.mark.parametrize("target", ["/dev/zero", "/proc/kmsg", "../home/credentials"])
def test_a_configuration_that_links_out_of_the_repository_is_never_read(run: Run, name: str, target: str) -> None:
    write({"run.yaml": CLEAN})
    Path(name).symlink_to(target)
    code, _, err = run("lint", "run.yaml")
    assert code == 2 if name == ".trainyard.yaml" else code in (0, 2)
    assert code == 0 or "its link leads out of" in err


def test_fix_writes_through_no_link_that_leaves_the_folder(run: Run) -> None:
    write({"k8s/run.yaml": CLEAN, **CHART})
    for name in ("k8s/x.yaml", "apps/llm/ci/x-values.yaml"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).symlink_to(os.path.relpath("../home/job.yaml", Path(name).parent))
    run("fix", ".")
    assert Path("../home/job.yaml").read_text() == FAULTY
    assert Path("k8s/x.yaml").is_symlink()


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("files", "/"),
        ("files", "/proc"),
        ("files", ".."),
        ("templates/x.yaml", "/dev/zero"),
        ("templates/_x.tpl", "../../../../home/credentials"),
        ("ci", "/proc/self"),
        ("charts/a", "../../../../home"),
    ],
)
def test_a_chart_with_a_link_out_of_the_repository_is_not_rendered(run: Run, link: str, target: str) -> None:
    write(CHART)
    Path("apps/llm", link).parent.mkdir(exist_ok=True)
    Path("apps/llm", link).symlink_to(target)
    code, out, _ = run("lint", "apps")
    assert code == 3
    assert f"{link}: " in out
    code, _, err = run("lint", "--chart", "apps/llm")
    assert (code, "its link leads" in err) == (3, True)
    run("fix", "apps")


def test_a_chart_with_a_pipe_is_not_waited_for(run: Run) -> None:
    write(CHART)
    os.mkfifo("apps/llm/templates/x.yaml")
    code, out, _ = run("lint", "apps")
    assert (code, "it is not a regular file" in out) == (3, True)


def test_a_chart_may_share_files_of_the_repository(run: Run) -> None:
    write({**CHART, "shared/_names.tpl": '{{- define "n" }}x{{ end }}'})
    Path("apps/llm/templates/_names.tpl").symlink_to("../../../shared/_names.tpl")
    Path("apps/llm/files").symlink_to("../../shared")
    assert run("lint", "apps")[:2] == (0, "Nothing found in 4 files.\n")


def test_a_hidden_folder_is_no_part_of_a_chart(run: Run) -> None:
    write(CHART)
    Path("apps/llm/.venv/bin").mkdir(parents=True)
    Path("apps/llm/.venv/bin/python").symlink_to("/usr/bin/env")
    assert run("lint", "apps")[:2] == (0, "Nothing found in 3 files.\n")


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Drop the rights of root, which no mode of a file stops."""
    before = os.geteuid()
    if before == 0:
        Path.cwd().chmod(0o755)
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)


def test_a_folder_that_cannot_be_opened_is_reported(run: Run) -> None:
    write({"k8s/run.yaml": CLEAN, "k8s/closed/run.yaml": FAULTY})
    Path("k8s/closed").chmod(0)
    try:
        with ordinary_user():
            code, out, _ = run("lint", "k8s")
            assert code == 1
            assert "k8s/closed:1:1: error HV009" in out
            assert "it cannot be opened: permission denied" in out
            code, _, err = run("lint", "k8s/closed")
            assert code == 2
            assert "k8s/closed: permission denied" in err
    finally:
        Path("k8s/closed").chmod(0o755)


def test_a_link_to_a_folder_elsewhere_is_named_and_not_followed(run: Run) -> None:
    write({"k8s/run.yaml": CLEAN, "base/more.yaml": FAULTY})
    Path("k8s/base").symlink_to("../base")
    Path("k8s/here").symlink_to(".")
    Path("k8s/gone").symlink_to("../gone")
    code, out, err = run("lint", "k8s")
    assert (code, out) == (0, "Nothing found in 1 file.\n")
    assert err == "note: k8s/base: not checked: a link to a folder; name the folder to check it\n"
    assert run("lint", "k8s", "k8s/base")[0] == 1
