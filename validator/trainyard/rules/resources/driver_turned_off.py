"""`NVIDIA_VISIBLE_DEVICES: void` turns NVIDIA's runtime off for a container that needs the driver.

With `void`, as with an empty value, the runtime does what `runc` does: it adds neither GPUs nor the libraries of the
driver. `NVIDIA_DRIVER_CAPABILITIES` has no effect beside it, and a program that loads `libcuda.so.1` fails.

`none` is the value for the driver without GPUs. The rule leaves out containers that get devices: a device plugin with
CDI adds GPUs and driver whatever the variable says.

Write `none`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import literal_value, name_at
from trainyard.document.lookup import items
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container, Setting

VISIBLE, CAPABILITIES = "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES"


@rule(
    code="RS028",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/nvidia-container-toolkit: NVIDIA_VISIBLE_DEVICES void, none and empty",
        "github.com/awslabs/awsome-distributed-ai pull 1225",
    ),
    needs=(VISIBLE,),
)
def driver_turned_off(setting: Setting, context: Context) -> Iterator[Problem]:
    """Report containers whose driver the variable turns off."""
    container = context.container
    if setting.name != VISIBLE or setting.via != "env" or container is None or literal_value(setting) != "void":
        return
    if _wants_driver(container) and not _gets_devices(container):
        yield Problem(
            name_at(setting),
            f"{VISIBLE} `void` turns the driver off: {CAPABILITIES} has no effect, and libcuda is missing",
            "write `none`, which gives the container the driver without a GPU",
        )


def _wants_driver(container: Container) -> bool:
    found = container.setting(CAPABILITIES)
    return found is not None and bool(literal_value(found))


def _gets_devices(container: Container) -> bool:
    """True if the container requests a resource of a device plugin, or the device of a claim."""
    named = (*container.limits, *container.requests)
    return any("/" in str(name) for name in named) or bool(items(container.tree, "resources", "claims"))
