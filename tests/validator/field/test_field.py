"""Users' mistakes that public issues confirm: each is a readable case, and the linter finds most of them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from tests.validator.field import measuring, reading
from tests.validator.field.reading import Case, CaseError

# Cases are only added: one that is left out because it is missed would raise the recall.
FEWEST = 1190
# The share that is found, rounded down. The goal is 0.85.
LEAST = 0.89

# The files of some cases without their mistake, by the same path. They hold no other mistake either.
MENDED = reading.FOLDER / "mended"

HEADERS = "# link: https://github.com/a/b/issues/1\n# mistake: m\n# class: schema\n# words: w\n"
IN_ANOTHER_FILE = '# here: on "  a: 1" in other.yaml\n'


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return [reading.load(path) for path in reading.paths()]


def test_every_case_is_well_formed(cases: list[Case]) -> None:
    assert len(cases) >= FEWEST


def test_every_mistake_has_a_link_of_its_own(cases: list[Case]) -> None:
    assert [link for link, count in Counter(case.link for case in cases).items() if count > 1] == []


def test_every_case_holds_objects(cases: list[Case]) -> None:
    empty = [
        (case.name, name)
        for case in cases
        for name, text in case.files.items()
        if name.endswith((".yaml", ".json")) and not all(_documents(text))
    ]
    assert empty == []


def test_the_share_of_mistakes_that_are_found_does_not_fall(cases: list[Case]) -> None:
    found, counted = measuring.recall(measuring.measure(cases))
    assert found / counted >= LEAST, f"{found} of {counted}: `python -m tools.recall` lists the missed ones"


def test_a_mended_case_has_no_findings(cases: list[Case]) -> None:
    names = {case.name for case in cases}
    mended = [_mended(path) for path in sorted(MENDED.glob("*/*"))]
    assert [case.name for case in mended if case.name not in names] == []
    found = [(result.case.name, str(finding)) for result in measuring.measure(mended) for finding in result.others]
    assert found == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("kind: Job # <- here\n", "`# link: ...` is missing"),
        (HEADERS + "kind: Job\n", "no line ends with"),
        (HEADERS.replace("schema", "shema") + "kind: Job # <- here\n", "`shema` is no class"),
        (HEADERS.replace("https", "http") + "kind: Job # <- here\n", "is no link"),
        (HEADERS + "# reason: r\nkind: Job # <- here\n", "is no header"),
        (HEADERS + "# words: v\nkind: Job # <- here\n", "stands twice"),
        (HEADERS + "kind: Job # <- here\n# class: schema\n", "is not at the top"),
        (HEADERS.replace("words: w", "words: (") + "kind: Job # <- here\n", "is no regular expression"),
        (HEADERS + '# here: on "kind: Pod"\nkind: Job\n', "no line reads 'kind: Pod'"),
        (HEADERS + "# here: kind\nkind: Job\n", "is not understood"),
        (HEADERS + IN_ANOTHER_FILE + "kind: Job\n", "there is no file other.yaml"),
    ],
)
def test_a_malformed_case_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "1.yaml"
    path.write_text(text)
    with pytest.raises(CaseError, match=re.escape(reason)):
        reading.load(path)


def test_headers_and_marks_are_not_linted_and_lines_keep_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "case.yaml").write_text(HEADERS + IN_ANOTHER_FILE + "kind: Job  # <- here\n")
    (tmp_path / "1" / "other.yaml").write_text("b:\n  a: 1\n")
    case = reading.load(tmp_path / "1")
    assert case.files == {"case.yaml": "\n" * 5 + "kind: Job\n", "other.yaml": "b:\n  a: 1\n"}
    assert case.places == {("case.yaml", 6), ("other.yaml", 2)}


def test_a_long_header_continues_on_the_next_line(tmp_path: Path) -> None:
    (tmp_path / "1.yaml").write_text(HEADERS.replace(": m\n", ": m\n#   and n\n") + "kind: Job  # <- here\n")
    assert reading.load(tmp_path / "1.yaml").mistake == "m and n"


def _mended(path: Path) -> Case:
    """Reads mended files as a case without places, so that each finding is one about something else."""
    top = path if path.is_dir() else path.parent
    files = [file for file in sorted(path.rglob("*")) if file.is_file()] if path.is_dir() else [path]
    texts = {file.relative_to(top).as_posix(): file.read_text(encoding="utf-8") for file in files}
    return Case(path, "", "", "", re.compile(""), texts, frozenset())


def _documents(text: str) -> list[object]:
    try:
        return list(yaml.safe_load_all(text))
    except yaml.YAMLError:
        # The mistake of a case may be that the text is no YAML.
        return []
