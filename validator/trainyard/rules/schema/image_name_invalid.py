"""The name of an image breaks the form of such names: the pod stays in `InvalidImageName`.

The API server takes any text as an image. The kubelet refuses a name with capitals behind the registry, a scheme such
as `https://`, two tags, or a tag with another character than letters, digits, `_`, `.` and `-`. So a version such as
`1.4.0+cu128` is no tag. The digest of an image is `sha256:` with 64 hexadecimal digits in small letters: a shortened
one, or a word that was not replaced, is refused too. No container starts, and a job neither fails nor ends.

The rule leaves out names with a parameter, or with a part that stands for another, such as `YOUR-PROJECT`, and packages
of Go that `ko` builds and replaces (`ko://`).

Write the name as the registry shows it.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.replaced_images import is_replaced
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Pod
from trainyard.startup import pattern

_PLAIN = pattern(r"[A-Za-z0-9_.:/@+-]+")
# Source: ko.build, "Kubernetes Integration".
_OF_KO = "ko://"
_SCHEME = pattern(r"[a-z][a-z0-9+.-]*://")
_TAG = pattern(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
# `IMAGE`, `YourImage` and `myImage` stand for names that are written later.
_STAND_IN = pattern(r"[A-Z]{2,}(?![a-z])|\b(?:my|some|the|a)[-_]?[A-Z]|(?i:your|replace|change|example|todo)")
_CAPITALS = pattern(r"(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9._-]+")
_DIGITS = {"sha256": 64, "sha512": 128}
_HEXADECIMAL = pattern(r"[0-9a-f]+")


@rule(
    code="SM017",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.37.2 pkg/util/parsers/parsers.go and pkg/kubelet/images/image_manager.go: ErrInvalidImageName",
        "distribution/reference v0.6.0 reference.go and normalize.go: repository name must be lowercase",
        "opencontainers/go-digest v1.0.0 algorithm.go: anchoredEncodedRegexps; digest.go: Validate",
    ),
)
def image_name_invalid(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report images whose names the kubelet refuses."""
    for container in (*pod.containers, *pod.init_containers):
        image = container.image
        if image and (fault := _fault(image)) and not ("@" in image and _is_completed(image, context)):
            yield Problem(
                container.at.child("image"),
                f"`{image}` {fault[0]}: the pod stays in InvalidImageName",
                fault[1],
            )


def _fault(image: str) -> tuple[str, str] | None:
    """Returns what is wrong with the name of an image, and the remedy."""
    if not _PLAIN.fullmatch(image):
        return None
    if image.startswith(_OF_KO):
        return None
    if found := _SCHEME.match(image):
        return f"begins with `{found[0]}`", f"write `{image[found.end() :]}`"
    name, _, digest = image.partition("@")
    if digest and (fault := _of_digest(digest)):
        return fault
    path = name.split("/")
    last, *tags = path[-1].split(":")
    if len(tags) > 1:
        return "has two tags", "keep one of them"
    if tags and tags[0] and not _TAG.fullmatch(tags[0]):
        return f"has the tag `{tags[0]}`", f"a tag has no `+`: write `{tags[0].replace('+', '-')}`"
    # The first part of several is the registry, if it has a capital.
    for part in (*path[1:-1], last) if len(path) > 1 else (last,):
        if _CAPITALS.fullmatch(part) and not _STAND_IN.search(part):
            return f"has capitals in `{part}`", "write the name in small letters, as the registry has it"
    return None


def _of_digest(digest: str) -> tuple[str, str] | None:
    """Returns what is wrong with a digest. One in capitals stands for another, which a program writes."""
    algorithm, _, digits = digest.partition(":")
    count = _DIGITS.get(algorithm)
    if count is None or not digits or digits.isupper() or (len(digits) == count and _HEXADECIMAL.fullmatch(digits)):
        return None
    return f"has the digest `{digits}`", f"write the {count} hexadecimal digits that the registry shows"


def _is_completed(image: str, context: Context) -> bool:
    """True if a kustomization writes the digest."""
    name = image.partition("@")[0]
    return is_replaced(name, context.project) or is_replaced(name.rpartition(":")[0], context.project)
