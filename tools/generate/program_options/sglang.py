"""The options of SGLang's server."""

from __future__ import annotations

import ast
from pathlib import Path

from tools.generate.program_options.forms import of_call, of_keywords
from tools.generate.program_options.option import Option, Options
from tools.generate.program_options.sources import Sources, last_name, option_names


def sglang(root: Path) -> Options:
    """Reads the options of `sglang.launch_server`."""
    srt = root / "sglang/srt"
    files = [
        srt / "server_args.py", *sorted((srt / "arg_groups").rglob("*.py")), srt / "parser/reasoning_parser.py",
        srt / "reasoning_parser.py", srt / "function_call_parser.py", srt / "function_call/function_call_parser.py",
        srt / "lora/lora_registry.py", srt / "utils.py", srt / "utils/common.py",
    ]  # fmt: skip
    sources = Sources(files)
    found: Options = {}
    # Since 0.5.19 or 0.5.20, each file of the folder has a class whose fields are those of the server.
    groups = Sources(sorted((srt / "arg_groups/fields").glob("*.py")))
    for group in ("ServerArgs", *groups.classes):
        for name, annotation, _ in sources.fields(group):
            found |= _sglang_field(name, annotation, sources)
    tree = Sources([srt / "server_args.py"])
    for call in tree.calls("add_cli_args"):
        for name in option_names(call):
            found[name] = of_call(call, sources)
    return found


def _sglang_field(name: str, annotation: ast.expr, sources: Sources) -> Options:
    if not isinstance(annotation, ast.Subscript) or last_name(annotation.value) not in ("A", "Annotated"):
        return {}
    inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else []
    told = next((one for one in inner[1:] if isinstance(one, ast.Call) and last_name(one.func) == "Arg"), None)
    if told is None and not any(isinstance(one, ast.Constant | ast.JoinedStr | ast.BinOp) for one in inner[1:]):
        return {}
    words = {word.arg: word.value for word in told.keywords if word.arg} if told is not None else {}
    if isinstance(words.get("no_cli"), ast.Constant):
        return {}
    shown = words.get("cli_name")
    names = [shown.value if isinstance(shown, ast.Constant) else f"--{name.replace('_', '-')}"]
    names += sources.words(words.get("aliases")) or ()
    leaves = [leaf for leaf in sources.leaves(inner[0]) if not isinstance(leaf, ast.Constant)]
    kinds = {last_name(leaf) for leaf in leaves}
    base = Option("v")
    if "bool" in kinds and len(kinds) == 1:
        base = Option("b")
    elif kinds & {"list", "List"} and "type_parser" not in words:
        base = Option("n")
    elif "Literal" in kinds and len(kinds) == 1:
        choices = sources.words(leaves[0])
        base = Option("c", choices) if choices else base
    return {str(one): of_keywords(words, sources, base) for one in names}
