r"""The script continues its lines with a backslash in a folded text, in which the backslash escapes a space.

In a folded scalar (`>`, `>-`) and in a plain one, YAML replaces a line break by a space. `python -m train \` and
`--epochs 3` become `python -m train \ --epochs 3`: the shell takes the escaped space for a part of the next word, and
the program gets ` --epochs` with a space before it ("unrecognized arguments"). A command that ignores operands, such as
`ulimit -l unlimited \`, swallows the rest of the line, and the script ends with 0.

Write a literal scalar (`|`), which keeps the line breaks, or remove the backslashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from yaml import ScalarNode

from trainyard.document.positions import walk
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Script

# Styles that keep line breaks, or in which a backslash joins lines.
KEEPING = ("|", '"')
_ESCAPED = re.compile(r"(\S+) +\\ +(?=\S)")


@rule(
    code="SC017",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "yaml.org/spec/1.2.2: 8.1.3 folded style, 7.3.3 plain style",
        "github.com/ai-dynamo/dynamo pull 14321",
    ),
    needs=("\\",),
)
def continuation_in_folded_text(script: Script) -> Iterator[Problem]:
    """Report backslashes at the ends of folded lines."""
    match = _ESCAPED.search(script.text)
    root = script.at.document.node if match is not None else None
    if match is None or root is None:
        return
    _, node, complete = walk(root, script.at.path)
    if not complete or not isinstance(node, ScalarNode) or node.style in KEEPING:
        return
    line = script.text.count("\n", 0, match.start())
    yield Problem(
        script.at.word(line, f"{match[1]} \\"),
        "YAML folds the line breaks to spaces, so this backslash escapes a space: the next word begins with it",
        "write the script after `|`, which keeps line breaks, or remove the backslashes",
    )
