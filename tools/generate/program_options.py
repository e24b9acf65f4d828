"""The tables of command-line options of Python programs, by release, from their packages on PyPI.

A table says for each option what it takes: `b` no value, `o` no value with a negative form `--no-x`, `v` a value, `c`
one of the words that follow, `n` one or more values, `?` an optional value and `*` any number of values. Programs
define options by `add_argument` and by fields of dataclasses. Both are read from the syntax tree, so nothing is
executed.

pip stops at a source distribution that it cannot prepare, and leaves the unpacked source behind, which is all that is
needed. Wheels are unpacked.
"""

from __future__ import annotations

import ast
import csv
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

_FOLDER = "validator/trainyard/facts/programs"
HEADER = ("option", "takes", "words", "part", "releases")
_SWITCHES = frozenset(("store_true", "store_false", "store_const", "count", "append_const", "help", "version"))
# Lists of more words are those of a registry that is open.
_MOST_WORDS = 80
_DEEPEST = 6


class Option(NamedTuple):
    """What an option takes, the words of a choice, and the part of the program that alone has it."""

    takes: str
    words: tuple[str, ...] = ()
    part: str = ""


Options = dict[str, Option]
Words = tuple[str, ...] | None


class Package(NamedTuple):
    """A program: its table, its package on PyPI, the releases, and the function that reads one.

    `is_wheel` is true if it has wheels of Python code alone.
    """

    table: str
    name: str
    releases: tuple[str, ...]
    read: Callable[[Path], Options]
    is_wheel: bool = True


class Sources:
    """The syntax trees of a package: its constants, and the fields of its classes."""

    def __init__(self, files: Iterable[Path]) -> None:
        self.trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in files if path.is_file()}
        self.constants: dict[str, ast.expr] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        for tree in self.trees.values():
            for node in tree.body:
                if isinstance(node, ast.ClassDef):
                    self.classes.setdefault(node.name, node)
                name, value = _assigned(node)
                if name and value is not None:
                    self.constants.setdefault(name, value)

    def fields(self, name: str) -> Iterator[tuple[str, ast.expr, ast.expr | None]]:
        """Yields the fields of a class and of its bases: name, annotation and default."""
        found = self.classes.get(name)
        if found is None:
            return
        for base in found.bases:
            yield from self.fields(_last(base))
        for node in found.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                yield node.target.id, node.annotation, node.value

    def calls(self, *functions: str) -> Iterator[ast.Call]:
        """Yields the calls of `add_argument` in functions with these names."""
        for tree in self.trees.values():
            inner = [one for node in tree.body if isinstance(node, ast.ClassDef) for one in node.body]
            for node in (*tree.body, *inner):
                if isinstance(node, ast.FunctionDef) and node.name in functions:
                    yield from _calls(node)

    def words(self, node: ast.expr | None, depth: int = 0) -> Words:
        """Returns the words of a list, a `Literal`, an enumeration or the keys of a dictionary; None if it is open."""
        if node is None or depth > _DEEPEST:
            return None
        reader = _READERS.get(type(node))
        return reader(self, node, depth + 1) if reader is not None else None

    def constant(self, node: ast.Constant, _: int) -> Words:
        """Returns a constant."""
        return None if node.value is None else (str(node.value),)

    def sequence(self, node: ast.List | ast.Tuple | ast.Set, depth: int) -> Words:
        """Returns the words of all items."""
        inner = [one.value if isinstance(one, ast.Starred) else one for one in node.elts]
        told = [one for one in inner if not (isinstance(one, ast.Constant) and one.value is None)]
        return _joined(self.words(one, depth) for one in told)

    def dictionary(self, node: ast.Dict, depth: int) -> Words:
        """Returns the keys of a dictionary."""
        return _joined(self.words(key, depth) for key in node.keys if key is not None)

    def literal(self, node: ast.Subscript, depth: int) -> Words:
        """Returns the words of `Literal[...]`."""
        return self.words(node.slice, depth) if _last(node.value) == "Literal" else None

    def sum(self, node: ast.BinOp, depth: int) -> Words:
        """Returns the words of two lists."""
        is_sum = isinstance(node.op, ast.Add)
        return _joined(self.words(one, depth) for one in (node.left, node.right)) if is_sum else None

    def call(self, node: ast.Call, depth: int) -> Words:
        """Returns the words of `get_args(NAME)`, of `list(NAME)` and of `NAME.keys()`."""
        name = _last(node.func)
        if name in ("get_args", "list", "sorted", "tuple", "set") and len(node.args) == 1:
            return self.words(node.args[0], depth)
        return self.words(node.func.value, depth) if name == "keys" and isinstance(node.func, ast.Attribute) else None

    def comprehension(self, node: ast.ListComp, _: int) -> Words:
        """Returns the values of an enumeration."""
        return self._members(_last(node.generators[0].iter)) if isinstance(node.elt, ast.Attribute) else None

    def dotted(self, node: ast.Attribute, depth: int) -> Words:
        """Returns the words of an attribute of a class."""
        return self.words(self._attribute(_last(node.value), node.attr), depth)

    def named(self, node: ast.Name, depth: int) -> Words:
        """Returns the words of a constant, or of an enumeration."""
        return self.words(self.constants.get(node.id), depth) or self._members(node.id)

    def _members(self, name: str) -> tuple[str, ...] | None:
        found = self.classes.get(name)
        if found is None or not any("Enum" in _last(base) for base in found.bases):
            return None
        values = [_assigned(node)[1] for node in found.body]
        return tuple(str(one.value) for one in values if isinstance(one, ast.Constant)) or None

    def _attribute(self, name: str, attribute: str) -> ast.expr | None:
        found = self.classes.get(name)
        for node in found.body if found is not None else []:
            told, value = _assigned(node)
            if told == attribute:
                return value
        return None

    def leaves(self, node: ast.expr, depth: int = 0) -> list[ast.expr]:
        """Returns the members of a union, with aliases and `Annotated` resolved."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self.leaves(ast.parse(node.value, mode="eval").body, depth + 1)
        if isinstance(node, ast.BinOp):
            return [*self.leaves(node.left, depth + 1), *self.leaves(node.right, depth + 1)]
        if isinstance(node, ast.Subscript):
            name = _last(node.value)
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if name in ("Optional", "Union"):
                return [leaf for one in inner for leaf in self.leaves(one, depth + 1)]
            if name in ("Annotated", "SkipValidation", "A"):
                return self.leaves(inner[0], depth + 1)
        if isinstance(node, ast.Name) and node.id in self.constants and depth < 8:
            return self.leaves(self.constants[node.id], depth + 1)
        return [node]


_READERS: dict[type[ast.expr], Callable[[Sources, Any, int], Words]] = {
    ast.Constant: Sources.constant,
    ast.List: Sources.sequence,
    ast.Tuple: Sources.sequence,
    ast.Set: Sources.sequence,
    ast.Dict: Sources.dictionary,
    ast.Subscript: Sources.literal,
    ast.BinOp: Sources.sum,
    ast.Call: Sources.call,
    ast.ListComp: Sources.comprehension,
    ast.Attribute: Sources.dotted,
    ast.Name: Sources.named,
}


def _joined(parts: Iterable[Words]) -> Words:
    found = list(parts)
    told = [part for part in found if part is not None]
    return tuple(word for part in told for word in part) if len(told) == len(found) else None


def _assigned(node: ast.stmt) -> tuple[str, ast.expr | None]:
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id, node.value
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id, node.value
    return "", None


def _last(node: ast.expr | None) -> str:
    """Returns the last part of a dotted name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        return _last(node.value)
    return node.id if isinstance(node, ast.Name) else ""


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "add_argument":
            yield inner


def _names(call: ast.Call) -> list[str]:
    values = [one.value for one in call.args if isinstance(one, ast.Constant)]
    return [value for value in values if isinstance(value, str) and value.startswith("-")]


def of_call(call: ast.Call, sources: Sources, base: Option | None = None) -> Option:
    """Returns what an `add_argument` takes; `base` is what a dictionary of keywords says."""
    told = {word.arg: word.value for word in call.keywords if word.arg}
    return _of_keywords(told, sources, base or Option("v"))


def _of_keywords(told: dict[str, ast.expr], sources: Sources, option: Option) -> Option:
    found = _of_action(told.get("action")) or _of_nargs(told.get("nargs"))
    if found is not None:
        return found
    if "Deprecated" in _last(told.get("action")):
        return Option("?")
    if "choices" in told:
        words = sources.words(told["choices"])
        return Option("c", tuple(dict.fromkeys(words))) if words and len(words) <= _MOST_WORDS else Option("v")
    return option


def _of_action(action: ast.expr | None) -> Option | None:
    if isinstance(action, ast.Constant):
        return Option("b") if action.value in _SWITCHES else None
    name = _last(action)
    if "BooleanOptional" in name:
        return Option("o")
    return Option("b") if "StoreTrue" in name or "StoreConst" in name else None


def _of_nargs(nargs: ast.expr | None) -> Option | None:
    if nargs is None:
        return None
    if not isinstance(nargs, ast.Constant):
        return Option("*")
    if nargs.value == 0:
        return Option("b")
    if nargs.value in ("?", "*"):
        return Option(str(nargs.value))
    return Option("n") if nargs.value == "+" or (isinstance(nargs.value, int) and nargs.value > 1) else None


def of_type(annotation: ast.expr, sources: Sources) -> Option:
    """Returns what an option made of a field of one of vLLM's configurations takes."""
    leaves = sources.leaves(annotation)
    names = {_last(leaf) for leaf in leaves}
    if any(name in sources.classes and name.endswith(("Config", "Params")) for name in names):
        return Option("v")
    if "bool" in names:
        return Option("o")
    literal = next((leaf for leaf in leaves if _last(leaf) == "Literal"), None)
    if literal is not None:
        words = sources.words(literal)
        return Option("c", tuple(sorted(set(words)))) if words and "str" not in names else Option("v")
    if names & {"list", "List", "tuple", "Tuple", "set", "Set", "Sequence", "frozenset"}:
        return Option("n")
    return Option("v")


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
    only = {name for tree in plain.trees.values() for call in _calls(tree) for name in _names(call)}
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
            for call in _calls(method):
                option = of_call(call, sources, groups.base(call, sources))
                found.update(dict.fromkeys(_names(call), option))
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
            if isinstance(target, ast.Name) and isinstance(value, ast.Call) and _last(value.func).endswith("_kwargs"):
                self.configurations[target.id] = _last(value.args[0]) if value.args else ""
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
        return _of_keywords(self.changes.get((place[0], place[-1]), {}), sources, option)


def _path(node: ast.expr) -> tuple[str, ...]:
    if isinstance(node, ast.Subscript):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else ""
        return (*_path(node.value), str(key))
    return (_last(node),)


# Fields of the server whose form its code changes.
_CHANGED = {
    "allowed_origins": "v", "allowed_methods": "v", "allowed_headers": "v", "middleware": "v", "lora_modules": "n",
    "prompt_adapters": "n", "disable_access_log_for_endpoints": "v", "default_chat_template_kwargs": "v",
}  # fmt: skip


def _vllm_server(servers: Iterable[Path], package: Path, every: Sources) -> Options:
    found: Options = {}
    server = Sources(servers)
    for call in server.calls("make_arg_parser", "add_cli_args"):
        for name in _names(call):
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
            for call in _calls(tree):
                receiver = _last(call.func.value) if isinstance(call.func, ast.Attribute) else ""
                if path.name == "api_server.py" or receiver in ("serve_parser", "serve_parser_group"):
                    for name in _names(call):
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
        for name in _names(call):
            found[name] = of_call(call, sources)
    return found


def _sglang_field(name: str, annotation: ast.expr, sources: Sources) -> Options:
    if not isinstance(annotation, ast.Subscript) or _last(annotation.value) not in ("A", "Annotated"):
        return {}
    inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else []
    told = next((one for one in inner[1:] if isinstance(one, ast.Call) and _last(one.func) == "Arg"), None)
    if told is None and not any(isinstance(one, ast.Constant | ast.JoinedStr | ast.BinOp) for one in inner[1:]):
        return {}
    words = {word.arg: word.value for word in told.keywords if word.arg} if told is not None else {}
    if isinstance(words.get("no_cli"), ast.Constant):
        return {}
    shown = words.get("cli_name")
    names = [shown.value if isinstance(shown, ast.Constant) else f"--{name.replace('_', '-')}"]
    names += sources.words(words.get("aliases")) or ()
    leaves = [leaf for leaf in sources.leaves(inner[0]) if not isinstance(leaf, ast.Constant)]
    kinds = {_last(leaf) for leaf in leaves}
    base = Option("v")
    if "bool" in kinds and len(kinds) == 1:
        base = Option("b")
    elif kinds & {"list", "List"} and "type_parser" not in words:
        base = Option("n")
    elif "Literal" in kinds and len(kinds) == 1:
        choices = sources.words(leaves[0])
        base = Option("c", choices) if choices else base
    return {str(one): _of_keywords(words, sources, base) for one in names}


def lm_eval(root: Path) -> Options:
    """Reads the options of `lm_eval`."""
    package = root / "lm_eval"
    sources = Sources([package / "__main__.py", package / "_cli/run.py", package / "_cli/utils.py"])
    found: Options = {}
    for tree in sources.trees.values():
        for call in _calls(tree):
            for name in _names(call):
                found[name] = of_call(call, sources)
    return found


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
    # `Every command takes it` needs no list of them.
    return found


def _hugging_face(sources: Sources, name: str) -> Options:
    """Returns the options of a dataclass for HfArgumentParser, with dashes."""
    found: Options = {}
    for field, annotation, default in sources.fields(name):
        if "ClassVar" in ast.dump(annotation) or field.startswith("_"):
            continue
        leaves = sources.leaves(annotation)
        kinds = {_last(leaf) for leaf in leaves}
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


def write(root: Path) -> None:
    """Write the tables."""
    for package in PACKAGES:
        write_table(root, package)


def write_table(root: Path, package: Package) -> None:
    """Write the table of one program."""
    read: list[tuple[str, Options]] = []
    for release in package.releases:
        with tempfile.TemporaryDirectory() as folder:
            source = fetch(package, release, Path(folder))
            read.append((release, package.read(source)))
    path = root / _FOLDER / f"{package.table}_options.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerow(("", "", "", "", " ".join(package.releases)))
        writer.writerows(rows(read))


def rows(read: list[tuple[str, Options]]) -> Iterator[tuple[str, str, str, str, str]]:
    """Yields the rows of a table: each form of an option with the ranges of releases that have it."""
    forms: dict[tuple[str, Option], list[int]] = {}
    for index, (_, options) in enumerate(read):
        for name, option in options.items():
            forms.setdefault((name, option), []).append(index)
    last = len(read) - 1
    for (name, option), indexes in sorted(forms.items()):
        ranges = []
        for first, end in _runs(indexes):
            begin = "" if first == 0 else read[first][0]
            ranges.append(f"{begin}-{'' if end == last else read[end][0]}" if (first, end) != (0, last) else "")
        yield name, option.takes, "|".join(option.words), option.part, " ".join(filter(None, ranges))


def _runs(indexes: list[int]) -> Iterator[tuple[int, int]]:
    start = previous = indexes[0]
    for index in indexes[1:]:
        if index != previous + 1:
            yield start, previous
            start = index
        previous = index
    yield start, previous


def fetch(package: Package, release: str, folder: Path) -> Path:
    """Returns the folder with the source of a release."""
    wanted = f"{package.name}=={release}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), wanted]
    if package.is_wheel:
        subprocess.run([*command, "--only-binary", ":all:", "--no-cache-dir"], check=True, capture_output=True)
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
            wheel.extractall(folder / "source", [name for name in wheel.namelist() if name.endswith(".py")])
        return folder / "source"
    options = ["--no-binary", ":all:", "--no-build-isolation", "--no-clean", "--no-cache-dir"]
    subprocess.run([*command, *options], check=False, capture_output=True, env={**os.environ, "TMPDIR": str(folder)})
    found = [path for path in folder.glob(f"pip-download-*/{package.name}*") if path.is_dir()]
    if not found:
        raise FileNotFoundError(wanted)
    return found[0]


_VLLM = """
0.3.3 0.4.3 0.5.5 0.6.0 0.6.2 0.6.3 0.6.6 0.7.0 0.7.3 0.8.0 0.8.3 0.8.5 0.9.0 0.9.2 0.10.0 0.10.1 0.10.2 0.11.0 0.11.2
0.12.0 0.13.0 0.14.0 0.16.0 0.17.0 0.18.0 0.19.0 0.20.0 0.21.0 0.22.0 0.23.0 0.24.0 0.25.0 0.26.0 0.27.0 0.28.0 0.29.0
0.30.0 0.31.0 0.32.0 0.33.0
"""
_SGLANG = """
0.3.0 0.3.6 0.4.0 0.4.2 0.4.3.post4 0.4.4.post3 0.4.5 0.4.6 0.4.6.post5 0.4.7 0.4.8 0.4.9.post2 0.4.10 0.5.1 0.5.2
0.5.3 0.5.4 0.5.5 0.5.5.post3 0.5.6 0.5.7 0.5.8 0.5.9 0.5.10 0.5.12 0.5.14 0.5.16 0.5.18 0.5.20 0.5.23
"""
_LM_EVAL = """
0.4.1 0.4.2 0.4.3 0.4.4 0.4.5 0.4.7 0.4.8 0.4.9 0.4.10 0.4.13
"""
_TRL = """
0.12.0 0.13.0 0.14.0 0.15.0 0.16.0 0.17.0 0.18.0 0.19.0 0.20.0 0.21.0 0.22.0 0.23.0 0.24.0 0.25.0 0.26.0 0.27.0 0.28.0
0.29.0 1.0.0 1.5.0 1.10.0 1.16.0
"""
_TRANSFORMERS = """
4.38.0 4.41.0 4.46.1 4.51.0 4.57.1 5.0.0 5.2.0 5.10.1 5.24.0
"""
PACKAGES = (
    Package("vllm", "vllm", tuple(_VLLM.split()), vllm, is_wheel=False),
    Package("sglang", "sglang", tuple(_SGLANG.split()), sglang),
    Package("lm_eval", "lm-eval", tuple(_LM_EVAL.split()), lm_eval),
    Package("trl", "trl", tuple(_TRL.split()), trl),
    Package("trainer", "transformers", tuple(_TRANSFORMERS.split()), trainer),
)

FILES = tuple(f"{_FOLDER}/{package.table}_options.csv" for package in PACKAGES)
