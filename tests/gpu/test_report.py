"""The report and the command line."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from tests.gpu.test_nccl_library import RELEASES, RODATA, shared_library
from tools.gpu import __main__ as command
from tools.gpu import flight_record, report
from tools.gpu.check import Check, Outcome, Result
from tools.gpu.checks import ALL, names, speed
from tools.gpu.machine import Machine
from trainyard.facts.hardware.dcgm import SERVED

MACHINE = Machine(device="cuda", gpus=2, names=("NVIDIA H200", "NVIDIA H200"), torch="2.15.0")
FIRST, SECOND, THIRD = ALL[:3]
RESULTS = [
    Result(FIRST, Outcome.PASSED, 1.25, measured={"share": 0.123456, "ranks": 2}),
    Result(SECOND, Outcome.FAILED, 2.0, "a | b", log=Path("build/gpu/logs/second")),
    Result(THIRD, Outcome.NOT_RUN, 0.0, "needs 2 GPUs"),
]


def test_the_json_has_the_machine_and_each_check() -> None:
    found = json.loads(json.dumps(report.as_json(MACHINE, RESULTS, time="now", command="make gpu")))

    assert found["counts"] == {"passed": 1, "failed": 1, "not run": 1}
    assert found["machine"]["names"] == ["NVIDIA H200", "NVIDIA H200"]
    assert found["checks"][0]["measured"] == {"share": 0.123456, "ranks": 2}
    assert found["checks"][1]["log"] == "build/gpu/logs/second"
    assert found["checks"][2]["reason"] == "needs 2 GPUs"
    assert not found["rehearsal"]


def test_the_page_has_a_row_and_a_bar_for_each_check() -> None:
    page = "\n".join(report.as_markdown(MACHINE, RESULTS, time="now", command="make gpu"))

    assert "1 passed, 1 failed, 1 not run. now, `make gpu`." in page
    assert "| GPUs | 2 x NVIDIA H200 |" in page
    assert f"| `{FIRST.name}` | passed | 1.2 | share=0.1235, ranks=2 |" in page
    assert f"| `{SECOND.name}` | failed | 2.0 | a \\| b (log: `build/gpu/logs/second`) |" in page
    assert f"Bar: {THIRD.bar}." in page
    assert "Rehearsal" not in page


def test_a_rehearsal_says_that_it_is_one() -> None:
    page = "\n".join(report.as_markdown(Machine(device="cpu"), [], time="now", command=""))
    assert "it says nothing about GPUs or NCCL" in page


def test_names_of_checks_are_unique_and_their_bars_are_stated() -> None:
    assert len({check.name for check in ALL}) == len(ALL)
    assert all(check.what and check.bar and not check.bar.endswith(".") for check in ALL)


def library(folder: Path, *extra: bytes) -> str:
    found = RELEASES["2.32.3"].read_bytes().split()
    path = folder / "libnccl.so.2"
    text = b"\0" + b"\0".join([*found, *extra, b"NCCL version 2.32.3+cuda13.4"]) + b"\0"
    path.write_bytes(shared_library((RODATA, text)))
    return str(path)


@pytest.mark.parametrize(("extra", "status"), [((), 0), ((b"NCCL_UNHEARD_OF",), 1)])
def test_the_exit_status_says_if_a_check_failed(tmp_path: Path, extra: tuple[bytes, ...], status: int) -> None:
    path = library(tmp_path, *extra)
    arguments = ["--only", "nccl-registry", "--libnccl", path, "--output", str(tmp_path / "out")]

    assert command.main(arguments) == status
    (found,) = json.loads((tmp_path / "out/gpu.json").read_text())["checks"]
    assert found["outcome"] == ("failed" if status else "passed")
    assert ("registry lacks: NCCL_UNHEARD_OF; in vain: none" in found["reason"]) == bool(status)


def test_an_unknown_check_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--only", "nonesuch"]) == command.USAGE_STATUS
    assert "error: there is no check `nonesuch`: write one of nccl-registry, " in capsys.readouterr().err


def test_a_machine_without_a_gpu_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--output", str(tmp_path / "out")]) == command.USAGE_STATUS
    assert "sees no GPU: run `nvidia-smi`" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(command.REQUIRED, "no_such_module", "no-such-package")
    assert command.main([]) == command.USAGE_STATUS
    assert "-m pip install no-such-package`" in capsys.readouterr().err


def test_the_list_names_each_check_with_its_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--list"]) == 0
    text = capsys.readouterr().out
    assert all(f"{check.name}: {check.what}\n" in text for check in ALL)
    assert "needs: 1 GPU, deepspeed" in text


def test_the_options_of_the_help_are_read() -> None:
    assert [check.name for check in command.select(["mfu", "ddp"])] == ["ddp", "mfu"]


def test_the_flight_record_is_read_without_running_code() -> None:
    entries = [{"collective_seq_id": 1, "profiling_name": "nccl:all_reduce", "sizes": [[2]], "retired": True}]
    assert flight_record.collectives(pickle.dumps({"version": "2.10", "entries": entries})) == entries

    for data, reason in (
        (pickle.dumps({"entries": [Path("x")]}), "only plain data are expected"),
        (pickle.dumps({"entries": []}), "it holds no collective"),
        (pickle.dumps({"entries": entries})[:-9], "it cannot be read"),
        (b"", "it cannot be read"),
    ):
        with pytest.raises(ValueError, match=reason):
            flight_record.collectives(data)


def test_the_fields_of_alerts_and_of_the_validator_are_compared_with_dcgm() -> None:
    used = names.used_dcgm_names()
    assert used > SERVED
    assert "DCGM_FI_DEV_XID_ERRORS" in used


def check_named(name: str) -> Check:
    return next(check for check in ALL if check.name == name)


@pytest.mark.parametrize(("memory", "millions"), [(80e9, 607), (24e9, 151)])
def test_the_measured_models_have_the_stated_size(memory: float, millions: int) -> None:
    parameters, _ = speed._model(speed.size_for(int(memory)))
    assert abs(parameters / 1e6 - millions) < millions * 0.02
    assert f"{millions} million" in check_named("mfu").what
