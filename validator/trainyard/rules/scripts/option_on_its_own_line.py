r"""A line of a script begins with an option, because the line above does not end with a backslash.

The shell ends the command at the line break, and runs the option as a command of its own: `--rdzv_backend: command not
found`. The launcher above has started without these options, with its defaults, or without a script. A comment behind
a backslash has the same effect: in `--batch_size 8 \ # for each GPU`, the backslash escapes a space.

The rule leaves out here-documents, arrays, quoted text and patterns of `case`. Spaces behind a backslash are reported
by SC020.

End each line but the last with a backslash, and write comments above the command. Options in an array,
`ARGS=(--nnodes 2)`, need no backslash, and comments may stand among them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.engine.rule import Problem, rule
from trainyard.loaders.manifests.shell import Statement, statements
from trainyard.model.run import Script

_OPTION = re.compile(r"--?[A-Za-z][\w.-]*(?:=|$)")
# Data, with the line breaks that it has.
_ARRAY = re.compile(r"""\w\+?=\((?>(?:[^()"'\\]++|\\.|"(?>(?:[^"\\]|\\.)*)"|'[^']*+'|\([^()]*+\))*)\)""", re.DOTALL)
_SPACED = re.compile(r"(?<!\\)\\[ \t]+$")
_COMMENTED = re.compile(r"(?<!\\)\\[ \t]+#")


@rule(
    code="SC024",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "POSIX shell command language, 2.2.1: escape character; bash 5.2 (seen)",
        "github.com/hiyouga/LlamaFactory issue 3224, github.com/VITA-Group/VLM-3R pull 9",
        "github.com/huggingface/accelerate pull 2096, github.com/mozilla/DeepSpeech issue 1980",
    ),
    needs=("sh", "-"),
)
def option_on_its_own_line(script: Script) -> Iterator[Problem]:
    """Report lines that a missing backslash, or a comment behind one, cuts off from their command."""
    if "\n-" not in script.text.replace(" ", "").replace("\t", ""):
        return
    lines = script.text.split("\n")
    above, ended, was_cut = -1, "", False
    for statement in statements(_ARRAY.sub(_blank, script.text)):
        first = statement.words[0]
        cut = first.line - 1
        is_cut = cut == above and ended == "\n" and _is_option(statement) and lines[first.line].lstrip()[:1] == "-"
        # The lines behind the first one have the same cause.
        if is_cut and not was_cut and not _SPACED.search(lines[cut]):
            behind = "the comment follows the backslash, so" if _COMMENTED.search(lines[cut]) else "no backslash:"
            yield Problem(
                script.at.below(cut),
                f"{behind} the command ends at this line, and the shell looks for a program `{first.text}`",
                "end the line with a backslash, and write comments above the command",
            )
        above, ended, was_cut = statement.words[-1].line, statement.end, is_cut


def _is_option(statement: Statement) -> bool:
    """True if a command begins with an option. A pattern of `case` is a word before `|`."""
    return _OPTION.match(statement.words[0].text) is not None and (statement.end != "|" or len(statement.words) > 1)


def _blank(array: re.Match[str]) -> str:
    return f"{array[0][:1]}={array[0].count(chr(10)) * chr(10)}"
