"""The arguments of Transformers' Trainer and of the commands of TRL."""

from __future__ import annotations

import ast
from pathlib import Path

from tools.generate.program_options.option import Option, Options
from tools.generate.program_options.sources import Sources, last_name


def trainer(root: Path) -> Options:
    """Reads the arguments of Transformers' Trainer."""
    package = root / "transformers"
    return _hugging_face(Sources([package / "training_args.py"]), "TrainingArguments")


_OF_TRL = {
    "sft": "SFTConfig", "dpo": "DPOConfig", "grpo": "GRPOConfig", "kto": "KTOConfig", "reward": "RewardConfig",
    "rloo": "RLOOConfig",
}  # fmt: skip


def trl(root: Path) -> Options:
    """Reads the arguments of the commands of TRL, without those of Transformers. The part is the command."""
    package = root / "trl"
    files = sorted(path for path in package.rglob("*.py") if path.name.endswith(("config.py", "utils.py", "args.py")))
    scripts = sorted((package / "scripts").glob("*.py")) + sorted((package / "commands").glob("*.py"))
    sources = Sources([*files, *scripts])
    common: Options = {}
    for name in ("ScriptArguments", "ModelConfig", "DatasetMixtureConfig"):
        common |= _hugging_face(sources, name)
    found: Options = dict(common)
    for command, name in _OF_TRL.items():
        for option, told in _hugging_face(sources, name).items():
            if option not in common:
                known = found.get(option)
                part = f"{known.part} {command}" if known is not None else command
                found[option] = told._replace(part=part)
    return found


def _hugging_face(sources: Sources, name: str) -> Options:
    """Returns the options of a dataclass for HfArgumentParser, with dashes."""
    found: Options = {}
    for field, annotation, default in sources.fields(name):
        if "ClassVar" in ast.dump(annotation) or field.startswith("_"):
            continue
        leaves = sources.leaves(annotation)
        kinds = {last_name(leaf) for leaf in leaves}
        option = Option("v")
        if "bool" in kinds:
            option = Option("?")
        elif kinds & {"list", "List"}:
            option = Option("n")
        option_name = f"--{field.replace('_', '-')}"
        found[option_name] = option
        if "bool" in kinds and default is not None and "True" in ast.unparse(default).partition("metadata")[0]:
            found[f"--no-{field.replace('_', '-')}"] = Option("b")
    return found
