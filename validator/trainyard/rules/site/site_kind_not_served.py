"""The site's training operator does not serve this run, so the run is stored and never starts.

The operator watches the kinds in `operator.schemes` (all six if the list is empty) and the namespace in
`operator.watchNamespace` (all if it is empty). The API server accepts a job of another kind or in another namespace if
its CustomResourceDefinition is installed, but the job gets no status, no events and no pods.

An MPIJob is one of `kubeflow.org/v1` or `v2beta1`, and a cluster can serve only one of the two. If this operator
installs the CustomResourceDefinitions, the API server rejects MPIJobs of the MPI operator's version.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis import sites
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.operator_kinds import API, SCHEMES
from trainyard.model.run import Run
from trainyard.model.site import Site


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
    """Runs that the operator does not watch."""
    site = context.site
    if site is None or site.operator is None or run.kind not in SCHEMES.values():
        return
    at = run.at.child("apiVersion" if run.api_version != API else "kind")
    if run.api_version != API:
        if site.operator.brings_definitions:
            yield Problem(
                at,
                f"the site's operator installs the {run.kind} of {API}: {run.api_version} is not served",
                f"write {API}, or set `operator.crds.enabled: false` and install the MPI operator",
                related=site.note("the site's operator", "operator", "crds", "enabled"),
            )
        return
    if run.kind not in site.operator.kinds:
        yield Problem(
            at,
            f"the site's operator does not serve {run.kind}: the job never starts",
            f"it serves {', '.join(sorted(site.operator.kinds))}; add {_scheme(run.kind)} to `operator.schemes`",
            related=site.note("the kinds that the operator serves", "operator", "schemes"),
        )
    yield from _elsewhere(run, site, site.operator.namespace)


def _elsewhere(run: Run, site: Site, watched: str) -> Iterator[Problem]:
    namespace = sites.namespace(run)
    if watched and namespace not in ("", watched):
        yield Problem(
            run.at.child("metadata", "namespace"),
            f"the site's operator serves only namespace {watched}, but the run is in {namespace}",
            f"move the run to {watched}",
            related=site.note("the namespace that the operator serves", "operator", "watchNamespace"),
        )


def _scheme(kind: str) -> str:
    return next(scheme for scheme, known in SCHEMES.items() if known == kind)
