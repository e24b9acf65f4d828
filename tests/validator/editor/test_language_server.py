"""The language server, asked by a real client over standard input and output."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.validator.cli.sample_runs import CLEAN, FAULTY
from tests.validator.editor.client import Editor, applied
from trainyard import DISTRIBUTION
from trainyard.cli import main
from trainyard.commands.editor.ruler import Ruler, text_edits
from trainyard.engine import registry, selection

PAGE = registry.page(selection.find_one("nccl-word-boolean"))
TWO_FAULTS = FAULTY + "            - name: NCCL_IB_DISABLE\n              value: 'yes'\n"
IN_A_SCRIPT = CLEAN.replace(
    "            env:\n",
    "            command: [bash, -c]\n"
    "            args:\n"
    "            - |\n"
    "              export NCCL_P2P_DISABLE=no\n"
    "              torchrun train.py\n"
    "            env:\n",
)
USES_A_CONFIG_MAP = CLEAN.replace(
    "            env:\n", "            envFrom:\n            - configMapRef: {name: nccl}\n            env:\n"
)
CONFIG_MAP = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: nccl\ndata:\n  NCCL_P2P_DISABLE: "0"\n'


@pytest.fixture(scope="module")
def shared() -> Iterator[Editor]:
    """One editor for the module: a server takes half a second to start."""
    opened = Editor()
    yield opened
    opened.close()


@pytest.fixture
def editor(shared: Editor, tmp_path: Path) -> Editor:
    """The editor, with the folder of the test open."""
    shared.open_folder(tmp_path)
    shared.messages.clear()
    return shared


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A file with a clean run."""
    path = tmp_path / "run.yaml"
    path.write_text(CLEAN)
    return path


def codes(diagnostics: list[types.Diagnostic]) -> list[Any]:
    """Return the names of the rules."""
    return [diagnostic.code for diagnostic in diagnostics]


def test_a_finding_in_text_that_is_not_saved_is_shown_until_it_is_corrected(editor: Editor, run: Path) -> None:
    assert editor.open(run) == []
    (found,) = editor.type(run, FAULTY)
    assert (found.code, found.severity, found.source) == (
        "nccl-word-boolean",
        types.DiagnosticSeverity.Error,
        "trainyard",
    )
    assert found.range == types.Range(types.Position(16, 21), types.Position(16, 25))
    assert found.message.endswith('\nwrite "0"')
    assert found.code_description is not None
    assert found.code_description.href.endswith("/rules/nccl-word-boolean/")
    assert editor.type(run, CLEAN) == []


def test_the_buffers_of_other_files_count_and_so_do_files_that_are_not_open(editor: Editor, run: Path) -> None:
    settings = run.with_name("nccl.yaml")
    settings.write_text(CONFIG_MAP.replace('"0"', '"no"'))
    assert editor.open(run, USES_A_CONFIG_MAP) == []
    assert codes(editor.open(settings)) == ["nccl-word-boolean"]
    assert editor.type(settings, CONFIG_MAP) == []


def test_positions_count_in_utf_16(editor: Editor, run: Path) -> None:
    line = '            env: [{name: GREETING, value: "🚂🚃"}, {name: NCCL_SHM_DISABLE, value: "no"}]'
    (found,) = editor.open(run, CLEAN[: CLEAN.index("            env:")] + line + "\n")
    units = line.encode("utf-16-le")
    assert units[2 * found.range.start.character : 2 * found.range.end.character].decode("utf-16-le") == '"no"'
    (fix, _) = editor.actions(run, found.range, "quickfix")
    assert 'value: "🚂🚃"}, {name: NCCL_SHM_DISABLE, value: "0"}' in editor.apply(run, fix)


def test_an_editor_may_count_characters_and_have_no_lazy_actions(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(FAULTY)
    line = '            env: [{name: GREETING, value: "🚂🚃"}, {name: NCCL_SHM_DISABLE, value: "no"}]'
    plain = Editor(encoding=types.PositionEncodingKind.Utf32, resolves=False)
    try:
        # No folder is open: the file is linted alone.
        (found,) = plain.open(path, CLEAN[: CLEAN.index("            env:")] + line + "\n")
        assert line[found.range.start.character : found.range.end.character] == '"no"'
        assert all(action.edit is not None for action in plain.actions(path, found.range))
    finally:
        plain.close()


def test_hover_shows_the_page_that_explain_prints(editor: Editor, run: Path) -> None:
    text = FAULTY.replace('"no"', '"no"  # trainyard: allow nccl-word-boolen: on purpose')
    editor.open(run, text)
    assert PAGE in editor.hover(run, 16, 22)
    assert editor.hover(run, 3, 9) == ""
    editor.type(run, text.replace("boolen", "boolean"))
    assert PAGE in editor.hover(run, 16, 55), "the name in a comment"


def test_one_finding_is_corrected_and_the_others_stay(editor: Editor, run: Path) -> None:
    first, _ = editor.open(run, TWO_FAULTS)
    fix, allowing = editor.actions(run, first.range, "quickfix")
    assert (fix.title, fix.is_preferred) == ('Fix nccl-word-boolean: write "0"', True)
    assert allowing.title == "Allow nccl-word-boolean here, with a reason"
    text = editor.apply(run, fix)
    assert text == TWO_FAULTS.replace('"no"', '"0"')
    assert codes(editor.type(run, text)) == ["nccl-word-boolean"]


def test_all_findings_of_a_file_are_corrected_at_once(editor: Editor, run: Path) -> None:
    editor.open(run, TWO_FAULTS)
    nowhere = types.Range(types.Position(0, 0), types.Position(0, 0))
    (action,) = editor.actions(run, nowhere, "source.fixAll")
    assert action.kind == "source.fixAll.trainyard"
    text = editor.apply(run, action)
    assert text == TWO_FAULTS.replace('"no"', '"0"').replace("'yes'", "'1'")
    assert editor.type(run, text) == []
    assert editor.actions(run, nowhere, "source.fixAll") == []


def test_a_finding_is_allowed_by_a_comment(editor: Editor, run: Path) -> None:
    (found,) = editor.open(run, FAULTY)
    _, action = editor.actions(run, found.range)[:2]
    text = editor.apply(run, action)
    above = "              # trainyard: allow nccl-word-boolean: TODO say why this is right here\n"
    assert text == FAULTY.replace('              value: "no"', f'{above}              value: "no"')
    assert editor.type(run, text) == []


def test_a_finding_in_a_script_is_allowed_by_an_annotation(editor: Editor, run: Path) -> None:
    (found,) = editor.open(run, IN_A_SCRIPT)
    action = editor.actions(run, found.range)[-2]
    text = editor.apply(run, action)
    assert 'trainyard/allow: "nccl-word-boolean: TODO' in text.replace("'", '"')
    assert editor.type(run, text) == []


def test_broken_text_is_a_finding_and_the_server_goes_on(editor: Editor, run: Path) -> None:
    assert codes(editor.open(run, CLEAN + "  ]: [broken")) == ["unreadable-document"]
    assert codes(editor.type(run, "kind: PyTorchJob\nspec: &a [*a, {" + "[" * 3000)) == ["unreadable-document"]
    assert editor.type(run, CLEAN) == []


def test_files_that_are_no_yaml_are_left_alone(editor: Editor, run: Path) -> None:
    program = run.with_name("train.py")
    program.write_text("value: [\n")
    editor.open_quietly(program)
    assert codes(editor.open(run, FAULTY)) == ["nccl-word-boolean"]
    assert editor.is_silent(program)
    assert editor.hover(program, 0, 1) == ""
    assert editor.actions(program, types.Range(types.Position(0, 0), types.Position(0, 1))) == []


def test_the_nearest_configuration_counts_and_a_wrong_one_is_named(editor: Editor, run: Path) -> None:
    configuration = run.with_name(".trainyard.yaml")
    configuration.write_text("ignore: [nccl-word-boolean]\n")
    assert editor.open(run, FAULTY) == []
    editor.save(configuration, "ignor: [nccl-word-boolean]\n")
    editor.wait(lambda: bool(editor.messages))
    assert editor.messages[0].endswith(".trainyard.yaml: ignor: there is no such key; did you mean `ignore`?")
    editor.save(configuration, "min-severity: error\n")
    assert codes(editor.shown(run)) == ["nccl-word-boolean"]


def test_a_file_that_appears_beside_another_changes_what_it_is(editor: Editor, run: Path) -> None:
    values = run.with_name("values.yaml")
    wrong = "multus: {enabled: true, image: {tagg: v4}}\nwhereabouts: {enabled: true}\n"
    values.write_text(wrong)
    assert codes(editor.open(run, FAULTY)) == ["nccl-word-boolean"]
    assert codes(editor.open(values)) == ["values-unknown-key"]
    run.with_name("chainsaw-test.yaml").write_text("- assert:\n    file: run.yaml\n")
    run.with_name("Chart.yaml").write_text("name: ours\n")
    assert editor.type(run, FAULTY + "# again\n") == []
    assert editor.type(values, wrong + "# again\n") == []


def test_a_file_that_is_not_saved_yet_does_no_harm(editor: Editor, tmp_path: Path) -> None:
    assert editor.open(tmp_path / "new.yaml", FAULTY) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a: 1\nb: 2\nc: 3\n", "a: 1\nb: 20\nc: 3\n"),
        ("a: 🚂\n", "a: 🚂🚃\nb: 1\n"),
        ("a: 1\r\nb: 2\r\n", "b: 2\r\n"),
        ("", "a: 1\n"),
        ("a: 1", ""),
    ],
)
def test_edits_turn_one_text_into_the_other(old: str, new: str) -> None:
    assert applied(old, text_edits(Ruler(old), new)) == new


def test_edits_leave_the_other_lines_alone() -> None:
    (edit,) = text_edits(Ruler("a: 1\nb: 2\nc: 3\n"), "a: 1\nb: 20\nc: 3\n")
    assert (edit.range, edit.new_text) == (types.Range(types.Position(1, 4), types.Position(1, 4)), "0")


def test_line_breaks_of_yaml_that_an_editor_does_not_count(editor: Editor, run: Path) -> None:
    (found,) = editor.open(run, FAULTY.replace("name: llm", "name: llm # one\x85"))
    assert found.range.start.line == 16


def test_a_missing_library_ends_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    real = builtins.__import__

    def missing(name: str, *others: Any) -> Any:
        if name.startswith("trainyard.commands.editor"):
            raise ModuleNotFoundError("No module named 'pygls'", name="pygls.lsp")
        return real(name, *others)

    monkeypatch.setattr(builtins, "__import__", missing)
    assert main.main(["lsp"]) == 3
    assert f"python -m pip install '{DISTRIBUTION}[lsp]'" in capfd.readouterr().err
