"""A bundle has all that a cluster says about a run, no secret, and gives the same diagnosis as the cluster."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.validator.support.objects import JOBS, PLACE, TOKEN, Answers, failed_run, pod
from trainyard.cli import main
from trainyard.commands.audit.cluster import ClusterError
from trainyard.commands.doctor.diagnosis import diagnose
from trainyard.commands.support import collecting, files


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A bundle of the failed run."""
    path = tmp_path / "llm.tar.gz"
    files.write(collecting.collect(Answers(failed_run()), "llm", "demo"), path)
    return path


def _texts(bundle: Path) -> dict[str, str]:
    with tarfile.open(bundle) as archive:
        opened = {member.name: archive.extractfile(member) for member in archive}
        return {name: member.read().decode() for name, member in opened.items() if member is not None}


def test_a_bundle_has_objects_events_nodes_and_logs_of_both_attempts(bundle: Path) -> None:
    texts = _texts(bundle)
    assert texts.keys() == {
        *("bundle.json", "pods.txt", "nodes.txt", "events.txt"),
        *("logs/llm-worker-0/pytorch.log", "logs/llm-worker-0/pytorch.previous.log"),
        *("objects/pytorchjob.llm.json", "objects/persistentvolumeclaim.llm-checkpoints.json"),
        "objects/pod.llm-worker-0.json",
    }
    assert "MemoryPressure=True" in texts["nodes.txt"]
    assert "Back-off" in texts["events.txt"]
    assert "not of this run" not in texts["events.txt"]


def test_a_bundle_has_no_value_of_a_secret_like_variable_and_reads_no_secrets(bundle: Path) -> None:
    assert not any(TOKEN in text for text in _texts(bundle).values())
    cluster = Answers(failed_run())
    collecting.collect(cluster, "llm", "demo")
    assert not any("secrets" in path or "configmaps" in path for path in cluster.paths)


def test_a_bundle_gives_the_diagnosis_of_the_run(bundle: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main.main(["doctor", str(bundle)]) == 1
    out = capfd.readouterr().out
    assert "first failure: pod llm-worker-0 (llm.tar.gz/pods.txt:6)" in out
    assert "llm.tar.gz/pods.txt:6: the host or the memory limit killed a process (host-out-of-memory)" in out


def test_a_bundle_and_other_logs_are_diagnosed_together(bundle: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (bundle.parent / "dmesg.txt").write_text("NVRM: Xid (PCI:0000:a1:00): 79, GPU has fallen off the bus.\n")
    assert main.main(["doctor", str(bundle), str(bundle.parent / "dmesg.txt"), "--format", "json"]) == 1
    causes = {cause["cause"] for cause in json.loads(capfd.readouterr().out)["causes"]}
    assert causes == {"host-out-of-memory", "xid-off-bus"}


def test_bundles_of_one_name_in_two_folders_are_diagnosed_together(
    bundle: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    other = bundle.parent / "other" / bundle.name
    (other.parent / "logs").mkdir(parents=True)
    (other.parent / "logs" / "dmesg.txt").write_text("NVRM: Xid (PCI:0000:a1:00): 79, GPU has fallen off the bus.\n")
    with tarfile.open(other, "w:gz") as archive:
        archive.add(other.parent / "logs", "logs")
    assert main.main(["doctor", str(bundle), str(other)]) == 1
    out = capfd.readouterr().out
    assert "llm.tar.gz/pods.txt:6: the host" in out
    assert "llm.tar.gz (2)/logs/dmesg.txt:1" in out


@pytest.mark.parametrize(
    ("about", "message", "cause"),
    [
        (("PyTorchJob", "llm"), 'pods "llm-master-0" is forbidden: exceeded quota: gpus', "quota-exceeded"),
        (("Workload", "pytorchjob-llm-1a2b3"), "couldn't assign flavors to pod set master", "kueue-waiting"),
    ],
)
def test_a_run_without_pods_is_found_by_its_kind_and_its_events_are_read(
    tmp_path: Path, about: tuple[str, str], message: str, cause: str
) -> None:
    event = {"involvedObject": dict(zip(("kind", "name"), about, strict=True)), "message": message}
    other = {
        "involvedObject": {"kind": "Workload", "name": "pytorchjob-other-1a2b3"},
        "message": "exceeded quota: gpus",
    }
    job = {"metadata": {"name": "llm", "namespace": "demo"}}
    answers = {JOBS: {"items": [job]}, f"{PLACE}/pods": {"items": []}, f"{PLACE}/events": {"items": [event, other]}}
    run = collecting.collect(Answers(answers), "llm", "demo")
    assert [tree["kind"] for tree in run.objects] == ["PyTorchJob"]
    files.lay_out(run, tmp_path)
    assert [evidence.cause.name for evidence in diagnose([str(tmp_path)]).causes] == [cause]


def test_what_the_user_may_not_read_is_noted_and_the_rest_is_collected() -> None:
    answers = {**failed_run(), f"{PLACE}/events": 403, f"{PLACE}/pods/llm-worker-0/log": 403, "/api/v1/nodes/n1": 403}
    run = collecting.collect(Answers(answers), "llm", "demo")
    assert [one["metadata"]["name"] for one in run.pods] == ["llm-worker-0"]
    assert [note.split(":")[1].strip() for note in run.notes] == ["events", "n1", "logs"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent", "there is no run `absent` in namespace demo"),
        ("ll", "did you mean `llm`"),
        ("../secrets/token", "is no kind of runs"),
        ("..", "is not the name of a run"),
    ],
)
def test_a_wrong_name_is_an_error(name: str, message: str) -> None:
    with pytest.raises(ClusterError, match=message):
        collecting.collect(Answers(failed_run()), name, "demo")


def test_a_run_is_named_by_its_kind_as_for_status() -> None:
    run = collecting.collect(Answers(failed_run()), "pytorchjob/llm", "demo")
    assert (run.name, [one["metadata"]["name"] for one in run.pods]) == ("llm", ["llm-worker-0"])


def test_without_its_object_pods_are_found_by_the_label_of_their_job_their_owner_and_their_own_name() -> None:
    labelled: dict[str, Any] = {"metadata": {"name": "a", "labels": {"jobset.sigs.k8s.io/jobset-name": "llm"}}}
    listed = {"items": [labelled, pod("b"), {"metadata": {"name": "llm"}}, {"metadata": {"name": "llm2"}}]}
    run = collecting.collect(Answers({f"{PLACE}/pods": listed}), "llm", "demo")
    assert [one["metadata"]["name"] for one in run.pods] == ["a", "b", "llm"]


@pytest.mark.parametrize(
    "member", ["logs/../../outside.log", "/logs/outside.log", "logs/link.log"], ids=["parent", "absolute", "link"]
)
def test_a_bundle_writes_nothing_outside_of_its_folder(member: str, tmp_path: Path) -> None:
    path, folder = tmp_path / "bad.tar.gz", tmp_path / "deep" / "folder"
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo(member)
        if "link" in member:
            info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(info)
        else:
            info.size = 4
            archive.addfile(info, io.BytesIO(b"text"))
    folder.mkdir(parents=True)
    try:
        files.unpack(path, folder)
    except files.BundleError as error:
        assert "cannot be read" in str(error)  # noqa: PT017 (either is right)
    assert sorted(one for one in tmp_path.rglob("*") if one.is_file()) == [path]


def test_a_bundle_that_unpacks_to_too_much_is_refused(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_MOST_BYTES", 100)
    with pytest.raises(files.BundleError, match="larger than"):
        files.unpack(bundle, tmp_path)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("broken.tar.gz",), "broken.tar.gz: the bundle cannot be read"),
        (("logs.tar.gz",), "Error: logs.tar.gz: no bundle of --collect; unpack it, and name the folder of its logs"),
        (("--collect", "llm", "logs"), "--collect takes neither logs nor --run"),
        (("-o", "llm.tar.gz", "logs"), "-o is the file of --collect"),
        (("--run", "llm", "--kubeconfig", "absent"), "there is no kubeconfig absent"),
    ],
)
def test_a_mistake_ends_with_2_and_one_message(
    words: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.tar.gz").write_bytes(b"\x1f\x8bnothing")
    Path("rank0.log").write_text("a log\n")
    with tarfile.open("logs.tar.gz", "w:gz") as archive:
        archive.add("rank0.log")
    assert main.main(["doctor", *words]) == 2
    out, err = capfd.readouterr()
    assert message in err
    assert "Traceback" not in out + err
