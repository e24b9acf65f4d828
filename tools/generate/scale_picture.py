"""docs/scale.svg: the starts that docs/scale.md records, as bars. `make scale` measures them, and draws them too."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGE, FILES = "docs/scale.md", "docs/scale.svg"
WIDTH, LEFT, RIGHT = 820, 400, 60
TOP, ROW, BAR = 64, 24, 16
# Colours that are read on a white page and on a dark one; the grey is for what Kubernetes does without an operator.
COLOURS = {"": "#8a8f98", "stock": "#e08a1e", "ours": "#2f8fd8"}
NAMES = {"": "no operator", "stock": "stock settings", "ours": "our settings"}
# The picture takes the scheme of the page that shows it.
STYLE = """\
text { font: 12px Helvetica, Arial, "Liberation Sans", "DejaVu Sans", sans-serif; fill: #333; }
line { stroke: #ddd; }
@media (prefers-color-scheme: dark) { text { fill: #ddd; } line { stroke: #555; } }"""


class Start(NamedTuple):
    """A row of the table: control plane, settings, what starts, and the seconds until all of it is there.

    `seconds` is None for a start that did not end.
    """

    plane: str
    side: str
    what: str
    seconds: float | None


def starts(page: str) -> list[Start]:
    """Return the starts that the page records. Pods are there when they run, a run when its Services exist too."""
    section = page.partition("### Starts\n")[2].partition("\n### ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    names = {name: number for number, name in enumerate(rows[0])}
    found = []
    for row in rows[2:]:
        plane, side, what = row[:3]
        ends = [row[names[column]] for column in ("Running", "Services") if row[names[column]]]
        found.append(Start(plane, side, what, max(map(float, ends)) if ends else None))
    return found


def picture(found: list[Start]) -> Iterator[str]:
    """Yield the lines of the picture."""
    height = TOP + ROW * len(found) + 30
    longest = max(start.seconds or 0 for start in found)
    scale = (WIDTH - LEFT - RIGHT) / longest
    bottom = TOP + ROW * len(found)
    title = "Seconds until all pods and Services of a start are there"
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">'
    yield f"<title>{title}</title>"
    yield f"<style>\n{STYLE}\n</style>"
    yield f'<text x="10" y="20">{title}</text>'
    for number, (side, colour) in enumerate(COLOURS.items()):
        x = LEFT + 130 * number
        yield f'<rect x="{x}" y="32" width="12" height="12" fill="{colour}"/>'
        yield f'<text x="{x + 18}" y="42">{NAMES[side]}</text>'
    for second in range(0, int(longest) + 1, 20):
        line = LEFT + scale * second
        yield f'<line x1="{line:.1f}" x2="{line:.1f}" y1="{TOP - 6}" y2="{bottom}"/>'
        yield f'<text x="{line:.1f}" y="{bottom + 18}" text-anchor="middle">{second} s</text>'
    for number, start in enumerate(found):
        yield from _bar(start, TOP + ROW * number, scale)
    yield "</svg>"


def _bar(start: Start, top: float, scale: float) -> Iterator[str]:
    words = escape(f"{start.what}, {start.plane} limits")
    yield f'<text x="{LEFT - 8}" y="{top + 13}" text-anchor="end">{words}</text>'
    width = scale * (start.seconds or 0)
    value = "not reached" if start.seconds is None else f"{start.seconds:.1f}"
    yield f'<rect x="{LEFT}" y="{top}" width="{width:.1f}" height="{BAR}" fill="{COLOURS[start.side]}"/>'
    yield f'<text x="{LEFT + width + 5:.1f}" y="{top + 13}">{value}</text>'


def write(root: Path) -> None:
    """Write the picture of the page below ROOT into the same place below another root."""
    (root / FILES).parent.mkdir(exist_ok=True, parents=True)
    (root / FILES).write_text("\n".join(picture(starts((ROOT / PAGE).read_text()))) + "\n")
