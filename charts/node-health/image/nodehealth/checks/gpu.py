"""GPUs of NVIDIA by NVML: lost devices, memory errors, NVLink and clocks.

NVML's names and meanings: NVML API Reference, sections Device Queries, NvLink Methods and Field Value Queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nodehealth.config import Gpu
from nodehealth.fault import CannotCheckError, Fault
from nodehealth.memory import Memory

CHECK = "gpu"
VENDOR = "0x10de"
# PCI classes of VGA and 3D controllers.
CLASSES = ("0x0300", "0x0302")
_LINKS = "NVLinks of "


class GpuCheck:
    """Asks NVML for every GPU. A node whose PCI bus has no GPU with NVIDIA's driver passes without NVML."""

    def __init__(self, settings: Gpu, sysfs: Path, memory: Memory, nvml: Any) -> None:
        """`nvml` is the module pynvml."""
        self._settings = settings
        self._sysfs = sysfs
        self._memory = memory
        self._nvml = nvml
        self._started = False

    def __call__(self) -> list[Fault]:
        """Returns the faults of all GPUs. Raises `CannotCheckError` if NVML cannot be used."""
        on_bus = sorted(self._on_bus())
        if not on_bus:
            return []
        self._start()
        faults: list[Fault] = []
        answered = set()
        for index in range(self._nvml.nvmlDeviceGetCount()):
            try:
                handle = self._nvml.nvmlDeviceGetHandleByIndex(index)
                address = self._address(handle)
            except self._nvml.NVMLError as error:
                faults.append(Fault(CHECK, f"index {index}", "GpuLost", f"GPU {index} does not answer: {error}"))
                continue
            answered.add(address)
            faults += self._device(handle, address)
        if not any(fault.reason == "GpuLost" for fault in faults):
            faults += [
                Fault(CHECK, address, "GpuLost", f"GPU {address} is on the PCI bus, but NVML does not list it")
                for address in on_bus
                if address not in answered
            ]
        return faults

    def _on_bus(self) -> Iterator[str]:
        for device in (self._sysfs / "bus" / "pci" / "devices").glob("*"):
            try:
                vendor = (device / "vendor").read_text().strip()
                kind = (device / "class").read_text().strip()
                driver = (device / "driver").resolve(strict=True).name
            except OSError:
                continue
            if vendor == VENDOR and kind.startswith(CLASSES) and driver == "nvidia":
                yield device.name.lower()

    def _start(self) -> None:
        if self._started:
            return
        try:
            self._nvml.nvmlInit()
        except self._nvml.NVMLError as error:
            advice = (
                "write agent.runtimeClassName: nvidia, which mounts the driver's library, or checks.gpu.enabled: false"
            )
            raise CannotCheckError(f"NVML cannot be used ({error}): {advice}") from error
        self._started = True

    def _address(self, handle: Any) -> str:
        """Returns the PCI address as sysfs writes it: NVML's domain has eight digits."""
        found = self._nvml.nvmlDeviceGetPciInfo(handle).busId
        return str(found.decode() if isinstance(found, bytes) else found)[-12:].lower()

    def _device(self, handle: Any, address: str) -> Iterator[Fault]:
        for part in (self._recovery, self._memory_errors, self._nvlinks, self._clocks):
            try:
                for reason, message in part(handle, address):
                    yield Fault(CHECK, address, reason, f"GPU {address} {message}")
            except self._nvml.NVMLError as error:
                if error.value in (self._nvml.NVML_ERROR_GPU_IS_LOST, self._nvml.NVML_ERROR_RESET_REQUIRED):
                    yield Fault(CHECK, address, "GpuLost", f"GPU {address} does not answer: {error}")
                    return
                # A function that this GPU or driver does not have says nothing about its health.

    def _recovery(self, handle: Any, address: str) -> Iterator[tuple[str, str]]:  # noqa: ARG002
        """Yields the driver's own verdict, which drivers from R555 on give."""
        (field,) = self._nvml.nvmlDeviceGetFieldValues(handle, [self._nvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION])
        if field.nvmlReturn == self._nvml.NVML_SUCCESS and field.value.uiVal:
            names = ("", "a reset", "a reboot of the node", "a drain of peer-to-peer traffic", "a drain and a reset")
            action = names[field.value.uiVal] if field.value.uiVal < len(names) else f"action {field.value.uiVal}"
            yield "GpuNeedsRecovery", f"needs {action}, by its driver"

    def _memory_errors(self, handle: Any, address: str) -> Iterator[tuple[str, str]]:  # noqa: ARG002
        try:
            _, _, pending, failed = self._nvml.nvmlDeviceGetRemappedRows(handle)
        except self._nvml.NVMLError_NotSupported:
            pending = failed = 0  # GPUs before Ampere
        if failed:
            yield "RowRemapFailed", "cannot remap a faulty row of its memory: it needs replacement"
        elif pending:
            yield "RowRemapPending", "has a faulty row of memory, which a reset of the GPU remaps"
        errors = self._nvml.nvmlDeviceGetTotalEccErrors(
            handle, self._nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, self._nvml.NVML_VOLATILE_ECC
        )
        if errors > self._settings.max_uncorrected_errors:
            yield "EccErrors", f"had {errors} uncorrected memory errors since its driver was loaded"

    def _nvlinks(self, handle: Any, address: str) -> Iterator[tuple[str, str]]:
        active = 0
        for link in range(self._nvml.NVML_NVLINK_MAX_LINKS):
            try:
                active += bool(self._nvml.nvmlDeviceGetNvLinkState(handle, link))
            except (self._nvml.NVMLError_NotSupported, self._nvml.NVMLError_InvalidArgument):
                break  # the GPU has no more links
        most = int(self._memory.raise_to(f"{_LINKS}{address}", active))
        if active < most:
            yield "NvlinkDown", f"has {active} active NVLinks; it had {most}"

    def _clocks(self, handle: Any, address: str) -> Iterator[tuple[str, str]]:  # noqa: ARG002
        if not self._settings.clocks:
            return
        reasons = self._nvml.nvmlDeviceGetCurrentClocksEventReasons(handle)
        for flag, cause in (
            (self._nvml.nvmlClocksEventReasonHwThermalSlowdown, "its temperature"),
            (self._nvml.nvmlClocksEventReasonHwPowerBrakeSlowdown, "the power supply"),
        ):
            if reasons & flag:
                yield "ClocksSlowed", f"has its clocks slowed by its hardware, because of {cause}"
