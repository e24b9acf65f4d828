"""One-line changes are drawn from any module, whatever Cosmic Ray makes of its syntax."""

from __future__ import annotations

from pathlib import Path

from tools.mutations.mutants import draw
from tools.mutations.targets import Target

MODULE = """\
import yaml

try:
    found = yaml.safe_load("a")
except (yaml.YAMLError, ValueError):
    found = None
"""


def test_changes_are_drawn_from_a_module_with_dotted_names_of_exceptions(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(MODULE)
    changed = {mutant.code for mutant in draw([Target((module,), ())], count=10, seed=1)}
    assert changed == {MODULE.replace("ValueError", "CosmicRayTestingException")}
