"""Shell text is parsed as a shell does, as far as finding commands and variables requires."""

from __future__ import annotations

import time

import pytest

from trainyard.document.document import Document, Place
from trainyard.document.source import Source
from trainyard.loaders.manifests import shell

AT = Place(Document(Source("run.sh", ""), 0, None, ()))


def commands(text: str) -> list[tuple[str, ...]]:
    return [command.words for command in shell.parse_script(text, AT)[0]]


def stages(text: str) -> list[list[str]]:
    return [[stage.words[0].text for stage in pipeline] for pipeline in shell.pipelines(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "torchrun --nnodes=2 \\\n  train.py 'a b' \"c d\" e\\ f",
            [("torchrun", "--nnodes=2", "train.py", "a b", "c d", "e f")],
        ),
        ("cat <<'END' > note\ntorchrun train.py | tee log\nEND\necho done", [("cat",), ("echo", "done")]),
        ("cat <<-A <<B\n\tone\n\tA\ntorchrun\nB\ndate", [("cat",), ("date",)]),
        ("grep x <<< 'END text'\ndate", [("grep", "x"), ("date",)]),
        ("echo $((1 << 3))\ndate", [("echo", "$((1 << 3))"), ("date",)]),
        ("A=1 B=2 exec timeout 60 torchrun train.py", [("torchrun", "train.py")]),
        ("if ! nvidia-smi > /dev/null 2>&1; then exit 1; fi", [("nvidia-smi",), ("exit", "1")]),
        ("case $MODE in\n  torchrun)\n    date ;;\nesac", [("date",)]),
        ("case $MODE in\n  a)\n    date ;;\n  b)\n    true ;;\nesac", [("date",), ("true",)]),
        ("train() {\n  date\n}\ntrain", [("date",), ("train",)]),
        ("(cd /work && make all)", [("cd", "/work"), ("make", "all")]),
        ('echo "$(dirname "$0")/x" # torchrun', [("echo", '$(dirname "$0")/x')]),
        ("for i in 1 2; do date; done", [("date",)]),
    ],
)
def test_commands_are_found_with_their_words(text: str, expected: list[tuple[str, ...]]) -> None:
    assert commands(text) == expected


def test_words_have_their_lines() -> None:
    (command,) = shell.parse_script("\ncat <<END\nx\nEND\ntorchrun \\\n  --nnodes=2", AT)[0][1:]
    assert [place.line for place in command.word_at] == [5, 6]


def test_stages_joined_by_a_pipe_are_one_pipeline() -> None:
    assert stages("a | b |& c && d || e; f &\n{ g; } | h") == [["a", "b", "c"], ["d"], ["e"], ["f"], ["g"], ["h"]]


def test_variables_come_from_exports_and_prefixes() -> None:
    settings = shell.parse_script("export A=1 B='x y'\nC=3 torchrun train.py\nD=4", AT)[1]
    assert [(setting.name, setting.value, setting.via) for setting in settings] == [
        ("A", "1", "script"),
        ("B", "x y", "script"),
        ("C", "3", "command"),
        ("D", "4", "script"),
    ]


@pytest.mark.parametrize("piece", ["(", "$(", '"a$(', "'", "`", "${", "<(", "<<A\n", "\\", "a='"])
def test_unterminated_text_is_parsed_in_linear_time(piece: str) -> None:
    start = time.monotonic()
    commands(piece * 10_000)
    assert time.monotonic() - start < 5
