"""The script sleeps forever after the training, so the job never completes and holds its GPUs.

`sleep infinity` or `tail -f /dev/null` at the end keeps a container open for debugging. The container does not end,
whether the training succeeds or fails: the job never completes, no retry starts, and the GPUs stay allocated until
somebody deletes the job.

The rule reports it if the script comes to that line unconditionally after a launcher, in a job whose container requests
GPUs.

Remove the line. To keep a failed pod for debugging, use `kubectl debug`, or a sleep with an end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.launchers import launcher_in
from trainyard.loaders.manifests import shell
from trainyard.model.run import Script

FOREVER = (("sleep", "infinity"), ("sleep", "inf"), ("tail", "-f", "/dev/null"), ("tail", "-F", "/dev/null"))
# Words of scripts that may end or branch before the last line.
BRANCHES = re.compile(r"(?m)^\s*(?:if|else|elif|case|exit|exec|set -\w*e|trap|while|until|for)\b|\|\||&&\s*sleep|\(\)")


@rule(
    code="SC009",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=("Kubernetes documentation, Jobs: a Job completes when its pods have terminated",),
    needs=("infinity", "inf", "/dev/null"),
)
def gpus_held_after_training(script: Script, context: Context) -> Iterator[Problem]:
    """A sleep without an end as the last command."""
    container, run = context.container, context.run
    if container is None or not container.gpus or run is None or not run.is_job:
        return
    found = shell.statements(script.text)
    last = tuple(word.text for word in found[-1].words) if found else ()
    if last not in FOREVER or found[-1].end not in ("", "\n", ";") or BRANCHES.search(script.text):
        return
    if any(launcher_in(tuple(word.text for word in one.words)) for one in found[:-1] if one.end != "&"):
        yield Problem(
            script.at.below(found[-1].words[0].line),
            f"`{' '.join(last)}` after the training holds {container.gpus} GPUs, and the job never completes",
            "remove it",
        )
