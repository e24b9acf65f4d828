"""The options of vLLM's servers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path

from tools.generate.program_options.forms import of_call, of_keywords, of_type
from tools.generate.program_options.option import Option, Options
from tools.generate.program_options.sources import Sources, add_arguments, last_name, option_names


def vllm(root: Path) -> Options:
    """Reads the options of `vllm serve` and of its older servers."""
    package = root / "vllm"
    engine = package / "engine/arg_utils.py"
    types = [package / "config.py", *sorted((package / "config").rglob("*.py")), package / "utils.py"]
    others = [
        *sorted((package / "model_executor/layers/quantization").glob("__init__.py")),
        package / "v1/attention/backends/registry.py", package / "transformers_utils/config.py",
    ]  # fmt: skip
    # The file of the server moved in 0.29 and in 0.33.
    servers = [package / "entrypoints" / folder / "cli_args.py" for folder in ("openai", "launchers", "common")]
    every = Sources([engine, *servers, *types, *others])
    found: Options = {}
    for tree in Sources([engine]).trees.values():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.name in ("EngineArgs", "AsyncEngineArgs"):
                found |= _vllm_engine(node, every)
    plain = Sources([package / "entrypoints/api_server.py"])
    only = {name for tree in plain.trees.values() for call in add_arguments(tree) for name in option_names(call)}
    server = _vllm_server(servers, package, every)
    for name, option in server.items():
        found[name] = option._replace(part="" if name in only else "openai")
    tools, reasoning = _parsers(package)
    for name, words in (("--tool-call-parser", tools), ("--reasoning-parser", reasoning)):
        if name in found and words:
            found[name] = Option("c", words, found[name].part)
    return found


def _vllm_engine(node: ast.ClassDef, sources: Sources) -> Options:
    found: Options = {}
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method.name == "add_cli_args":
            groups = _Groups(method)
            for call in add_arguments(method):
                option = of_call(call, sources, groups.base(call, sources))
                found.update(dict.fromkeys(option_names(call), option))
    return found


class _Groups:
    """The dictionaries of keywords in a method: the configuration of each, and what the method changes in them."""

    def __init__(self, method: ast.FunctionDef) -> None:
        self.configurations: dict[str, str] = {}
        self.changes: dict[tuple[str, str], dict[str, ast.expr]] = {}
        for statement in ast.walk(method):
            if not isinstance(statement, ast.Assign):
                continue
            target, value = statement.targets[0], statement.value
            function = last_name(value.func) if isinstance(value, ast.Call) else ""
            if isinstance(target, ast.Name) and isinstance(value, ast.Call) and function.endswith("_kwargs"):
                self.configurations[target.id] = last_name(value.args[0]) if value.args else ""
            place = _path(target) if isinstance(target, ast.Subscript) else ()
            if len(place) == 3:
                self.changes.setdefault((place[0], place[1]), {})[place[2]] = value

    def base(self, call: ast.Call, sources: Sources) -> Option | None:
        """Returns what the dictionary says that a call takes its keywords from; None without one."""
        spread = next((word.value for word in call.keywords if word.arg is None), None)
        if isinstance(spread, ast.Dict):
            spread = next((one for key, one in zip(spread.keys, spread.values, strict=True) if key is None), spread)
        if spread is None:
            return None
        if not isinstance(spread, ast.Subscript):
            return Option("?")
        place = _path(spread)
        fields = sources.fields(self.configurations.get(place[0], ""))
        annotation = next((one for name, one, _ in fields if name == place[-1]), None)
        option = of_type(annotation, sources) if annotation is not None else Option("?")
        return of_keywords(self.changes.get((place[0], place[-1]), {}), sources, option)


def _path(node: ast.expr) -> tuple[str, ...]:
    if isinstance(node, ast.Subscript):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else ""
        return (*_path(node.value), str(key))
    return (last_name(node),)


# Fields of the server whose form its code changes.
_CHANGED = {
    "allowed_origins": "v", "allowed_methods": "v", "allowed_headers": "v", "middleware": "v", "lora_modules": "n",
    "prompt_adapters": "n", "disable_access_log_for_endpoints": "v", "default_chat_template_kwargs": "v",
}  # fmt: skip


def _vllm_server(servers: Iterable[Path], package: Path, every: Sources) -> Options:
    found: Options = {}
    server = Sources(servers)
    for call in server.calls("make_arg_parser", "add_cli_args"):
        for name in option_names(call):
            found[name] = of_call(call, every)
    for name, annotation, _ in server.fields("FrontendArgs"):
        changed = _CHANGED.get(name)
        option = Option(changed) if changed else of_type(annotation, every)
        found[f"--{name.replace('_', '-')}"] = option
    # Before 0.2.7 the server itself has the options, and later its commands have a few.
    for path in (
        package / "entrypoints/openai/api_server.py",
        package / "scripts.py",
        package / "entrypoints/cli/serve.py",
    ):
        for tree in Sources([path]).trees.values():
            for call in add_arguments(tree):
                receiver = last_name(call.func.value) if isinstance(call.func, ast.Attribute) else ""
                if path.name == "api_server.py" or receiver in ("serve_parser", "serve_parser_group"):
                    for name in option_names(call):
                        found.setdefault(name, of_call(call, every))
    return found


_REGISTERED = re.compile(r"register_module\(\s*(?:name\s*=\s*)?(\[[^\]]*\]|\"[^\"]+\"|'[^']+')")
_LAZY = re.compile(r"_(?:TOOL|REASONING)_PARSERS_TO_REGISTER[^=]*=\s*\{(.*?)^\}", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r"[\"']([\w.+-]+)[\"']")


def _parsers(package: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the registered names of vLLM's parsers of tool calls and of reasoning."""
    tools = (package / "entrypoints/openai/tool_parsers", package / "tool_parsers")
    reasoning = (package / "entrypoints/openai/reasoning_parsers", package / "reasoning")
    return _registered(tools), _registered(reasoning)


def _registered(folders: Iterable[Path]) -> tuple[str, ...]:
    names: set[str] = set()
    for folder in folders:
        for path in sorted(folder.glob("*.py")):
            text = path.read_text(encoding="utf-8")
            for match in _REGISTERED.finditer(text):
                names.update(_QUOTED.findall(match[1]))
            for match in _LAZY.finditer(text):
                names.update(re.findall(r"^ {4}[\"']([\w.+-]+)[\"']\s*:", match[1], re.MULTILINE))
    return tuple(sorted(names))
