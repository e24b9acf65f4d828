"""The command `report` on an API server: what the page says, what it leaves out, and what is refused."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.validator.audit.api_server import ApiServer
from tests.validator.report.test_history import AFTER, BEFORE, LOGS
from tests.validator.status.test_commands import Commands, objects

PODS = "/api/v1/namespaces/demo/pods"
HOSTILE = "<script>alert('x')</script> token=hf_abcdefghijklmnopqrstu"


def event(message: str) -> dict[str, Any]:
    """Return an event about the run."""
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"namespace": "demo", "name": "one"},
        "involvedObject": {"kind": "PyTorchJob", "name": "steps"},
        "type": "Warning",
        "reason": "Odd",
        "message": message,
        "lastTimestamp": "2026-11-25T14:41:00Z",
        "count": 3,
    }


def preflight_pod(number: int) -> dict[str, Any]:
    """Return a pod of a preflight test."""
    labels = {"app.kubernetes.io/component": "preflight", "batch.kubernetes.io/job-completion-index": str(number)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": "demo", "name": f"check-{number}", "labels": labels},
        "spec": {"containers": [{"name": "preflight"}]},
        "status": {"phase": "Succeeded"},
    }


def resumed_run(**options: Any) -> ApiServer:
    """Return a server with a run whose first pod was killed and resumed, and with a preflight test."""
    found = objects("running-metrics")
    job = found[0]
    replicas = next(iter(job["spec"]["pytorchReplicaSpecs"].values()))
    container = replicas["template"]["spec"]["containers"][0]
    container["env"] = [*container.get("env", []), {"name": "WANDB_API_KEY", "value": "0123456789abcdef"}]
    master = next(tree for tree in found if tree["metadata"]["name"] == "steps-master-0")
    master["status"]["containerStatuses"][0]["restartCount"] = 1
    texts = {
        f"{PODS}/steps-master-0/log": AFTER,
        f"{PODS}/steps-master-0/log?previous=true": BEFORE,
        f"{PODS}/check-0/log": (LOGS / "preflight.log").read_text(),
    }
    return ApiServer(*found, event(HOSTILE), preflight_pod(0), preflight_pod(1), texts=texts, **options)


class _Text(HTMLParser):
    """Collects the words of each section, and the tags of the page."""

    def __init__(self) -> None:
        super().__init__()
        self.section = ""
        self.words: dict[str, list[str]] = {}
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "section":
            self.section = dict(attrs).get("id") or ""

    def handle_data(self, data: str) -> None:
        self.words.setdefault(self.section, []).append(data)


class Page:
    """A written report: the text of its sections."""

    def __init__(self, path: Path) -> None:
        self.html = path.read_text()
        parsed = _Text()
        parsed.feed(self.html)
        self.tags = parsed.tags
        self._words = parsed.words

    def __getitem__(self, section: str) -> str:
        return " ".join(" ".join(self._words[section]).split())


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Commands:
    """The commands, in a folder of their own; they use no proxy to reach this machine."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.chdir(tmp_path)
    return Commands(tmp_path, capfd)


def test_the_page_has_curves_restarts_and_the_preflight_of_a_run(run: Commands) -> None:
    code, out, err = run(resumed_run(), "report", "steps")
    assert (code, out) == (0, "")
    assert err.startswith("wrote steps.html: PyTorchJob demo/steps, running: 2 of 2 pods")
    page = Page(Path("steps.html"))
    assert page.tags.count("svg") == 3
    assert "Training loss: " in page["curves"]
    assert "Test loss" in page["curves"]
    assert "Throughput per second" in page["curves"]
    assert "8 saved checkpoints; the last one is of step 360" in page["checkpoints"]
    assert re.search(r"2026-11-25 14:40:59 135 20 6s", page["checkpoints"])
    assert "node-c is slow" in page["preflight"]
    assert "steps-worker-0" in page["pods"]
    assert "take no GPUs" in page["plan"]


def test_the_page_holds_no_script_and_no_secret(run: Commands) -> None:
    run(resumed_run(), "report", "steps")
    page = Page(Path("steps.html"))
    assert "script" not in page.tags
    assert "<script>alert" in page["events"]
    assert "\u00d73" in page["events"]
    assert "WANDB_API_KEY" in page["manifests"]
    for secret in ("0123456789abcdef", "hf_abcdef"):
        assert secret not in page.html
    assert not re.search(r"(?:src|href)=|https?://[^\s<]*\.(?:js|css)|@import|url\(", page.html)


def test_a_run_that_failed_has_its_diagnosis(run: Commands) -> None:
    failed = objects("failed")
    log = "2026-11-25T09:50:01Z torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
    api = ApiServer(*failed, texts={f"{PODS}/crash-worker-0/log": log})
    assert run(api, "report", "crash", "-o", "monday.html").code == 0
    page = Page(Path("monday.html"))
    assert "First failure: " in page["diagnosis"]
    assert "CUDA out of memory" in page["diagnosis"]
    assert "What to do:" in page["diagnosis"]


def test_the_plan_stands_beside_the_measurement(run: Commands, tmp_path: Path) -> None:
    values = tmp_path / "run.yaml"
    values.write_text(
        "nodes: 2\nresources: {limits: {nvidia.com/gpu: 8}}\nimage: {repository: example.com/llm, tag: v1}\n"
    )
    words = ("--values", str(values), "--model", "llama-3-8b", "--gpu", "h100-sxm", "--fabric", "8x400")
    assert run(resumed_run(), "report", "steps", *words).code == 0
    page = Page(Path("steps.html"))
    assert "time of a step" in page["plan"]
    assert (
        re.search(r"memory of a GPU [\d.]+ GB of 80 GB not in these logs", page["plan"])
        or "memory of a GPU" in page["plan"]
    )
    assert "nvidia.com/gpu: 8" in page["manifests"]


def test_a_saved_log_of_a_preflight_takes_the_place_of_the_newest_one(run: Commands, tmp_path: Path) -> None:
    log = tmp_path / "own.log"
    log.write_text((LOGS / "preflight.log").read_text().replace("node-c", "node-z"))
    run(resumed_run(), "report", "steps", "--preflight", str(log))
    assert "node-z is slow" in Page(Path("steps.html"))["preflight"]


def test_what_the_user_may_not_read_is_named(run: Commands) -> None:
    assert run(resumed_run(closed=("events", "pods/log")), "report", "steps").code == 0
    page = Page(Path("steps.html"))
    assert "left out, because the user may not read it: events, pods/log" in page[""]
    assert "no lines of the reference trainer" in page["curves"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("step",), 3, "did you mean `steps`?"),
        (("steps", "-o", "taken.html"), 2, "the file exists"),
        (("steps", "-o", "absent/page.html"), 2, "it cannot be written"),
        (("steps", "--preflight", "absent.log"), 2, "it cannot be read"),
        (("steps", "-f", "absent.yaml"), 2, "absent.yaml"),
        (("steps", "--site", "absent.yaml"), 2, "absent.yaml"),
    ],
)
def test_a_mistake_has_a_message_and_changes_nothing(
    run: Commands, tmp_path: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    (tmp_path / "taken.html").write_text("mine")
    found = run(resumed_run(), "report", *words)
    assert found.code == code
    assert message in found.err
    assert (tmp_path / "taken.html").read_text() == "mine"
    assert not (tmp_path / "steps.html").exists()


def test_a_report_is_replaced_with_force(run: Commands, tmp_path: Path) -> None:
    (tmp_path / "steps.html").write_text("old")
    assert run(resumed_run(), "report", "steps", "--force").code == 0
    assert "Training loss" in (tmp_path / "steps.html").read_text()
