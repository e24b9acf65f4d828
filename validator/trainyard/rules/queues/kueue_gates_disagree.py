"""The feature gates of Kueue contradict each other, so its manager exits at start.

Several gates need another one, such as TopologyAwareScheduling, and since 0.17 they are checked at start, also those
that are on by default: "TASFailedNodeReplacement requires TopologyAwareScheduling to be enabled". And the manager takes
gates from `--feature-gates` or from its configuration, and not from both.

The rule needs the release for the first check: that of the image or of the chart, otherwise the target `kueue`. It
reads the configuration in a file or a ConfigMap, arguments, and values of the chart.

Turn the other gate on as well, or the ones that need it off. Write all gates in one place.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.gates.found import gates_of
from trainyard.analysis.gates.setting import Gate
from trainyard.analysis.jobs.kueue_configurations import configuration_of
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.facts.feature_gates import KUEUE, Version, default
from trainyard.facts.jobs.kueue_gates import REQUIREMENTS
from trainyard.model.run import Project

_GATES = "featureGates"
_ARGUMENTS = ("args", "command")


@rule(
    code="QU035",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes-sigs/kueue v0.12.0 to v0.19.2 pkg/config/validation.go: LoadAndValidateFeatureGates",
        "facts/jobs/kueue_gates.py: the releases with each check",
        "github.com/kubernetes-sigs/kueue pull request 14237, github.com/NVIDIA/aicr pull 2598",
    ),
    needs=("featureGates", "feature-gates"),
)
def kueue_gates_disagree(project: Project, context: Context) -> Iterator[Problem]:
    """Report gates that need another one, and gates in two places."""
    found = [gate for gate in gates_of(project, context.target) if gate.program == KUEUE]
    of_documents: dict[tuple[int, object], list[Gate]] = {}
    for gate in found:
        # The gates of one map, list or text.
        of_documents.setdefault((id(gate.at.document), _holder(gate)), []).append(gate)
    for together in of_documents.values():
        version = together[0].version
        if version is not None:
            yield from _contradictions(together, version)
    yield from _twice(project, found)


def _holder(gate: Gate) -> object:
    """Returns the path of what holds a gate: the map, the list, or the text."""
    path = gate.at.path
    if gate.at.words:
        return path
    return path[:-2] if path[-1] == "name" else path[:-1]


def _contradictions(together: list[Gate], version: Version) -> Iterator[Problem]:
    values = {gate.name: gate.value for gate in together if gate.value is not None}
    places = {gate.name: gate.at for gate in together}
    lacking: dict[str, list[str]] = {}
    for need in REQUIREMENTS:
        if need.holds(version) and _is_on(values, need.gate, version) and not _is_on(values, need.other, version):
            if need.other in values:
                lacking.setdefault(need.other, []).append(need.gate)
            elif need.gate in values:
                yield Problem(
                    places[need.gate],
                    f"`{need.gate}` needs the feature gate `{need.other}`, which is off: Kueue does not start",
                    f"turn `{need.other}` on as well",
                )
    for other, names in lacking.items():
        listed = format_list(f"`{name}`" for name in names)
        yield Problem(
            places[other],
            f"{listed} {'need' if len(names) > 1 else 'needs'} the feature gate `{other}`, which is off: "
            "Kueue does not start",
            f"turn {'them' if len(names) > 1 else 'it'} off as well, or `{other}` on",
        )


def _is_on(values: dict[str, bool], name: str, version: Version) -> bool:
    return values.get(name, bool(default(KUEUE, name, version)))


def _twice(project: Project, found: list[Gate]) -> Iterator[Problem]:
    """Yields the gates of the configuration if the manager gets others as an argument."""
    known = configuration_of(project)
    argument = next((gate for gate in found if _is_argument(gate)), None)
    if known is None or argument is None or not mapping(known.tree, _GATES):
        return
    yield Problem(
        known.at.child(_GATES).key(),
        "Kueue does not start with feature gates in its configuration and in its arguments",
        "write all of them in one place",
        related=((argument.at, "the argument"),),
    )


def _is_argument(gate: Gate) -> bool:
    return any(part in _ARGUMENTS for part in gate.at.path)
