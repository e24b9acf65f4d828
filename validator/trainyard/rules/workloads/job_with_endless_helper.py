"""A helper beside the program of a job never ends, so the job never completes, and its GPUs stay reserved.

The pod of a job has succeeded when all of its containers have ended. A log shipper, a database proxy or TensorBoard in
`containers` runs on when the program is done. Since Kubernetes 1.29, an init container with `restartPolicy: Always` is
a sidecar, which the kubelet stops at the end. In `containers`, this policy starts the container again for ever.

The rule looks at Jobs, CronJobs and JobSets. It knows helpers by their image or program. It leaves out pods whose
containers can end each other: with `shareProcessNamespace`, or a command that asks the helper to quit.

Move the helper to `initContainers` and give it `restartPolicy: Always`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.workloads import is_batch_job
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.images import short_name
from trainyard.model.run import Container, Pod

_IMAGES = frozenset(
    (
        "fluent-bit", "fluentd", "filebeat", "promtail", "vector", "logstash", "otel-collector",
        "opentelemetry-collector", "opentelemetry-collector-contrib", "cloud-sql-proxy", "gce-proxy", "cloudsql-proxy",
        "envoy", "proxyv2", "linkerd-proxy", "node-exporter", "dcgm-exporter", "pushgateway",
        "oauth2-proxy", "statsd-exporter", "datadog-agent",
    )
)  # fmt: skip
_PROGRAMS = frozenset(
    (
        "tensorboard", "fluent-bit", "fluentd", "filebeat", "promtail", "cloud_sql_proxy", "cloud-sql-proxy", "envoy",
        "node_exporter", "dcgm-exporter", "redis-server", "otelcol", "otelcol-contrib",
    )
)  # fmt: skip
# A program ends its helper with a request, a signal or a file.
_ENDING = ("quitquitquit", "pkill", "killall", "kill ", "/exit", "--quitquitquit", "exit_zero", "shutdown", "timeout ")
_JOBS = frozenset(("CronJob", "JobSet"))


@rule(
    code="WL013",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/concepts/workloads/pods/sidecar-containers: Jobs with sidecar containers",
        "github.com/RedHatInsights/clowder pull 1783, github.com/src-d/charts pull 104",
    ),
    needs=("CronJob", "JobSet", "kind: Job", '"Job"'),
)
def job_with_endless_helper(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report helpers that keep a job from completing."""
    run = context.run
    if len(pod.containers) < 2 or run is None or not (is_batch_job(run) or run.kind in _JOBS):
        return
    # A JobSet may complete with the jobs that its policy names.
    if pod.tree.get("shareProcessNamespace") is True or run.spec.get("successPolicy"):
        return
    helpers = [(one, reason) for one in pod.containers if (reason := _endless(one))]
    programs = [one for one in pod.containers if all(one is not helper for helper, _ in helpers)]
    texts = [text for one in pod.containers for text in (*one.command, *one.args, *(s.text for s in one.scripts))]
    if not helpers or not programs or any(word in text for word in _ENDING for text in texts):
        return
    for helper, field in helpers:
        yield Problem(
            helper.at.child(*field),
            f"{helper.name} never ends, so the {run.kind} never completes after {programs[0].name}",
            "move it to `initContainers` with `restartPolicy: Always`, which makes it a sidecar",
        )


def _endless(container: Container) -> tuple[str, ...]:
    """Returns the field that tells that a container runs on; empty if nothing does."""
    if container.tree.get("restartPolicy") == "Always":
        return ("restartPolicy",)
    if mapping(container.tree, "lifecycle"):
        return ()
    runs_image = not container.command and short_name(container.image) in _IMAGES
    runs_program = len(container.commands) == 1 and container.commands[0].program in _PROGRAMS
    return ("name",) if runs_image or runs_program else ()
