"""`torch.compile` runs as a user that the image does not know, so Inductor finds no name for its cache and fails.

Inductor names its folder `/tmp/torchinductor_NAME` by the user, and asks the list of users of the image for it. A user
that `runAsUser` sets has no entry there, and the first compilation ends with "getpwuid(): uid not found". `USER` or
`LOGNAME` also give the name. CRI-O adds the user to the list, containerd does not.

The rule applies to the image `pytorch/pytorch`, whose users are root and those of Ubuntu, and to programs with an
option that compiles.

Set `TORCHINDUCTOR_CACHE_DIR` to a writable folder, or `USER`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.users import user_of
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.hugging_face import ARGUMENT_FALSE
from trainyard.model.run import Command, Container

_IMAGE = "pytorch/pytorch"
# Users below 1000 are those of the system, 1000 is `ubuntu`, and 65534 is `nobody`.
_LAST, _NOBODY = 1000, 65534
_VARIABLES = ("TORCHINDUCTOR_CACHE_DIR", "LOGNAME", "USER", "LNAME", "USERNAME")
# Hugging Face's Trainer, torchtitan and torchtune.
_OPTIONS = ("--torch-compile", "--compile.enable", "--training.compile", "--compile", "compile")


@rule(
    code="TD078",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "pytorch 2.15.0 torch/_inductor/runtime/cache_dir_utils.py: default_cache_dir; Python getpass.getuser",
        "github.com/pytorch/pytorch issue 140765, github.com/containers/ramalama pull 2402",
    ),
    needs=("compile",),
)
def inductor_user_unknown(container: Container, context: Context) -> Iterator[Problem]:
    """Report compilations of a user without a name."""
    pod, image = context.pod, container.image or ""
    if pod is None or f"/{image}".rpartition(":")[0].partition("@")[0].endswith(f"/{_IMAGE}") is False:
        return
    user, at = user_of(container, pod)
    if user is None or user <= _LAST or user == _NOBODY or any(map(container.setting, _VARIABLES)):
        return
    if any(_compiles(command) for command in container.commands):
        yield Problem(
            at,
            f"the image has no user {user}: torch.compile finds no name for its cache folder, and fails",
            "set TORCHINDUCTOR_CACHE_DIR to a writable folder, or USER to a name",
        )


def _compiles(command: Command) -> bool:
    told = command.given(frozenset(_OPTIONS))
    return any((command.option(name) or "").lower() not in ARGUMENT_FALSE for name in told)
