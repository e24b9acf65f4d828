"""GPUs, with a stand-in for the driver's library: no test machine has one.

The stand-in has the names and errors of the real binding, so that a name that NVML does not have fails here too.
"""

# ruff: noqa: D102, N802 - the functions are NVML's

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest

from nodehealth.checks.gpu import GpuCheck
from nodehealth.config import Gpu
from nodehealth.fault import CannotCheckError
from nodehealth.memory import Memory

ADDRESSES = ("0000:18:00.0", "0000:2a:00.0")


class Driver:
    """The functions of NVML for two GPUs of the H100 kind, which faults change."""

    def __init__(self) -> None:
        self.gpus: list[dict[str, Any]] = [
            {"address": address, "rows": (0, 0, 0, 0), "ecc": 0, "links": [1] * 18, "clocks": 0, "recovery": 0}
            for address in ADDRESSES
        ]
        self.missing = False

    def __getattr__(self, name: str) -> Any:
        # Constants and errors are the real ones.
        return getattr(pynvml, name)

    def nvmlInit(self) -> None:
        if self.missing:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

    def nvmlDeviceGetCount(self) -> int:
        return len(self.gpus)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> dict[str, Any]:
        return self._alive(self.gpus[index])

    def nvmlDeviceGetPciInfo(self, gpu: dict[str, Any]) -> Any:
        return SimpleNamespace(busId=f"0000{gpu['address']}".upper().encode())

    def nvmlDeviceGetFieldValues(self, gpu: dict[str, Any], fields: list[int]) -> list[Any]:
        assert fields == [pynvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION]
        return [SimpleNamespace(nvmlReturn=pynvml.NVML_SUCCESS, value=SimpleNamespace(uiVal=gpu["recovery"]))]

    def nvmlDeviceGetRemappedRows(self, gpu: dict[str, Any]) -> tuple[int, int, int, int]:
        if gpu["rows"] is None:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
        rows: tuple[int, int, int, int] = gpu["rows"]
        return rows

    def nvmlDeviceGetTotalEccErrors(self, gpu: dict[str, Any], kind: int, counter: int) -> int:
        assert (kind, counter) == (pynvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, pynvml.NVML_VOLATILE_ECC)
        return int(gpu["ecc"])

    def nvmlDeviceGetNvLinkState(self, gpu: dict[str, Any], link: int) -> int:
        if link >= len(gpu["links"]):
            raise pynvml.NVMLError(pynvml.NVML_ERROR_INVALID_ARGUMENT)
        return int(gpu["links"][link])

    def nvmlDeviceGetCurrentClocksEventReasons(self, gpu: dict[str, Any]) -> int:
        return int(self._alive(gpu)["clocks"])

    def _alive(self, gpu: dict[str, Any]) -> dict[str, Any]:
        if gpu.get("lost"):
            raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)
        return gpu


@pytest.fixture
def driver() -> Driver:
    """Two GPUs without a fault."""
    return Driver()


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    """The PCI bus with these GPUs, a third one that a virtual machine uses, and a network adapter."""
    for address, vendor, kind, name in (
        *((address, "0x10de", "0x030200", "nvidia") for address in ADDRESSES),
        ("0000:3b:00.0", "0x10de", "0x030200", "vfio-pci"),
        ("0000:17:00.0", "0x15b3", "0x020700", "mlx5_core"),
    ):
        drivers = tmp_path / "sys/bus/pci/drivers" / name
        drivers.mkdir(parents=True, exist_ok=True)
        folder = tmp_path / "sys/bus/pci/devices" / address
        folder.mkdir(parents=True)
        (folder / "vendor").write_text(f"{vendor}\n")
        (folder / "class").write_text(f"{kind}\n")
        (folder / "driver").symlink_to(drivers)
    return tmp_path / "sys"


@pytest.fixture
def check(driver: Driver, sysfs: Path, tmp_path: Path) -> Callable[..., GpuCheck]:
    """A function that makes the check, as a new pod of the agent does."""
    return lambda **settings: GpuCheck(Gpu(**settings), sysfs, Memory(tmp_path / "state"), driver)


def test_gpus_without_a_fault_pass(check: Callable[..., GpuCheck]) -> None:
    assert check()() == []


def test_every_function_of_the_stand_in_is_one_of_nvml() -> None:
    assert [name for name in vars(Driver) if name.startswith("nvml") and not hasattr(pynvml, name)] == []


def test_a_node_without_gpus_needs_no_driver(tmp_path: Path, driver: Driver) -> None:
    driver.missing = True

    assert GpuCheck(Gpu(), tmp_path, Memory(tmp_path), driver)() == []


def test_gpus_without_the_driver_s_library_are_unknown(check: Callable[..., GpuCheck], driver: Driver) -> None:
    driver.missing = True

    with pytest.raises(CannotCheckError, match=r"agent\.runtimeClassName: nvidia"):
        check()()


@pytest.mark.parametrize(
    ("change", "reason", "words"),
    [
        ({"lost": True}, "GpuLost", "GPU 1 does not answer: GPU is lost"),
        ({"rows": (0, 1, 1, 0)}, "RowRemapPending", "has a faulty row of memory, which a reset of the GPU remaps"),
        ({"rows": (0, 8, 1, 1)}, "RowRemapFailed", "cannot remap a faulty row of its memory"),
        ({"ecc": 2}, "EccErrors", "had 2 uncorrected memory errors since its driver was loaded"),
        ({"clocks": 0x40}, "ClocksSlowed", "has its clocks slowed by its hardware, because of its temperature"),
        ({"recovery": 2}, "GpuNeedsRecovery", "needs a reboot of the node, by its driver"),
    ],
)
def test_a_fault_of_one_gpu_is_found(
    check: Callable[..., GpuCheck], driver: Driver, change: dict[str, Any], reason: str, words: str
) -> None:
    driver.gpus[1] |= change

    (fault,) = check()()

    assert fault.reason == reason
    assert words in fault.message


def test_a_gpu_that_nvml_no_longer_lists_is_lost(check: Callable[..., GpuCheck], driver: Driver) -> None:
    del driver.gpus[0]

    (fault,) = check()()

    assert fault.message == "GPU 0000:18:00.0 is on the PCI bus, but NVML does not list it"


def test_a_gpu_that_is_lost_in_the_middle_is_reported_once(check: Callable[..., GpuCheck], driver: Driver) -> None:
    real = driver.nvmlDeviceGetPciInfo

    def lose(gpu: dict[str, Any]) -> Any:
        gpu["lost"] = gpu["address"] == ADDRESSES[0]
        return real(gpu)

    driver.nvmlDeviceGetPciInfo = lose  # type: ignore[method-assign]

    assert [fault.reason for fault in check()()] == ["GpuLost"]


def test_an_nvlink_that_was_active_is_missed_also_by_a_new_agent(
    check: Callable[..., GpuCheck], driver: Driver
) -> None:
    check()()
    driver.gpus[0]["links"][3] = 0

    assert [fault.message for fault in check()()] == ["GPU 0000:18:00.0 has 17 active NVLinks; it had 18"]


def test_gpus_without_nvlink_or_row_remapping_pass(check: Callable[..., GpuCheck], driver: Driver) -> None:
    for gpu in driver.gpus:
        gpu |= {"links": [], "rows": None}

    assert check()() == []


def test_clocks_can_be_left_out(check: Callable[..., GpuCheck], driver: Driver) -> None:
    driver.gpus[0]["clocks"] = 0x80

    assert check(clocks=False)() == []
    assert len(check()()) == 1
