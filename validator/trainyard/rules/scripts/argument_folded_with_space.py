"""The argument is a text of several lines that YAML joins with spaces, so a list in it gets a space after its comma.

In a folded scalar (`>`, `>-`) and in a plain one, a line break becomes a space. An argument such as
`--node-group-auto-discovery=asg:tag=a,` with `b` on the next line is one word of the program, `...tag=a, b`: few
programs cut the space off, and the cluster autoscaler looks for a tag whose name begins with one.

Write the argument on one line, or in double quotes with a backslash at the end of the line.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Place
from trainyard.document.lookup import items
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container, Pod
from trainyard.startup import pattern

_LISTED = pattern(r"--?[A-Za-z][\w.-]*=\S*,[ ]\S+(?:,[ ]\S+)*\s*\Z")
_KEEPING = ("|", '"', "'")


@rule(
    code="SC051",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=("yaml.org/spec/1.2.2: 8.1.3 folded style", "github.com/kubernetes/autoscaler issue 1854"),
    needs=(",",),
)
def argument_folded_with_space(pod: Pod) -> Iterator[Problem]:
    """Report lists in arguments that a line break divides."""
    for container in (*pod.containers, *pod.init_containers):
        yield from _folded(container)


def _folded(container: Container) -> Iterator[Problem]:
    for field in ("command", "args"):
        for index, one in enumerate(items(container.tree, field)):
            at = container.at.child(field, index)
            if isinstance(one, str) and _LISTED.match(one) and _is_folded(at):
                name, second = one.partition("=")[0], one.partition(", ")[2].partition(",")[0]
                yield Problem(
                    at,
                    f"YAML joins the lines of `{name}` with a space: the list has ` {second.strip()}` in it",
                    "write the argument on one line",
                )


def _is_folded(at: Place) -> bool:
    """True if a text stands on several lines that YAML joins."""
    # Most jobs have no such argument, and are read without PyYAML.
    from yaml import ScalarNode

    from trainyard.document.positions import walk

    root = at.document.node
    if root is None:
        return False
    _, node, complete = walk(root, at.path)
    if not complete or not isinstance(node, ScalarNode) or node.style in _KEEPING:
        return False
    return bool(node.end_mark.line > node.start_mark.line)
