"""The daemons that containers start, with the releases that their images tell.

A tag with a release and a known suffix, such as `v0.17.1-minimal` or `v1.30.2-eks-1-30-8`, tells the release. A
candidate, a build between two releases and a digest alone tell none. `latest`, written or not, is the newest release of
a few public images.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.facts.images import ends_with, path_of, tag_of
from trainyard.facts.programs.daemons import DAEMONS, Daemon, Minor
from trainyard.model.run import Command, Container
from trainyard.startup import NamedTuple, pattern

_RELEASE = pattern(r"v?(\d{1,3})\.(\d{1,3})(?:\.\d{1,3})?(?P<rest>[-_].*)?\Z")
_SECOND = pattern(r"\d{1,3}\.\d{1,3}\.\d{1,3}-(\d{1,3})\.(\d{1,3})\.\d{1,3}(?P<rest>[-_].*)?\Z")
_SPARK = pattern(r"v1beta2-(\d{1,3})\.(\d{1,3})\.\d{1,3}-\d{1,3}\.\d{1,3}\.\d{1,3}(?P<rest>[-_].*)?\Z")
_FORMS = {"second": _SECOND, "spark": _SPARK}
_SUFFIX = pattern(
    r"(?:[-_](?:full|minimal|slim|distroless|amd64|arm64|multiarch|linux|(?:ubuntu|ubi|debian|alpine|rockylinux)[\d.]*|r\d+"
    r"|\d{2}|eks-[\w.-]+|eksbuild\.\d+))+\Z"
)
_THICK = "-thick"
# No registry has a longer name.
_MOST = 512


class Start(NamedTuple):
    """A start of a daemon. `release` is None for the newest one, of an image with the tag `latest`."""

    daemon: Daemon
    command: Command
    release: Minor | None
    # The index of the first word behind the program.
    first: int


def starts(container: Container) -> Iterator[Start]:
    """Yields the starts of daemons whose release is known."""
    image = container.image or ""
    if not image or len(image) > _MOST:
        return
    path = path_of(image)
    for daemon in DAEMONS:
        if not any(ends_with(path, one) for one in daemon.images):
            continue
        release = release_of(image, daemon)
        if release is not None or _is_newest(image, daemon):
            for command, first in _commands(container, daemon, path):
                yield Start(daemon, command, release, first)


def release_of(image: str, daemon: Daemon) -> Minor | None:
    """Returns the minor release that a tag tells; None if the table of flags lacks it."""
    tag = tag_of(image)
    if daemon.tags == "thick":
        if not tag.endswith(_THICK):
            return None
        tag = tag.removesuffix(_THICK)
    found = _FORMS.get(daemon.tags, _RELEASE).match(tag)
    if found is None or (found["rest"] and not _SUFFIX.match(found["rest"])):
        return None
    release = (int(found[1]), int(found[2]))
    return release if daemon.has(release) else None


def _commands(container: Container, daemon: Daemon, path: str) -> Iterator[tuple[Command, int]]:
    if container.command:
        for command in container.commands:
            first = 1 if command.words[:1] == ("exec",) else 0
            words = command.words[first : first + 1]
            if words and words[0].rpartition("/")[2] == daemon.command:
                yield command, first + 1
    elif container.args and any(ends_with(path, one) for one in daemon.starts):
        places = tuple([container.at.child("args", index) for index in range(len(container.args))])
        yield Command(container.args, places, container.at.child("args")), 0


def _is_newest(image: str, daemon: Daemon) -> bool:
    name, digest, _ = image.partition("@")
    path = path_of(image).removeprefix("docker.io/")
    return bool(daemon.newest) and not digest and path == daemon.newest and tag_of(name) in ("", "latest")
