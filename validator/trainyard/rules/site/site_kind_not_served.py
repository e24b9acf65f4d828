"""The training operator of the site does not serve this run: it is stored, and nothing ever happens to it.

The operator watches the kinds that `operator.schemes` lists, all six when the list is empty, and the namespace that
`operator.watchNamespace` names, all when it is empty. A job of another kind or in another namespace is accepted by the
API server as long as its CustomResourceDefinition is there: it has no status, no event and no pods.

An MPIJob is one of `kubeflow.org/v1` or `v2beta1`. The cluster can serve one of the two: where this operator
brings the CustomResourceDefinitions, those of the MPI operator's version are refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects import sites
from validator.facts.operator_kinds import API, SCHEMES
from validator.model import Run
from validator.rule import Context, Problem, rule
from validator.site import Site


@rule(
    code="SI006",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 cmd/training-operator.v1/main.go: enable-scheme, namespace",
        "kubeflow/training-operator v1.9.3 manifests/base/crds/kubeflow.org_mpijobs.yaml: v1 alone",
    ),
    of_site=True,
)
def site_kind_not_served(run: Run, context: Context) -> Iterator[Problem]:
    """Runs that the operator does not look at."""
    site = context.site
    if site is None or site.operator is None or run.kind not in SCHEMES.values():
        return
    at = run.at.child("apiVersion" if run.api_version != API else "kind")
    if run.api_version != API:
        if site.operator.brings_definitions:
            yield Problem(
                at,
                f"the site's operator brings the {run.kind} of {API}: the API server knows no {run.api_version}",
                f"write {API}, or set `operator.crds.enabled: false` and install the MPI operator",
                related=site.note("the site's operator", "operator", "crds", "enabled"),
            )
        return
    if run.kind not in site.operator.kinds:
        yield Problem(
            at,
            f"the site's operator serves no {run.kind}: nothing will happen to it",
            f"it serves {', '.join(sorted(site.operator.kinds))}; add {_scheme(run.kind)} to `operator.schemes`",
            related=site.note("the kinds that it serves", "operator", "schemes"),
        )
    yield from _elsewhere(run, site, site.operator.namespace)


def _elsewhere(run: Run, site: Site, watched: str) -> Iterator[Problem]:
    namespace = sites.namespace(run)
    if watched and namespace not in ("", watched):
        yield Problem(
            run.at.child("metadata", "namespace"),
            f"the site's operator serves namespace {watched} alone, and the run is in {namespace}",
            f"put the run into {watched}",
            related=site.note("the namespace that it serves", "operator", "watchNamespace"),
        )


def _scheme(kind: str) -> str:
    return next(scheme for scheme, known in SCHEMES.items() if known == kind)
