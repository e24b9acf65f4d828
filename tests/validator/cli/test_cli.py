"""The command line: its output, its exit statuses, and errors without tracebacks."""

from __future__ import annotations

import functools
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import jsonschema
import pytest
import yaml

from tests.validator.cli.sample_runs import CLEAN, FAULTY
from tools.bench.validator import corpus
from trainyard import __version__, rules
from trainyard.cli import main
from trainyard.engine import registry, selection
from trainyard.linting import config_schema, parallel
from trainyard.linting.fixing import Fixed
from trainyard.linting.session import Session
from trainyard.loaders.site.chart import FOLDER as PLATFORM
from trainyard.reporters import json_schema

LINES = CLEAN.count("\n")


def environment(**variables: str) -> dict[str, str]:
    """Return the environment of a process that runs the package of this checkout."""
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3] / "validator"), **variables}


class Result(NamedTuple):
    """The exit status and the output of a command."""

    code: int
    out: str
    err: str


@pytest.fixture
def trainyard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Trainyard:
    """The command line, run in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return Trainyard(tmp_path, capfd)


class Trainyard:
    """Runs the command line and captures its output."""

    def __init__(self, folder: Path, captured: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._captured = captured

    def __call__(self, *arguments: str) -> Result:
        """Run a command."""
        self._captured.readouterr()
        code = main.main(list(arguments))
        out, err = self._captured.readouterr()
        assert "Traceback" not in err
        return Result(code, out, err)

    def file(self, name: str, text: str) -> Path:
        """Write a file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


def test_the_exit_status_for_a_clean_file_is_0(trainyard: Trainyard) -> None:
    trainyard.file("run.yaml", CLEAN)
    assert trainyard("lint", "run.yaml") == (0, "Nothing found in 1 file.\n", "")


def test_the_exit_status_for_a_finding_is_1_and_its_place_is_shown(trainyard: Trainyard) -> None:
    trainyard.file("run.yaml", FAULTY)
    code, out, _ = trainyard("lint", "run.yaml")
    assert code == 1
    assert out == (
        "run.yaml:17:22: error NC005 nccl-word-boolean [*]: NCCL parses NCCL_SHM_DISABLE as an integer,"
        " so `no` means 0\n"
        "   |\n"
        '17 |               value: "no"\n'
        "   |                      ^^^^\n"
        '   = help: write "0"\n'
        "\n"
        "Found 1 error in 1 file. `trainyard fix` corrects 1 [*].\n"
    )


def test_folders_are_searched_except_hidden_files_and_templates(trainyard: Trainyard) -> None:
    for name in (
        "k8s/a/run.yaml",
        "k8s/run.yml",
        "k8s/.cache/run.yaml",
        "k8s/.run.yaml",
        "k8s/run.txt",
        "k8s/chart/templates/job.yaml",
    ):
        trainyard.file(name, FAULTY)
    trainyard.file("k8s/chart/Chart.yaml", "name: x\n")
    out = json.loads(trainyard("lint", "k8s", "--output-format", "json").out)
    chart = ["k8s/chart/Chart.yaml", "k8s/chart/templates/job.yaml"]
    assert out["files"] == ["k8s/a/run.yaml", "k8s/run.yml", *chart]


def test_a_file_named_twice_is_linted_once(trainyard: Trainyard) -> None:
    trainyard.file("k8s/run.yaml", FAULTY)
    for names in (("k8s", "k8s/run.yaml", "./k8s/run.yaml"), ("./k8s/run.yaml", "k8s")):
        out = trainyard("lint", *names).out
        assert out.count("error NC005") == 1
        assert out.startswith(f"{names[0].removesuffix('/run.yaml')}/run.yaml:17:22"), "under the first of its names"


def test_a_dash_is_standard_input(trainyard: Trainyard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FAULTY.encode())))
    code, out, _ = trainyard("lint", "-")
    assert code == 1
    assert out.startswith("<stdin>:17:22: error NC005")


def test_on_a_terminal_a_dash_says_that_the_command_waits(
    trainyard: Trainyard, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = io.TextIOWrapper(io.BytesIO(CLEAN.encode()))
    monkeypatch.setattr(typed, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", typed)
    assert trainyard("lint", "-").err == "note: standard input is read; Ctrl-D ends it\n"


@pytest.mark.parametrize("text", ["", "# nothing\n", "replicas: 3\n", "---\n---\n", "[]", "null"])
def test_the_exit_status_for_a_file_without_anything_to_lint_is_3(trainyard: Trainyard, text: str) -> None:
    trainyard.file("values.yaml", text)
    code, out, _ = trainyard("lint", "values.yaml")
    assert code == 3
    assert "HV007 nothing-linted" in out
    assert trainyard("lint", "values.yaml", "--ignore", "nothing-linted").code == 0


@pytest.mark.parametrize("name", ["empty", "strangers"])
def test_the_exit_status_for_a_folder_without_anything_to_lint_is_3(trainyard: Trainyard, name: str) -> None:
    (trainyard.folder / "empty").mkdir()
    trainyard.file("strangers/ci.yaml", "on: push\n")
    trainyard.file("run.yaml", CLEAN)
    code, out, _ = trainyard("lint", "run.yaml", name)
    assert code == 3
    assert out.startswith(f"{name}:1:1: error HV007")


def test_a_folder_may_hold_other_files_beside_a_run(trainyard: Trainyard) -> None:
    trainyard.file("k8s/ci.yaml", "on: push\n")
    trainyard.file("k8s/run.yaml", CLEAN)
    assert trainyard("lint", "k8s").code == 0


@pytest.mark.parametrize(
    ("content", "where"),
    [
        (b"kind: Job\nmetadata: \xff\n", "2:11"),
        (b"kind: Job\n\tname: x\n", "2:1"),
        (b"kind: [Job\n", "2:1"),
        (b"kind: Job\nx: \x00\n", "2:4"),
        (b"kind: &a [*a, *b]\n", "1:15"),
    ],
)
def test_unreadable_text_is_a_finding_at_its_place(trainyard: Trainyard, content: bytes, where: str) -> None:
    (trainyard.folder / "run.yaml").write_bytes(content)
    code, out, _ = trainyard("lint", "run.yaml", "--select", "NC005")
    assert code == 1
    assert out.startswith(f"run.yaml:{where}: error HV009 unreadable-document: cannot parse this: ")


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"])
def test_a_byte_order_mark_is_understood_and_kept(trainyard: Trainyard, mark: bytes) -> None:
    encoding = {3: "utf-8", 2: "utf-16-le" if mark[0] == 0xFF else "utf-16-be"}[len(mark)]
    path = trainyard.folder / "run.yaml"
    path.write_bytes(mark + FAULTY.encode(encoding))
    assert "run.yaml:17:22" in trainyard("lint", "run.yaml").out
    assert trainyard("fix", "run.yaml").code == 0
    assert path.read_bytes() == mark + CLEAN.encode(encoding)


MISTAKES = {
    "no such file": (["lint", "rum.yaml"], "rum.yaml: no such file or directory"),
    "nothing named": (["lint"], "name a file, a folder or `-`"),
    "nothing named to fix": (["fix"], "`trainyard fix .` takes this folder"),
    "no command": ([], "Commands: lint"),
    "no such command": (["lnt", "run.yaml"], "there is no command `lnt`; did you mean `lint`?"),
    "nothing like a command": (["xyzzy"], "there is no command `xyzzy`; `trainyard --help` lists all"),
    "a file as the command": (["run.yaml"], "`trainyard lint FILE` checks a file"),
    "no such option": (["lint", "--peddantic", "run.yaml"], "--pedantic"),
    "no such rule": (["explain", "nccl-word-bolean"], "did you mean `nccl-word-boolean`?"),
    "no such selector": (["lint", "--select", "NX", "run.yaml"], "no rule has the code or name `NX`"),
    "a former name of a rule": (["explain", "nccl-ib-disabled"], "did you mean `nccl-ib-disabled-with-rdma`?"),
    "no such name to ignore": (["lint", "--ignore", "nccl-word", "run.yaml"], "did you mean `nccl-word-boolean`?"),
    "no such target": (["lint", "--target", "ncl=2", "run.yaml"], "did you mean `nccl`?"),
    "a target without a version": (["lint", "--target", "nccl", "run.yaml"], "write NAME=VERSION"),
    "no version": (["lint", "--target", "nccl=new", "run.yaml"], "`new` is not a version"),
    "no digits": (["lint", "--target", "nccl=²", "run.yaml"], "`²` is not a version"),
    "no such profile": (["lint", "--profile", "eks-efs", "run.yaml"], "did you mean `eks-efa`?"),
    "no such site": (["lint", "--site", "sight.yaml", "run.yaml"], "sight.yaml: no such file or directory; a site is"),
    "no site": (["lint", "--site", "run.yaml", "run.yaml"], "run.yaml: this is a PyTorchJob; a site is"),
    "no such format": (["lint", "--output-format", "sarrif", "run.yaml"], "did you mean `sarif`?"),
    "two formats to the terminal": (
        ["lint", "--output-format", "json", "--output-format", "text", "run.yaml"], "write FORMAT=FILE"),
    "a format without a file": (["lint", "--output-format", "json=", "run.yaml"], "write a file after the `=`"),
    "a file that cannot be written": (
        ["lint", "--output-format", "json=run.yaml/x.json", "run.yaml"], "cannot be written"),
    "no such baseline": (["lint", "--baseline", "b.json", "run.yaml"], "`trainyard baseline --output b.json`"),
    "no baseline": (["lint", "--baseline", "run.yaml", "run.yaml"], "it was not written by `trainyard baseline`"),
    "no such configuration": (
        ["lint", "--config", "c.yaml", "run.yaml"],
        "c.yaml: it cannot be read: no such file or directory; name a .trainyard.yaml, or leave out --config",
    ),
    "no such severity": (["lint", "--fail-on", "warn", "run.yaml"], "did you mean `warning`?"),
    "a run without -f": (["run", "run.yaml"], "`trainyard run -f run.yaml --local`"),
    "no such family": (["rules", "--family", "ncl"], "did you mean `nccl`?"),
    "no such word in the rules": (["rules", "xyzzy"], "no rule contains `xyzzy`"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_usage_error_has_exit_status_2_and_states_the_remedy(trainyard: Trainyard, name: str) -> None:
    arguments, message = MISTAKES[name]
    trainyard.file("run.yaml", CLEAN)
    code, out, err = trainyard(*arguments)
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())


def test_rules_are_selected_by_code_prefix_and_name(trainyard: Trainyard) -> None:
    trainyard.file("run.yaml", FAULTY)
    for selector in ("NC005", "nc005", "NC", "nccl-word-boolean", "DS,NC005"):
        assert trainyard("lint", "run.yaml", "--select", selector).code == 1
    assert trainyard("lint", "run.yaml", "--select", "DS").code == 0
    assert trainyard("lint", "run.yaml", "--ignore", "NC").code == 0
    assert trainyard("lint", "run.yaml", "--select", "NC", "--ignore", "nccl-word-boolean").code == 0


def test_stricter_personas_have_more_rules_and_a_full_name_enables_any_rule() -> None:
    from trainyard.engine.selection import select

    regular, pedantic, auditor = (set(select((), (), name)) for name in ("regular", "pedantic", "auditor"))
    assert regular < pedantic <= auditor == set(registry.rules())
    rule = next(rule for rule in pedantic - regular)
    assert rule not in select((rule.code[:2],), ())
    assert rule in select((rule.code,), ())


def test_several_formats_are_written_at_once(trainyard: Trainyard) -> None:
    trainyard.file("run.yaml", FAULTY)
    outputs = [f"--output-format={name}=out/{name}" for name in ("json", "sarif", "junit", "github", "gitlab")]
    code, out, _ = trainyard("lint", "run.yaml", "--output-format", "text", *outputs)
    assert code == 1
    assert "NC005" in out
    assert all(
        "NC005" in (trainyard.folder / "out" / name).read_text() for name in ("json", "sarif", "junit", "github")
    )
    assert "nccl-word-boolean" in (trainyard.folder / "out/gitlab").read_text()


def test_colours_are_for_terminals_and_on_request(trainyard: Trainyard, monkeypatch: pytest.MonkeyPatch) -> None:
    trainyard.file("run.yaml", FAULTY)
    assert "\033" not in trainyard("lint", "run.yaml").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\033[1;31merror NC005\033[0m" in trainyard("lint", "run.yaml", "--color", "always").out
    assert "\033" not in trainyard("lint", "run.yaml", "--color", "never").out


def test_statistics_count_the_findings_of_each_rule(trainyard: Trainyard) -> None:
    trainyard.file("a.yaml", FAULTY)
    trainyard.file("b.yaml", FAULTY.replace("name: llm", "name: other"))
    assert "     2  NC005  nccl-word-boolean\n" in trainyard("lint", "a.yaml", "b.yaml", "--statistics").out


def test_the_baseline_hides_known_findings_even_if_they_move(trainyard: Trainyard) -> None:
    trainyard.file("run.yaml", FAULTY)
    assert trainyard("baseline", "run.yaml").out == "Wrote 1 finding to trainyard-baseline.json.\n"
    lint = ("lint", "run.yaml", "--baseline", "trainyard-baseline.json")
    assert trainyard(*lint) == (0, "Nothing found in 1 file (1 in the baseline).\n", "")
    trainyard.file("run.yaml", "# one\n# more line\n" + FAULTY)
    assert trainyard(*lint).code == 0
    trainyard.file("run.yaml", FAULTY + '            - {name: NCCL_IB_DISABLE, value: "no"}\n')
    code, out, _ = trainyard(*lint)
    assert code == 1
    assert "Found 1 error in 1 file (1 in the baseline)" in out


def test_resolved_entries_of_the_baseline_are_reported(trainyard: Trainyard) -> None:
    trainyard.file("run.yaml", FAULTY)
    trainyard("baseline", "run.yaml")
    trainyard.file("run.yaml", CLEAN)
    code, _, err = trainyard("lint", "run.yaml", "--baseline", "trainyard-baseline.json")
    assert code == 0
    assert "1 of its findings are gone (NC005 in run.yaml)" in err
    trainyard.file("other.yaml", CLEAN)
    assert not trainyard("lint", "other.yaml", "--baseline", "trainyard-baseline.json").err
    # Without the rule nobody knows.
    assert not trainyard("lint", "run.yaml", "--baseline", "trainyard-baseline.json", "--select", "NC001").err


def test_no_baseline_is_written_when_nothing_was_linted(trainyard: Trainyard) -> None:
    trainyard.file("values.yaml", "a: 1\n")
    assert trainyard("baseline", "values.yaml").code == 3
    assert not (trainyard.folder / "trainyard-baseline.json").exists()


def test_fix_writes_the_file_and_reports_its_changes(trainyard: Trainyard) -> None:
    path = trainyard.file("run.yaml", FAULTY)
    path.chmod(0o640)
    assert trainyard("fix", "run.yaml") == (0, "", "Corrected 1 finding in 1 file; nothing is left.\n")
    assert path.read_text() == CLEAN
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(trainyard.folder.iterdir()) == [path], "nothing else is left behind"


def test_fix_leaves_a_file_that_was_saved_meanwhile_and_corrects_the_others(
    trainyard: Trainyard, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited, other = trainyard.file("edited.yaml", FAULTY), trainyard.file("other.yaml", FAULTY.replace("llm", "vit"))
    fix = Session.fix

    def fix_beside_an_editor(session: Session, *, unsafe: bool) -> Fixed:
        fixed = fix(session, unsafe=unsafe)
        edited.write_text(FAULTY + "# A note.\n")
        return fixed

    monkeypatch.setattr(Session, "fix", fix_beside_an_editor)
    assert trainyard("fix", "edited.yaml", "other.yaml") == (
        2,
        "",
        "Error: edited.yaml is not corrected: it has changed since it was read; run `trainyard fix` again\n"
        "Corrected 1 finding in 1 file; 1 left, which `trainyard lint` shows.\n",
    )
    assert edited.read_text() == FAULTY + "# A note.\n"
    assert other.read_text() == CLEAN.replace("llm", "vit")


def test_fix_does_not_separate_hard_links(trainyard: Trainyard) -> None:
    path = trainyard.file("run.yaml", FAULTY)
    (trainyard.folder / "same.txt").hardlink_to(path)
    code, _, err = trainyard("fix", "run.yaml")
    assert code == 2
    assert err.startswith("Error: run.yaml is not corrected: it has several hard links")
    assert path.read_text() == FAULTY
    assert path.stat().st_nlink == 2


def test_fix_corrects_the_target_of_a_symbolic_link(trainyard: Trainyard) -> None:
    path = trainyard.file("real/run.yaml", FAULTY)
    link = trainyard.folder / "run.yaml"
    link.symlink_to(path)
    assert trainyard("fix", "run.yaml").code == 0
    assert link.is_symlink()
    assert path.read_text() == CLEAN


def test_fix_prints_a_diff_that_patch_can_apply(trainyard: Trainyard) -> None:
    text = FAULTY.replace("\n", "\r\n")
    path = trainyard.folder / "run.yaml"
    path.write_bytes(text.encode())
    code, out, err = trainyard("fix", "--diff", "run.yaml")
    assert (code, err) == (1, "Would correct 1 finding in 1 file; nothing is left.\n")
    assert path.read_bytes() == text.encode()
    subprocess.run(["patch", "-p1", "--binary"], input=out.encode(), cwd=trainyard.folder, check=True)
    assert path.read_bytes() == CLEAN.replace("\n", "\r\n").encode()


def test_fix_writes_standard_input_to_standard_output(trainyard: Trainyard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FAULTY.encode())))
    assert trainyard("fix", "-").out == CLEAN


def test_every_rule_can_be_explained(trainyard: Trainyard) -> None:
    for rule in registry.rules():
        code, out, _ = trainyard("explain", rule.name)
        assert code == 0
        assert out.startswith(f"{rule.code} {rule.name}\n\n{registry.page(rule)}")


def test_rules_are_listed_for_people_and_programs(trainyard: Trainyard) -> None:
    codes = [rule.code for rule in registry.rules()]
    lines = trainyard("rules").out.splitlines()
    assert [line[:5] for line in lines if not line.startswith(" ")] == codes
    assert max(map(len, lines)) <= 100
    found = [
        line for line in trainyard("rules", "--family", "memory", "memory", "shm").out.splitlines() if line[0] > " "
    ]
    assert found
    assert {line[:2] for line in found} == {"SH"}
    assert [rule["code"] for rule in json.loads(trainyard("rules", "--output-format", "json").out)] == codes


def test_the_printed_schemas_are_valid(trainyard: Trainyard) -> None:
    assert json.loads(trainyard("schema").out) == config_schema.configuration_schema()
    assert json.loads(trainyard("schema", "finding").out) == json_schema.report_schema()
    valid = {"run": {"nodes": 2, "fabric": {"profile": "eks-efa"}}, "site": {"operator": {"schemes": ["pytorchjob"]}}}
    wrong = {"run": {"nodez": 2}, "site": {"operator": {"schemess": []}}}
    for name, values in valid.items():
        schema = json.loads(trainyard("schema", name).out)
        jsonschema.Draft7Validator.check_schema(schema)
        jsonschema.Draft7Validator(schema).validate(values)
        assert not jsonschema.Draft7Validator(schema).is_valid(wrong[name])
    site = jsonschema.Draft7Validator(json.loads(trainyard("schema", "site").out))
    about = yaml.safe_load((PLATFORM / "Chart.yaml").read_text(encoding="utf-8"))
    parts = [part["alias"] for part in about["dependencies"] if "alias" in part]
    assert {"operator", "runtimes"} <= set(parts)
    assert [part for part in parts if site.is_valid({part: {"misspelt": 1}})] == []
    for schema in (config_schema.configuration_schema(), json_schema.report_schema()):
        jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(
    "command", [[], *([name] for name in main.COMMANDS)], ids=lambda words: " ".join(words) or "all"
)
def test_help_shows_examples(trainyard: Trainyard, command: list[str]) -> None:
    code, out, _ = trainyard(*command, "--help")
    assert code == 0
    assert f"  trainyard {' '.join(command)}" in out


def test_rules_named_in_the_help_exist(trainyard: Trainyard) -> None:
    pages = "".join(trainyard(name, "--help").out for name in main.COMMANDS)
    examples = re.findall(r"--(?:ignore|select) ((?!RULE)[\w,-]+)|trainyard: allow ([\w-]+)", pages)
    names = [name for words in examples for name in ",".join(filter(None, words)).split(",")]
    assert {"NC", "shm-too-small-for-gpus", "nccl-ib-disabled-with-rdma"} <= {*names}
    assert all(selection.matching_rules(name) for name in names)


def test_the_version_imports_next_to_nothing() -> None:
    script = "import sys; sys.argv = ['trainyard', '--version']; from trainyard.__main__ import main; main()"
    script += "; print(*{'click', 'yaml', 're', 'typing'} & sys.modules.keys())"
    # -S, because modules that site imports by itself do not count.
    command = [sys.executable, "-S", "-c", script]
    result = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    assert result.stdout.split("\n") == [f"trainyard {__version__}", "", ""]


def test_a_clean_job_is_linted_without_the_parser_that_knows_positions(tmp_path: Path) -> None:
    (path,) = corpus.write(tmp_path / "jobs", 1)
    script = f"import sys; sys.argv = ['trainyard', 'lint', {str(path)!r}]; from trainyard.__main__ import main"
    script += "; status = main(); print(status, *{'yaml', 'csv', 'gotemplate.construct'} & sys.modules.keys())"
    command = [sys.executable, "-c", script]
    result = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    assert result.stdout == "Nothing found in 1 file.\n0\n"


def test_a_closed_pipe_is_no_error(trainyard: Trainyard) -> None:
    trainyard.file("run.yaml", "---\n".join([FAULTY] * 200))
    command = f"{sys.executable} -m trainyard lint run.yaml | head -1"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True, env=environment())
    assert result.stdout.startswith("run.yaml:17:22: error NC005")
    assert result.stderr == ""


@pytest.mark.parametrize("command", [["rules"], ["explain", "nccl-word-boolean"]], ids=" ".join)
def test_output_that_nobody_reads_has_the_exit_status_130(command: list[str]) -> None:
    reads, writes = os.pipe()
    os.close(reads)
    call = [sys.executable, "-m", "trainyard", *command]
    result = subprocess.run(call, stdout=writes, stderr=subprocess.PIPE, check=False, env=environment())
    os.close(writes)
    assert (result.returncode, result.stderr) == (130, b"")


def test_the_help_without_a_command_keeps_its_lines(trainyard: Trainyard) -> None:
    assert trainyard().err == trainyard("--help").out


def test_a_full_disk_is_no_bug_report(trainyard: Trainyard) -> None:
    trainyard.file("run.yaml", FAULTY)
    for command in ("lint run.yaml", "lint run.yaml --output-format json", "rules"):
        words = [sys.executable, "-m", "trainyard", *command.split()]
        with Path("/dev/full").open("w") as full:
            result = subprocess.run(
                words, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=environment()
            )
        assert (result.returncode, result.stderr) == (
            2,
            "Error: the output cannot be written: no space left on device\n",
        )


@pytest.mark.parametrize("words", [("lint", "run.yaml"), ("lint", "."), ("fix", "."), ("baseline", ".")])
def test_a_current_folder_that_is_gone_is_said(tmp_path: Path, trainyard: Trainyard, words: tuple[str, ...]) -> None:
    tmp_path.rmdir()
    result = trainyard(*words)
    assert result.code == 2
    assert result.err == "Error: the current folder has been deleted; change to another one\n"


def test_without_yaml_rs_the_findings_are_the_same(trainyard: Trainyard) -> None:
    for number in range(parallel.MANY + 2):
        trainyard.file(f"jobs/{number}.yaml", FAULTY if number % 9 == 0 else CLEAN)
    script = "import sys; sys.modules['yaml_rs._yaml_rs'] = None; sys.argv = ['trainyard', 'lint', 'jobs']"
    script += "; from trainyard.__main__ import main; sys.exit(main())"
    run = functools.partial(
        subprocess.run, capture_output=True, text=True, check=False, env=environment(TRAINYARD_CACHE="cache")
    )
    without = run([sys.executable, "-c", script])
    shutil.rmtree("cache")
    usual = run([sys.executable, "-m", "trainyard", "lint", "jobs"])
    assert (without.returncode, without.stdout, without.stderr) == (1, usual.stdout, "")
    assert "Found 8 errors in 66 files" in without.stdout


def test_without_yaml_rs_a_profile_is_read(trainyard: Trainyard) -> None:
    case = Path(rules.__file__).parent / "fabric" / "cases" / "fabric_resource_missing.bad.yaml"
    trainyard.file("run.yaml", case.read_text())
    script = "import sys; sys.modules['yaml_rs._yaml_rs'] = None; sys.argv = ['trainyard', 'lint', 'run.yaml']"
    script += "; sys.argv += ['--profile', 'eks-efa']; from trainyard.__main__ import main; sys.exit(main())"
    run = functools.partial(subprocess.run, capture_output=True, text=True, check=False)
    without = run([sys.executable, "-c", script], env=environment(TRAINYARD_CACHE="cache"))
    usual = trainyard("lint", "run.yaml", "--profile", "eks-efa")
    assert (without.returncode, without.stdout, without.stderr) == (1, usual.out, "")
    assert "FB004" in usual.out


def test_completion_knows_the_formats() -> None:
    variables = {"_TRAINYARD_COMPLETE": "bash_complete", "COMP_WORDS": "trainyard lint --output-format s"}
    command = [sys.executable, "-m", "trainyard"]
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment(COMP_CWORD="3", **variables)
    )
    assert result.stdout.split() == ["plain,sarif"]


def test_completion_knows_the_rules(trainyard: Trainyard) -> None:
    variables = {
        "_TRAINYARD_COMPLETE": "bash_complete",
        "COMP_WORDS": "trainyard explain nccl-word-",
        "COMP_CWORD": "2",
    }
    command = [sys.executable, "-m", "trainyard"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment(**variables))
    assert "plain,nccl-word-boolean" in result.stdout.split()
