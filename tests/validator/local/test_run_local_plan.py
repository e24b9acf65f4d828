"""The plan of a local run: a pure function of the values, so these tests need no process and no folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from trainyard.commands.local import differences, job, plan, view
from trainyard.commands.local.errors import RunRefusedError
from trainyard.commands.local.image import Image
from trainyard.commands.local.machine import Machine
from trainyard.commands.local.node import Node

CI = Path("charts/training-job/ci")
HERE = Path("/runs/digits")
TORCHRUN = ("python", "-m", "torch.distributed.run")
GPUS = ("0", "1", "2", "3")
EIGHT = "resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 8}}"


def machine(*gpus: str, **environment: str) -> Machine:
    """Return a machine with these accelerators and variables."""
    return Machine("python", 29500, gpus, "lo", environment, processors=8)


def with_memory(gib: float) -> Machine:
    """Return a machine with so much free memory."""
    return machine()._replace(memory=int(gib * 2**30))


def wanted(text: str, **chosen: Any) -> job.Job:
    """Return the job of values, with these arguments of the program unless the values have others."""
    own = yaml.safe_load(text)
    train = {"args": ["--seed", 1, "--out", "/checkpoints"], **own.get("train", {})}
    return job.job_of({**own, "train": train}, "digits", **chosen)


def planned(text: str, here: Machine | None = None, **chosen: Any) -> plan.Plan:
    """Return the plan for values."""
    return plan.make_plan(wanted(text, **chosen), here or machine(), HERE)


def nodes(text: str, here: Machine | None = None, **chosen: Any) -> tuple[Node, ...]:
    """Return the nodes of a plan."""
    return planned(text, here, **chosen).nodes


def said(text: str, here: Machine | None = None, **chosen: Any) -> str:
    """Return the notes that are printed before a run starts."""
    found, here = wanted(text, **chosen), here or machine()
    return "\n".join(differences.cluster_differences(found, here, plan.make_plan(found, here, HERE)))


def test_each_node_is_a_torchrun_with_a_local_rendezvous() -> None:
    first, second = nodes("{nodes: 2, processesPerNode: 3}")
    assert (first.name, second.name) == ("node-0", "node-1")
    assert first.argv == second.argv
    assert first.argv == (
        *(*TORCHRUN, "--nnodes=2", "--nproc-per-node=3", "--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:29500"),
        *("--rdzv-id=digits", "--local-addr=127.0.0.1"),
        *("-m", "trainer", "--seed", "1", "--out", "/runs/digits/checkpoints"),
    )


def test_a_trainjob_and_a_worker_only_run_have_the_plan_of_a_pytorchjob() -> None:
    assert nodes("kind: TrainJob") == nodes("{}")
    workers = nodes("layout: worker-only")
    # Each round of Workers alone has a store of its own.
    stores = [node.environment.pop("TORCH_DISABLE_SHARE_RDZV_TCP_STORE") for node in workers]
    assert (workers, set(stores)) == (nodes("{}"), {"1"})


def test_options_for_nodes_and_processes_override_the_values() -> None:
    (node,) = nodes("{nodes: 4, processesPerNode: 8}", nodes=1, processes=2)
    assert {"--nnodes=1", "--nproc-per-node=2"} < set(node.argv)


@pytest.mark.parametrize("processes", ["auto", "gpu", "cpu"])
def test_torchrun_counts_the_devices_if_the_values_request_it(processes: str) -> None:
    assert f"--nproc-per-node={processes}" in nodes(f"processesPerNode: {processes}", machine(*GPUS))[0].argv


def test_an_elastic_run_has_its_minimum_of_nodes_unless_an_option_says_otherwise() -> None:
    text = "{nodes: 4, elastic: {enabled: true, minNodes: 2, maxRestarts: 5}}"
    assert len(nodes(text)) == 2
    assert len(nodes(text, nodes=3)) == 3
    assert {"--nnodes=2", "--max-restarts=5"} < set(nodes(text)[0].argv)


def test_torchrun_s_arguments_are_kept_except_rendezvous_options() -> None:
    text = """
    torchrun:
      args: [--tee=3, --standalone, --rdzv_endpoint, other:1, --node-rank=0, --log-dir, /checkpoints/logs]
    """
    assert nodes(text)[0].argv[3:6] == ("--tee=3", "--log-dir", "/runs/digits/checkpoints/logs")
    assert "--nnodes=2" in nodes(text)[0].argv[6:]


def test_arguments_are_passed_unchanged() -> None:
    (node, _) = nodes("train: {script: train.py, args: ['costs $(nproc) & 5$', --rate, 0.0003, true]}")
    assert node.argv[-5:] == ("train.py", "costs $(nproc) & 5$", "--rate", "0.0003", "true")


def test_shared_volumes_are_one_folder_and_other_volumes_one_folder_per_node() -> None:
    text = """
    volumes:
      team: {claim: team-data, mountPath: /data}
      own: {emptyDir: {}, mountPath: /cache}
    scratch: {enabled: true, source: ephemeral}
    """
    first, second = nodes(text)
    assert set(first.folders) & set(second.folders) == {HERE / "checkpoints", HERE / "data"}
    assert set(second.folders) - set(first.folders) == {HERE / "node-1/cache", HERE / "node-1/scratch"}


def test_tmp_and_shared_memory_are_those_of_the_machine() -> None:
    own = {"TORCHINDUCTOR_CACHE_DIR": "/tmp/inductor", "BUFFER": "/dev/shm/x"}  # noqa: S108
    (node, _) = nodes(yaml.safe_dump({"env": own}))
    assert own.items() <= node.environment.items()
    assert node.folders == (HERE / "checkpoints",)


def test_variables_keep_their_values_with_local_paths() -> None:
    text = """
    env: {LOG: debug, CACHE: /checkpoints/cache, PYTHONPATH: "/checkpoints/a:/opt/b", PRICE: "$5 $(X)"}
    """
    assert nodes(text)[0].environment == {
        "LOG": "debug",
        "CACHE": "/runs/digits/checkpoints/cache",
        "PYTHONPATH": "/runs/digits/checkpoints/a:/opt/b",
        "PRICE": "$5 $(X)",
        "OMP_NUM_THREADS": "1",
        "GLOO_SOCKET_IFNAME": "lo",
        "PYTHONUNBUFFERED": "1",
    }


def test_home_is_the_user_s_unless_the_values_set_it() -> None:
    assert "HOME" not in nodes("{}")[0].environment
    assert nodes("env: {HOME: /checkpoints/home}")[0].environment["HOME"] == "/runs/digits/checkpoints/home"


def test_the_number_of_threads_is_that_of_the_values_or_one() -> None:
    assert nodes("env: {OMP_NUM_THREADS: 4}")[0].environment["OMP_NUM_THREADS"] == "4"
    assert nodes("env: {OMP_NUM_THREADS: null}")[0].environment["OMP_NUM_THREADS"] == "1"


def test_an_interface_set_in_the_environment_is_kept() -> None:
    assert "GLOO_SOCKET_IFNAME" not in nodes("{}", machine(GLOO_SOCKET_IFNAME="eth1"))[0].environment


def test_network_settings_of_the_cluster_are_left_out_with_a_note() -> None:
    text = """
    nccl: {NCCL_DEBUG: WARN, NCCL_IB_HCA: mlx5, NCCL_SOCKET_IFNAME: eth0}
    env: {GLOO_SOCKET_IFNAME: eth0, LOG: x}
    """
    assert nodes(text)[0].environment.keys() >= {"NCCL_DEBUG", "LOG"}
    assert nodes(text)[0].environment["GLOO_SOCKET_IFNAME"] == "lo"
    expected = (
        "left out, because only the cluster has that network: GLOO_SOCKET_IFNAME, NCCL_IB_HCA, NCCL_SOCKET_IFNAME"
    )
    assert said(text) == expected


@pytest.mark.parametrize("profile", ["eks-efa", "gke-tcpxo", "onprem-roce"])
def test_the_fabric_profile_has_no_effect(profile: str) -> None:
    text = (CI / f"fabric-{profile}-values.yaml").read_text()
    without = yaml.safe_dump({key: value for key, value in yaml.safe_load(text).items() if key != "fabric"})
    assert nodes(text) == nodes(without)


def test_variables_from_secrets_are_requested_by_name_unless_they_are_exported() -> None:
    text = """
    envSecrets: {HUB_LOGIN: {secret: hugging-face, key: token}}
    envFrom: {secrets: [keys], configMaps: [defaults]}
    """
    advice = "HUB_LOGIN is key token of Secret hugging-face on the cluster: export HUB_LOGIN if the program needs it"
    assert advice in said(text)
    assert "Secret keys sets variables" in said(text)
    assert "ConfigMap defaults sets variables" in said(text)
    assert advice not in said(text, machine(HUB_LOGIN="x"))


def test_files_of_the_release_have_the_folders_of_their_node() -> None:
    text = """
    launcher: deepspeed
    deepspeed: {zeroStage: 3, offload: {params: nvme}, config: {tensorboard: {output_path: /checkpoints/tb}}}
    """
    for node in nodes(text):
        path = HERE / node.name / "etc/trainyard/deepspeed.json"
        assert node.argv[-2:] == ("--deepspeed_config", str(path))
        config = json.loads(node.files[path])
        assert config["zero_optimization"]["offload_param"]["nvme_path"] == f"/runs/digits/{node.name}/scratch"
        assert config["tensorboard"]["output_path"] == "/runs/digits/checkpoints/tb"
        assert path.parent in node.folders


def test_the_batch_size_of_deepspeed_is_that_of_the_local_world_size() -> None:
    text = "{launcher: deepspeed, processesPerNode: 4, deepspeed: {microBatchPerGpu: 3}}"
    (node,) = nodes(text, nodes=1, processes=2)
    (config,) = map(json.loads, node.files.values())
    assert config["train_batch_size"] == 6


def test_options_of_the_reference_trainer_have_local_paths() -> None:
    (node, _) = nodes("train: {config: {checkpoint_dir: /checkpoints/a}}")
    path = HERE / "node-0/etc/trainyard/trainer.json"
    assert node.argv[-6:-4] == ("--config", str(path))
    assert json.loads(node.files[path]) == {"checkpoint_dir": "/runs/digits/checkpoints/a"}


def test_accelerate_gets_the_rendezvous_address_and_the_machine_rank() -> None:
    text = "{launcher: accelerate, processesPerNode: 2, accelerate: {args: [--tee=3]}, train: {script: train.py}}"
    second = nodes(text)[1]
    assert second.argv[:8] == (
        *("python", "-m", "accelerate.commands.launch"),
        "--config_file=/runs/digits/node-1/etc/trainyard/accelerate.json",
        *("--main_process_ip=127.0.0.1", "--main_process_port=29500", "--machine_rank=1", "--tee=3"),
    )
    assert json.loads(next(iter(second.files.values())))["num_processes"] == 4
    assert second.environment["ACCELERATE_USE_CPU"] == "true"
    assert not {"MASTER_ADDR", "RANK", "WORLD_SIZE"} & second.environment.keys()


def test_a_plain_command_gets_the_operator_s_variables() -> None:
    text = "{launcher: command, nodes: 3, train: {command: [python3, -u], module: '', script: train.py}}"
    last = nodes(text)[2]
    assert last.argv == ("python", "-u", "train.py", "--seed", "1", "--out", "/runs/digits/checkpoints")
    launch = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500", "RANK": "2", "WORLD_SIZE": "3"}
    assert launch.items() <= last.environment.items()


def test_the_required_modules_scripts_and_programs_are_named() -> None:
    assert planned("{}").modules == ("torch", "trainer")
    assert planned("{launcher: deepspeed, train: {module: a.b}}").modules == ("torch", "deepspeed", "a")
    script = planned("{launcher: accelerate, train: {script: /checkpoints/train.py}}")
    assert (script.modules, script.script) == (("torch", "accelerate"), "/runs/digits/checkpoints/train.py")
    program = planned("{launcher: command, train: {command: [/opt/train]}}")
    assert (program.modules, program.script, program.program) == ((), None, "/opt/train")


def test_a_data_set_is_in_the_folder_of_its_volume_shared_by_all_nodes() -> None:
    text = """
    scratch: {enabled: true}
    dataset: {source: http, volume: scratch, path: a/b, http: {urls: [https://x.org/1, https://x.org/2]}}
    """
    found = planned(text)
    assert found.data == plan.Contents(HERE / "scratch/a/b", "/scratch/a/b", "https://x.org/1 and 1 more")
    assert found.nodes[0].folders == found.nodes[1].folders


def test_volumes_with_existing_data_on_the_cluster_are_named() -> None:
    text = """
    checkpoints: {existingClaim: old}
    volumes:
      data: {nfs: {server: files, path: /exports}, mountPath: /data, readOnly: true}
      new: {create: {size: 1Gi}, mountPath: /new}
    """
    found = [(one.path, one.what) for one in planned(text).contents]
    assert found == [("/checkpoints", "claim old"), ("/data", "files:/exports")]
    assert (
        "/data is files:/exports on the cluster: put the files that the program needs into /runs/digits/data"
        in said(text)
    )


def test_each_node_has_its_own_gpus() -> None:
    found = nodes(f"{EIGHT}\nprocessesPerNode: 2", machine(*GPUS))
    assert [node.environment["CUDA_VISIBLE_DEVICES"] for node in found] == ["0,1", "2,3"]


def test_gpus_that_are_already_selected_are_distributed() -> None:
    found = nodes(f"{EIGHT}\nprocessesPerNode: gpu", machine("GPU-a", "GPU-c"))
    assert [node.environment["CUDA_VISIBLE_DEVICES"] for node in found] == ["GPU-a", "GPU-c"]


def test_a_run_without_gpus_sees_none() -> None:
    assert nodes("{}", machine(*GPUS))[0].environment["CUDA_VISIBLE_DEVICES"] == ""
    assert "CUDA_VISIBLE_DEVICES" not in nodes("{}")[0].environment


def test_a_gpu_run_without_local_gpus_runs_on_cpu_with_a_note() -> None:
    text = f"{EIGHT}\nprocessesPerNode: 8"
    assert "--nproc-per-node=8" in nodes(text)[0].argv
    assert "this machine has no GPU: 2 x 8 processes run on CPU, by gloo" in said(text)


def test_more_processes_than_processors_are_started_with_a_note() -> None:
    assert "9 processes share 8 processors; --nodes and --processes-per-node" in said("{nodes: 3, processesPerNode: 3}")
    assert "processors" not in said("{nodes: 2, processesPerNode: 4}")
    assert "2 processes share 1 processor;" in said("{}", machine()._replace(processors=1))


@pytest.mark.parametrize(
    ("text", "gib", "remedy"),
    [
        ("{nodes: 2, processesPerNode: 32}", 16.0, "2 x 31 fit, add --processes-per-node 31"),
        ("{nodes: 8, processesPerNode: 8}", 2.0, "4 x 1 fit, add --nodes 4 --processes-per-node 1"),
        ("{processesPerNode: cpu}", 2.0, "2 x 3 fit, add --processes-per-node 3"),
        ("{}", 0.1, "end other programs first"),
    ],
)
def test_a_run_that_does_not_fit_into_memory_is_refused_with_what_fits(text: str, gib: float, remedy: str) -> None:
    with pytest.raises(RunRefusedError, match=remedy) as refused:
        nodes(text, with_memory(gib))
    assert f"and {gib} GiB are free" in str(refused.value)


def test_a_run_that_fits_into_memory_is_planned() -> None:
    assert len(nodes("{nodes: 2, processesPerNode: 31}", with_memory(16))) == 2
    assert len(nodes("{nodes: 2, launcher: command, train: {command: [train]}}", with_memory(0.1))) == 2


def test_one_rank_is_shown_and_the_ranks_of_all_nodes_have_log_files() -> None:
    found = wanted("{nodes: 2, processesPerNode: 4}")
    shown = plan.make_plan(found, machine(), HERE, view.one_rank(found, 6, HERE)).nodes
    assert [node.is_shown for node in shown] == [False, True]
    assert {"--log-dir=/runs/digits/logs/node-0", "--redirects=3"} < set(shown[0].argv)
    assert "--tee=2:3" in shown[1].argv
    assert not [word for word in shown[0].argv if word.startswith("--tee")]


@pytest.mark.parametrize(
    ("text", "rank", "reason"),
    [
        ("{nodes: 2, processesPerNode: 4}", 8, "the ranks of this run are 0 to 7"),
        ("{processesPerNode: cpu}", 0, "add --processes-per-node"),
        ("{launcher: accelerate, processesPerNode: 2}", 1, "add --processes-per-node 1"),
    ],
)
def test_a_rank_that_cannot_be_shown_alone_is_refused(text: str, rank: int, reason: str) -> None:
    with pytest.raises(RunRefusedError, match=reason):
        view.one_rank(wanted(text), rank, HERE)


def test_a_debugged_program_has_no_torchrun_and_the_variables_of_the_only_rank() -> None:
    found = wanted("{nodes: 4, processesPerNode: 8}", nodes=1, processes=1)
    (node,) = plan.make_plan(found, machine(), HERE, view.View(is_debugger=True)).nodes
    assert node.argv == ("python", "-m", "trainer", "--seed", "1", "--out", "/runs/digits/checkpoints")
    assert {
        "RANK": "0",
        "LOCAL_RANK": "0",
        "WORLD_SIZE": "1",
        "MASTER_PORT": "29500",
    }.items() <= node.environment.items()


@pytest.mark.parametrize(
    ("text", "here", "reason"),
    [
        (f"{EIGHT}\nprocessesPerNode: 8", machine(*GPUS), "add --nodes 1 --processes-per-node 4"),
        (f"{EIGHT}\nprocessesPerNode: gpu", machine(), "add --processes-per-node 1"),
        ("{kind: MPIJob, train: {command: [train]}}", machine(), "PyTorchJob or TrainJob"),
        ("{env: {RANK: 1}}", machine(), "the training operator sets it"),
        ("{nodes: 99999999999999}", machine(), "99999999999999 nodes .* add --nodes 2"),
        (
            "{nodes: 2, processesPerNode: 99999999999999}",
            machine(),
            "99999999999999 processes .* --processes-per-node 1",
        ),
    ],
    ids=["too few GPUs", "no GPU to count", "another kind", "refused by the chart", "many nodes", "many processes"],
)
def test_a_run_that_cannot_start_here_is_refused_with_the_remedy(text: str, here: Machine, reason: str) -> None:
    with pytest.raises(RunRefusedError, match=reason):
        nodes(text, here)


def test_a_node_in_an_image_has_the_paths_of_a_pod_and_the_folders_as_volumes() -> None:
    found = wanted(
        f"{EIGHT}\nenv: {{CACHE: /scratch/a}}\nscratch: {{enabled: true}}\nenvSecrets: {{KEY: {{name: s, key: k}}}}",
        processes=2,
    )
    here, image = machine(*GPUS, KEY="exported", GLOO_SOCKET_IFNAME="eth9"), Image("podman", "trainer:1")

    made = plan.make_plan(found, here, HERE, image=image)

    first = made.nodes[0]
    options, program = first.argv[: first.argv.index("trainer:1")], first.argv[first.argv.index("trainer:1") :]
    assert program[:3] == ("trainer:1", "-m", "torch.distributed.run")
    assert program[-6:] == ("-m", "trainer", "--seed", "1", "--out", "/checkpoints")
    assert options[:2] == ("podman", "run")
    assert {
        *("--pull=never", "--network=host", "--entrypoint=python3", f"--name={first.container}"),
        *("--device=nvidia.com/gpu=all", "--env=CUDA_VISIBLE_DEVICES=0,1", "--env=GLOO_SOCKET_IFNAME=lo"),
        *("--env=CACHE=/scratch/a", "--env=KEY", "--env=HOME=/tmp"),
        *("--volume=/runs/digits/checkpoints:/checkpoints", "--volume=/runs/digits/node-0/scratch:/scratch"),
    } < set(options)
    assert first.environment == {}
    assert (made.modules, made.script, made.program) == ((), None, None)
    assert len({node.container for node in made.nodes}) == 2


@pytest.mark.parametrize(("text", "gpus"), [(EIGHT, GPUS), (EIGHT, ()), ("{}", GPUS)], ids=["both", "run", "machine"])
def test_docker_gets_gpus_if_the_run_requests_and_the_machine_has_them(text: str, gpus: tuple[str, ...]) -> None:
    (node, *_) = plan.make_plan(
        wanted(text, processes=2), machine(*gpus), HERE, image=Image("docker", "trainer:1")
    ).nodes
    assert ("--gpus=all" in node.argv) == (text == EIGHT and bool(gpus))


def test_files_of_the_release_keep_the_paths_of_a_pod_in_an_image() -> None:
    found = wanted("train: {args: [], config: {checkpoint_dir: /checkpoints}}")
    (node, *_) = plan.make_plan(found, machine(), HERE, image=Image("docker", "trainer:1")).nodes
    ((path, text),) = node.files.items()
    assert f"--volume={path.parent}:/etc/trainyard" in node.argv
    assert json.loads(text)["checkpoint_dir"] == "/checkpoints"


def test_every_node_serves_metrics_on_its_own_port() -> None:
    text = """
    metrics: {enabled: true, port: 9000}
    train: {args: [--serve-port, 9000, --port=9000, --seed, 9000], config: {metrics_port: 9000, steps: 9000}}
    """
    first, second = nodes(text)
    assert first.argv[-5:] == ("--serve-port", "9000", "--port=9000", "--seed", "9000")
    assert second.argv[-5:] == ("--serve-port", "9001", "--port=9001", "--seed", "9000")
    assert json.loads(next(iter(second.files.values()))) == {"metrics_port": 9001, "steps": 9000}
    assert "their metrics are on 9000 to 9001" in said(text)


@pytest.mark.parametrize("path", sorted(CI.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_pytorch_scenario_of_the_chart_has_a_plan(path: Path) -> None:
    text = path.read_text()
    if yaml.safe_load(text).get("kind", "PyTorchJob") in job.KINDS:
        found = planned(text)
        assert found.nodes
        assert str(HERE / "checkpoints") not in {node.name for node in found.nodes}
        for node in found.nodes:
            for words in (node.argv, node.environment.values()):
                assert not [word for word in words if word.startswith(("/etc/trainyard", "$("))]


def test_the_grace_period_is_that_of_the_pods() -> None:
    assert planned("{}").grace_seconds == 60
    assert planned("{terminationGracePeriodSeconds: null, saveSeconds: 100}").grace_seconds == 130
    assert planned("terminationGracePeriodSeconds: null").grace_seconds == 30
