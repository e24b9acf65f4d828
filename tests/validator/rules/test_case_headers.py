"""The headers of case files: each is read, and a wrong one is an error that names the file and the remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.validator.rules import cases
from trainyard.linting.config import ConfigError


def test_headers_are_read_and_removed_from_the_text(tmp_path: Path) -> None:
    text = '# A comment that stays.\n# target: nccl 2.20\n# profile: eks-efa\n# expect: DS001 on "a": 1\n{\n"a": 1\n}\n'
    case = cases.load(_written(tmp_path, text))
    assert case.text == '# A comment that stays.\n{\n"a": 1\n}\n'
    assert case.expected == {(3, "DS001")}
    assert case.target.nccl == (2, 20)
    assert case.profile == "eks-efa"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# targets: nccl 2.20\na: 1\n", "is not a header; the headers are expect, target, profile, site"),
        ("# target: nccl\na: 1\n", "write it like `# target: nccl 2.20`"),
        ("# target: nccl v2.20\na: 1\n", "write it like `# target: nccl 2.20`"),
        ("# target: ncl 2.20\na: 1\n", "there is no target `ncl`"),
        ("# profile: eks\na: 1\n", "there is no profile `eks`"),
        ("# site: nowhere.yaml\na: 1\n", "there is no .*nowhere.yaml"),
        ("# expect: DS001\na: 1\n", "write it like `# expect: DS001 on"),
        ("# expect: DS001 on b: 1\na: 1\n", "no line of the file reads 'b: 1'"),
        ("a: 1\n# profile: eks-efa\n", "is not at the top of the file"),
    ],
)
def test_a_wrong_header_is_an_error_that_names_the_file(text: str, message: str, tmp_path: Path) -> None:
    path = _written(tmp_path, text)
    with pytest.raises(ConfigError, match=message) as error:
        cases.load(path)
    assert str(error.value).startswith(f"{path}: `# ")


def _written(folder: Path, text: str) -> Path:
    path = folder / "rule.bad.yaml"
    path.write_text(text)
    return path
