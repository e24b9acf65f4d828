"""The prose that Vale reads beside Markdown files: it is complete, and positions in it are those of the source."""

from __future__ import annotations

from tests.documentation.examples import ROOT
from tools.prose import texts

VALUES = """\
# A comment of the file.

# -- Number of nodes.
# One pod runs on each.
# @schema minimum: 1
nodes: 1
image:
  # -- (string) Repository of the image. @default -- none
  repository: ""
"""


def test_descriptions_of_values_stay_at_their_lines() -> None:
    lines = texts.values_comments(VALUES).split("\n")
    assert {number: line for number, line in enumerate(lines, 1) if line} == {
        3: "Number of nodes.",
        4: "One pod runs on each.",
        8: "Repository of the image. @default -- none",
    }


def test_every_command_line_has_its_help_checked() -> None:
    headings = {line for line in texts.help_texts(ROOT / "Makefile").splitlines() if line.startswith("## ")}
    assert {"## `trainyard lint`", "## `python -m tests.harness up`", "## `python -m trainer`", "## `make`"} <= headings


def test_examples_in_a_help_text_are_no_prose() -> None:
    text = texts.help_texts(ROOT / "Makefile")
    block = text[text.index("```console") : text.index("```\n")]
    assert "trainyard lint run.yaml" in block
