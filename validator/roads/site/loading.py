"""A file that the user names as a site: read, and refused in words where it is none."""

from __future__ import annotations

from collections.abc import Iterable

from validator.fields import mapping, text
from validator.mistake import MistakeError
from validator.roads.schema import shown
from validator.roads.site.offers import offers
from validator.site import Site
from validator.source import Document, Path, Place
from validator.spelling import closest

# The parts of a site, and the keys of those that are the platform's own; the others are values of their charts.
PARTS: dict[str, tuple[str, ...] | None] = {
    "common": None,
    "global": None,
    "fabric": ("profile", "networks", "rails", "resources", "env"),
    "queues": ("enabled", "name", "topologyLevels", "flavors", "clusterQueues"),
    "operator": None,
    "networks": None,
    "gpu": None,
    "monitoring": None,
}  # fmt: skip
# Values that are lists of mappings.
_LISTS = (
    ("fabric", "networks"),
    ("queues", "flavors"),
    ("queues", "clusterQueues"),
    ("networks", "networks"),
    ("gpu", "rdma", "sharedDevices"),
    ("gpu", "rdma", "hostDevices"),
    ("gpu", "sriov", "policies"),
    ("gpu", "sriov", "networks"),
)


class SiteError(MistakeError):
    """A file that is no site; `args[0]` says where and why."""


def load(name: str) -> Site:
    """The site in a file. Raises `SiteError`."""
    from validator import files, reading

    try:
        file = files.opened(files.Found(name, name))
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
    return offers(documents[0])


def _check(document: Document, where: str) -> None:
    tree = document.tree
    if not isinstance(tree, dict):
        raise SiteError(f"{where}: it holds no values, `key: value`, but {shown(tree)}")
    if "apiVersion" in tree or "metadata" in tree:
        kind = text(tree, "kind") or "Kubernetes object"
        raise SiteError(f"{where}: this is a {kind}; a site is the values of charts/training-platform")
    from validator.roads import values

    if values.recognises(document) and not tree.keys() & (PARTS.keys() - {"fabric"}):
        raise SiteError(f"{where}: these are values of a run; name the site here, and the run as a file to lint")
    _known(document, (), PARTS, where)
    for part, keys in PARTS.items():
        value = tree.get(part)
        if value is not None and not isinstance(value, dict):
            raise SiteError(f"{_line(document, (part,), where)}: `{part}` is {shown(value)}; write a mapping")
        if keys is not None and value is not None:
            _known(document, (part,), keys, where)
    _check_types(document, where)


def _known(document: Document, path: tuple[str, ...], names: Iterable[str], where: str) -> None:
    for key in mapping(document.tree, *path):
        if key not in names:
            dotted = ".".join((*path, str(key)))
            near = closest(str(key), names, 0.6)
            hint = f"did you mean `{near}`?" if near is not None else f"write one of {', '.join(names)}"
            at = _line(document, (*path, str(key)), where)
            raise SiteError(f"{at}: a site has no `{dotted}`; {hint}")


def _check_types(document: Document, where: str) -> None:
    from validator.facts.profiles import names

    profile = mapping(document.tree, "fabric").get("profile")
    if profile is not None and profile not in ("none", *names()):
        near = closest(str(profile), names(), 0.6)
        hint = f"did you mean `{near}`?" if near is not None else f"write none or one of {', '.join(names())}"
        at = _line(document, ("fabric", "profile"), where)
        raise SiteError(f"{at}: there is no fabric profile {shown(profile)}; {hint}")
    for path in _LISTS:
        value = mapping(document.tree, *path[:-1]).get(path[-1])
        if value is not None and (not isinstance(value, list) or not all(isinstance(one, dict) for one in value)):
            raise SiteError(
                f"{_line(document, path, where)}: `{'.'.join(path)}` is {shown(value)}; write a list of items"
            )


def _line(document: Document, path: Path, where: str) -> str:
    position = document.locate(Place(document, path, on_key=True))
    return f"{where}:{position.line}:{position.column}"
