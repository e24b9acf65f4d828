"""The arguments of a Volcano plugin are not a list, or name an option that the plugin does not have.

The API server refuses a job whose plugin has a text or an object in place of a list. A plugin that does not know an
option writes an error to the log of the controller and goes on: it ignores this option and all options after it, and
the job runs with the defaults. `--no-root` of the plugin `ssh` is an example: older releases had it.

The rule knows the options of `ssh`, `svc`, `pytorch`, `tensorflow`, `mpi` and `ray`.

Write a list with one option in each entry, such as `["--master=master", "--worker=worker"]`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.jobs.workloads import VOLCANO, VOLCANO_PLUGIN_OPTIONS, group_of
from trainyard.model.run import Resource


@rule(
    code="WL018",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "volcano-sh/volcano ed72c7c pkg/controllers/job/plugins: addFlags of svc, ssh and each framework",
        "volcano-sh/apis pkg/apis/batch/v1alpha1/job.go: Plugins map[string][]string",
        "github.com/volcano-sh/volcano issue 573",
    ),
    needs=("batch.volcano.sh",),
)
def volcano_plugin_arguments_invalid(resource: Resource) -> Iterator[Problem]:
    """Report arguments that are no list, and options that a plugin ignores."""
    if resource.kind != "Job" or group_of(resource.api_version) != VOLCANO:
        return
    for name, arguments in mapping(resource.tree, "spec", "plugins").items():
        at = resource.at.child("spec", "plugins", name)
        if isinstance(arguments, list):
            yield from _unknown(str(name), arguments, at)
        elif arguments is not None and "{{" not in str(arguments):
            yield Problem(
                at,
                f"the arguments of the plugin `{name}` are not a list: the API server refuses the job",
                "write each option as an entry of a list",
            )


def _unknown(name: str, arguments: list[Any], at: Place) -> Iterator[Problem]:
    known = VOLCANO_PLUGIN_OPTIONS.get(name)
    for index, argument in enumerate(arguments if known is not None else ()):
        option = str(argument).lstrip("-").partition("=")[0]
        if not str(argument).startswith("-") or option in (known or ()) or "{" in option or "$" in option:
            continue
        near = closest_match(option, sorted(known or ()), 0.6)
        rest = " and those after it" if index + 1 < len(arguments) else ""
        yield Problem(
            at.child(index),
            f"the plugin `{name}` has no option `--{option}`: it ignores this one{rest}",
            f"did you mean `--{near}`?" if near is not None else f"its options: --{', --'.join(sorted(known or ()))}",
        )
        return
