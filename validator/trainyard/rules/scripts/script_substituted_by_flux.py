"""Flux replaces the variables of the script before the shell sees it, and has no value for them.

`postBuild` of a Flux Kustomization replaces each `${NAME}` in all of its objects, those in scripts and ConfigMaps too.
A name that `substitute` does not define becomes empty: `LOG_DIR=/logs/${RANK}` is `LOG_DIR=/logs/`, and
`--node-rank=${NODE_RANK}` is `--node-rank=`.

The rule looks at Kustomizations without `substituteFrom`, whose folder is in the files. It reports names that the
script assigns itself, or that the container has among its variables. `$NAME` without braces stays as it is.

Write `$${NAME}` or `$NAME` in the script, or annotate the object with
`kustomize.toolkit.fluxcd.io/substitute: disabled`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import NamedTuple

from trainyard.analysis.objects.folders import folder_of
from trainyard.analysis.pods.injected import injected
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Container, Project, Script
from trainyard.startup import pattern

_KIND, _GROUP = "Kustomization", "kustomize.toolkit.fluxcd.io/"
_DISABLED = f"{_GROUP}substitute"
_REFERENCE = pattern(r"(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_ASSIGNED = pattern(r"(?m)(?:^|[\s;])(?:export |local |readonly |for )*([A-Za-z_][A-Za-z0-9_]*)(?==| in )")


class _Substitution(NamedTuple):
    """A Kustomization of Flux with values: the folder of its objects, and the names."""

    name: str
    folder: str
    names: frozenset[str]
    at: Place


@rule(
    code="SC065",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "fluxcd/kustomize-controller docs/spec/v1/kustomizations.md: Post build variable substitution",
        "fluxcd/pkg kustomize/kustomize_varsub.go: SubstituteVariables",
        "github.com/fluxcd/flux2 issue 2148",
    ),
    needs=("${",),
)
def script_substituted_by_flux(container: Container, context: Context) -> Iterator[Problem]:
    """Report variables of scripts that Flux replaces with nothing."""
    run, pod = context.run, context.pod
    if run is None or pod is None:
        return
    disabled = (*run.annotations.items(), *run.labels.items())
    if any(name == _DISABLED and value == "disabled" for name, value in disabled):
        return
    for one in _substitutions.of(context.project):
        if not _applies(one, run.at):
            continue
        own = {setting.name for setting in container.settings}
        operator = injected(run)
        for script in container.scripts:
            if script.at.document.source is not run.at.document.source or "${" not in script.text:
                continue
            assigned = frozenset(_ASSIGNED.findall(script.text))
            found = next(
                (
                    (number, name)
                    for number, name in _names(script)
                    if name not in one.names and (name in own or operator.has(name) or name in assigned)
                ),
                None,
            )
            if found is not None:
                number, name = found
                yield Problem(
                    script.at.below(number) if "\n" in script.text else script.at,
                    f"Flux replaces `${{{name}}}` with nothing: `postBuild` of the Kustomization `{one.name}` "
                    "substitutes all variables, and does not define this one",
                    f"write `$${{{name}}}`, and the other variables of the script in the same way",
                    related=((one.at, "the substitution"),),
                )


def _applies(one: _Substitution, at: Place) -> bool:
    """True if an object stands in the folder of a Kustomization, whose path begins at a folder above both."""
    folder = f"/{folder_of(at)}"
    return folder.endswith(one.folder) and f"/{folder_of(one.at)}/".startswith(f"{folder.removesuffix(one.folder)}/")


def _names(script: Script) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(script.text.split("\n")):
        for found in _REFERENCE.finditer(line):
            yield number, found[1]


def _find(project: Project) -> list[_Substitution]:
    found = []
    for one in project.of_kind(_KIND):
        build, path = mapping(one.tree, "spec", "postBuild"), text(one.tree, "spec", "path")
        names = mapping(build, "substitute")
        folder = posixpath.normpath(posixpath.join("/", path))
        is_known = names and not items(build, "substituteFrom") and folder != "/" and "{" not in folder
        if one.api_version.startswith(_GROUP) and is_known:
            at = one.at.child("spec", "postBuild", "substitute").key()
            found.append(_Substitution(one.name, folder, frozenset(map(str, names)), at))
    return found


_substitutions: LastIndex[Project, list[_Substitution]] = LastIndex(_find)
