"""Conditions of the Prometheus operator on monitors and rules: it skips an object that breaks one.

Source: prometheus-operator/prometheus-operator main pkg/apis/monitoring/v1/http_config.go and
pkg/prometheus/validation/validator.go; prometheus/prometheus model/rulefmt/rulefmt.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.admission.constraints import Refused, Row, asking_for, is_known, unique
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text

_LOGINS = ("authorization", "basicAuth", "oauth2", "bearerTokenSecret")
_NEED_TARGET = frozenset(("replace", "hashmod", "lowercase", "uppercase", "keepequal", "dropequal"))
_REGEX_ALONE = frozenset(("labeldrop", "labelkeep"))
_OF_ALERTS = ("for", "keep_firing_for", "annotations")


@asking_for(*_LOGINS)
def _login(endpoint: Any, at: Place) -> Iterator[Refused]:
    """An endpoint has one way to log in. Operators write an empty `bearerTokenSecret` beside others."""
    endpoint = mapping(endpoint)
    given = [name for name in _LOGINS if endpoint.get(name)]
    if len(given) > 1 and (given[1] != "bearerTokenSecret" or text(endpoint, "bearerTokenSecret", "name")):
        fault = f"`{given[0]}` and `{given[1]}` exclude each other"
        yield Refused(at.child(given[1]).key(), fault, "keep one of them")


def _relabeling(one: Any, at: Place) -> Iterator[Refused]:
    one = mapping(one)
    action = str(one.get("action") or "replace").lower()
    if not is_known(action) or not one:
        return
    if action in _NEED_TARGET and not one.get("targetLabel"):
        yield Refused(at, f"the action {action} needs `targetLabel`", "add it", True)
    if action == "hashmod" and not one.get("modulus"):
        yield Refused(at, "the action hashmod needs `modulus`", "add it", True)
    more = next((name for name in ("sourceLabels", "targetLabel", "modulus") if one.get(name)), None)
    if action in _REGEX_ALONE and more is not None:
        yield Refused(at.child(more).key(), f"the action {action} takes `regex` alone", f"remove `{more}`")


def _rule(one: Any, at: Place) -> Iterator[Refused]:
    one = mapping(one)
    record, alert = one.get("record"), one.get("alert")
    if record and alert:
        yield Refused(at.child("alert"), "a rule has `record` or `alert`, and not both", "make two rules of it")
    elif one and not record and not alert:
        yield Refused(at, "a rule needs `record` or `alert`", "add one of them", True)
    for name in _OF_ALERTS if record and not alert else ():
        if one.get(name):
            yield Refused(at.child(name).key(), f"a rule with `record` takes no `{name}`", "remove it")


def _endpoints(field: str) -> tuple[Row, ...]:
    return (
        Row(f"spec.{field}[]", _login, "http_config.go: HTTPConfigWithoutTLS.Validate"),
        Row(f"spec.{field}[].relabelings[]", _relabeling, "validator.go: ValidateRelabelConfig"),
        Row(f"spec.{field}[].metricRelabelings[]", _relabeling, "validator.go: ValidateRelabelConfig"),
    )


_GROUP = "monitoring.coreos.com"
ROWS: dict[tuple[str, str], tuple[Row, ...]] = {
    (_GROUP, "ServiceMonitor"): _endpoints("endpoints"),
    (_GROUP, "PodMonitor"): _endpoints("podMetricsEndpoints"),
    (_GROUP, "PrometheusRule"): (
        Row("spec.groups", unique("name"), "rulefmt.go: groupname is repeated in the same file"),
        Row("spec.groups[].rules[]", _rule, "rulefmt.go: Rule.Validate"),
    ),
}
