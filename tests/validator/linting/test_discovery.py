"""The configuration that no option names: where it may be, and which files it may name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.validator.cli.sample_runs import CLEAN, FAULTY
from trainyard.cli import main
from trainyard.linting import discovery

NOBODY = 65534

Lint = Callable[..., tuple[int, str, str]]


@pytest.fixture
def lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Lint:
    """A function that lints a file in a folder two levels below a shared one."""
    (tmp_path / "shared/work/k8s").mkdir(parents=True)
    (tmp_path / "shared/work/k8s/run.yaml").write_text(FAULTY)
    monkeypatch.chdir(tmp_path / "shared/work/k8s")

    def run(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        code = main.main(["lint", "run.yaml", *arguments])
        return code, *capfd.readouterr()

    return run


def test_a_configuration_above_is_named_unless_it_is_in_the_repository(lint: Lint) -> None:
    Path("../.trainyard.yaml").write_text("ignore: [NC]\n")
    code, _, err = lint()
    assert (code, err) == (0, f"note: the configuration is {Path.cwd().parent}/.trainyard.yaml\n")
    Path("../.git").mkdir()
    assert lint() == (0, "Nothing found in 1 file.\n", "")


def test_a_configuration_of_another_user_above_is_not_used(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("../../.trainyard.yaml").write_text("ignore: [NC]\n")
    assert lint()[0] == 0
    if os.geteuid() == 0:
        os.chown("../..", NOBODY, NOBODY)
    else:
        monkeypatch.setattr(discovery, "_owners", lambda start: frozenset({NOBODY}))  # noqa: ARG005
    code, _, err = lint()
    assert code == 1
    assert ".trainyard.yaml is not used: it belongs to another user; `--config /" in err


@pytest.mark.parametrize("in_repository", [True, False])
@pytest.mark.parametrize("text", ["machine github.com login bot password ghp_FAKE", "ghp_FAKE: [1", "kind: ghp_FAKE"])
def test_a_site_outside_is_never_read(lint: Lint, text: str, in_repository: bool) -> None:
    if in_repository:
        Path("../.git").mkdir()
    secret = Path("../../.netrc").resolve()
    secret.write_text(text)
    Path("../linked").symlink_to(secret.parent)
    for site in ("../../.netrc", str(secret), "../linked/.netrc"):
        Path(".trainyard.yaml").write_text(f"site: {site}\n")
        code, out, err = lint()
        assert (code, out) == (2, "")
        assert "it cannot be read: its path leads out of `" in err
        assert "ghp_FAKE" not in err


@pytest.mark.parametrize("text", ["password ghp_FAKE", "ghp_FAKE: [1", "apiVersion: v1\nkind: ghp_FAKE", "ghp_FAKE: 1"])
def test_the_error_of_a_site_in_the_configuration_quotes_nothing(lint: Lint, text: str) -> None:
    Path("credentials").write_text(text)
    Path(".trainyard.yaml").write_text("site: credentials\n")
    code, _, err = lint()
    assert code == 2
    assert "it does not hold the values of a site; `trainyard lint --site /" in err
    assert "ghp_FAKE" not in err


@pytest.mark.timeout(300)
def test_a_site_that_is_a_pipe_is_not_waited_for(lint: Lint) -> None:
    os.mkfifo("site.yaml")
    Path(".trainyard.yaml").write_text("site: site.yaml\n")
    code, _, err = lint()
    assert (code, "it is not a regular file" in err) == (2, True)


def test_a_linked_project_file_is_used_within_the_repository_only(lint: Lint) -> None:
    Path("../../pyproject.toml").write_text('[tool.trainyard]\nignore = ["NC"]\n')
    Path("../project.toml").write_text('[tool.trainyard]\nignore = ["NC"]\n')
    Path("../.git").mkdir()
    Path("pyproject.toml").symlink_to("../project.toml")
    assert lint()[0] == 0
    Path("pyproject.toml").unlink()
    Path("pyproject.toml").symlink_to("../../pyproject.toml")
    code, _, err = lint()
    assert code == 1
    assert "pyproject.toml is not used: its link leads out of" in err


def test_the_search_ends_without_a_configuration(lint: Lint) -> None:
    Path("run.yaml").write_text(CLEAN)
    Path("../.git").mkdir()
    assert lint() == (0, "Nothing found in 1 file.\n", "")
