"""The options of lm_eval."""

from __future__ import annotations

from pathlib import Path

from tools.generate.program_options.forms import of_call
from tools.generate.program_options.option import Options
from tools.generate.program_options.sources import Sources, add_arguments, option_names


def lm_eval(root: Path) -> Options:
    """Reads the options of `lm_eval`."""
    package = root / "lm_eval"
    sources = Sources([package / "__main__.py", package / "_cli/run.py", package / "_cli/utils.py"])
    found: Options = {}
    for tree in sources.trees.values():
        for call in add_arguments(tree):
            for name in option_names(call):
                found[name] = of_call(call, sources)
    return found
