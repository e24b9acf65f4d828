"""Reads a file as a site, and explains why it is not one."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from trainyard.document.document import Document, Place
from trainyard.document.errors import MistakeError
from trainyard.document.lookup import mapping, text
from trainyard.document.source import Path
from trainyard.engine.suggestions import closest_match
from trainyard.loaders.json_schema import format_path, format_value
from trainyard.loaders.marks import leaves

if TYPE_CHECKING:
    from trainyard.loaders.json_schema import Fault
    from trainyard.model.site import Site

# Reading templates for more values would take seconds.
MAX_VALUES = 20_000


class SiteError(MistakeError):
    """A file that is not a site; `args[0]` gives the place and the reason."""


def load_site(name: str) -> Site:
    """Returns the site in a file. Raises `SiteError`."""
    from trainyard.document import files, reading

    try:
        file = files.open_file(files.Found(name, name))
    except MistakeError as error:
        raise SiteError(f"{error}; a site is the values of charts/training-platform") from None
    documents, broken = ([], [file.fault]) if file.fault is not None else reading.read(file.source)
    if broken:
        raise SiteError(f"{name}:{broken[0].line}:{broken[0].column}: {broken[0].message}")
    if not documents or documents[0].tree is None:
        raise SiteError(f"{name}: nothing is in it; write the values of charts/training-platform")
    if len(documents) > 1:
        raise SiteError(f"{name}: it holds {len(documents)} documents; a site is one file of values")
    _check(documents[0], name)
    return _site(documents[0], name)


def _check(document: Document, where: str) -> None:
    """Refuses a file that does not hold values, or holds those of another chart."""
    tree = document.tree
    if not isinstance(tree, dict):
        raise SiteError(f"{where}: it holds no values, `key: value`, but {format_value(tree)}")
    if "apiVersion" in tree or "metadata" in tree:
        kind = text(tree, "kind") or "Kubernetes object"
        raise SiteError(f"{where}: this is a {kind}; a site is the values of charts/training-platform")
    from trainyard.loaders.site.chart import platform_chart
    from trainyard.loaders.training_job import values

    if values.recognises(document) and not tree.keys() & (platform_chart().values.keys() - {"fabric"}):
        raise SiteError(f"{where}: these are values of a run; name the site here, and the run as a file to lint")
    if sum(1 for _ in itertools.islice(leaves(tree), MAX_VALUES + 1)) > MAX_VALUES:
        raise SiteError(f"{where}: there are more than {MAX_VALUES:,} values")
    _check_profile(document, where)


def _check_profile(document: Document, where: str) -> None:
    from trainyard.facts.profiles import profile_names

    profile = mapping(document.tree, "fabric").get("profile")
    if profile is not None and profile not in ("none", *profile_names()):
        near = closest_match(str(profile), profile_names(), 0.6)
        hint = f"did you mean `{near}`?" if near is not None else f"write none or one of {', '.join(profile_names())}"
        at = _line(document, ("fabric", "profile"), where)
        raise SiteError(f"{at}: there is no fabric profile {format_value(profile)}; {hint}")


def _site(document: Document, where: str) -> Site:
    from gotemplate.errors import FailedError, UnsupportedError
    from gotemplate.merging import installed
    from trainyard.loaders.site.chart import platform_chart, platform_faults, platform_objects, platform_values
    from trainyard.loaders.site.offers import offers

    try:
        values = platform_values(document.tree)
        for fault in platform_faults(values):
            raise SiteError(_refusal(document, fault, values, where))
        made = platform_objects(values)
    except FailedError as error:
        path = error.origin.path if error.origin is not None else ()
        raise SiteError(f"{_line(document, path, where)}: {error.message}") from None
    except UnsupportedError as error:
        raise SiteError(
            f"{where}: with these values, the templates of charts/training-platform render {error}, "
            "which is not supported"
        ) from None
    return offers(document, dict(installed(platform_chart(), values)), made)


def _refusal(document: Document, fault: Fault, values: dict[str, Any], where: str) -> str:
    """Returns the reason why a schema refuses a value, and the remedy."""
    at = _line(document, fault.path, where)
    if fault.kind == "unknown key":
        near = closest_match(str(fault.path[-1]), fault.known, 0.6)
        hint = f"did you mean `{near}`?" if near is not None else f"write one of {', '.join(fault.known)}"
        return f"{at}: a site has no {format_path(fault.path)}; {hint}"
    if not fault.takes:
        return f"{at}: {fault.message}"
    path, takes, value = fault.path, fault.takes, values
    if isinstance(path[-1], int) and takes == "a mapping":
        path, takes = path[:-1], "a list of items"
    for step in path:
        value = value[step]  # type: ignore[index]
    return f"{at}: {format_path(path)} is {format_value(value)}; write {takes}"


def _line(document: Document, path: Path, where: str) -> str:
    position = document.locate(Place(document, path, on_key=True))
    return f"{where}:{position.line}:{position.column}"
