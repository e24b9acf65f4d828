"""The estimates themselves: how they follow the layout, the GPU and the network."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from trainyard.commands.plan import estimate, plot
from trainyard.commands.plan.configs import model_of, shape_of_config
from trainyard.commands.plan.errors import PlanError
from trainyard.commands.plan.estimate import Conditions, Plan
from trainyard.commands.plan.fabrics import fabric_names, fabric_of
from trainyard.commands.plan.hardware import gpu_names, gpu_of, name_of_label
from trainyard.commands.plan.layout import Layout
from trainyard.commands.plan.memory import memory
from trainyard.commands.plan.shapes import shape_names, shape_of
from trainyard.commands.plan.traffic import traffic
from trainyard.facts.profiles import profile_names

CONDITIONS = Conditions(tokens=1e12, price=2.0, gpu_mtbf_hours=50_000, storage=1e10, restart=600)
LLAMA = shape_of("llama-3-8b")
BASE = Layout(64, 8, "fsdp", 8192, 1, 2)


def _plan(layout: Layout, *, gpu: str = "h100-sxm", fabric: str = "8x400", model: str = "llama-3-8b") -> Plan:
    return estimate.plan(shape_of(model), layout, gpu_of(gpu), fabric_of(fabric), CONDITIONS)


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("gpt2", 0.124), ("gpt3-175b", 174.6), ("opt-6.7b", 6.66), ("bloom-176b", 176.2), ("mpt-7b", 6.66),
        ("llama-2-7b", 6.74), ("llama-2-70b", 68.98), ("llama-3-8b", 8.03), ("llama-3-70b", 70.55),
        ("llama-3-405b", 405.85), ("mistral-7b", 7.24), ("tinyllama-1.1b", 1.10),
    ],
)  # fmt: skip
def test_a_known_model_has_the_published_number_of_parameters(name: str, billions: float) -> None:
    assert shape_of(name).parameters / 1e9 == pytest.approx(billions, rel=0.005)


def test_every_name_of_a_table_can_be_read() -> None:
    assert all(shape_of(name).parameters > 0 for name in shape_names())
    assert all(gpu_of(name).peaks and gpu_of(name).source for name in gpu_names())
    assert all(fabric_of(name).rate > 0 for name in fabric_names())


def test_every_fabric_profile_of_a_cloud_has_a_rate() -> None:
    # The network of a site of your own is known to the site alone.
    assert {name for name in profile_names() if not name.startswith("onprem")} <= {*fabric_names()}


def test_a_config_of_hugging_face_is_the_model() -> None:
    folder = Path(__file__).parent / "configs"
    gpt2 = model_of(str(folder / "gpt2.json"))
    assert gpt2.parameters == shape_of("gpt2").parameters
    assert model_of(str(folder / "llama.json")).parameters == pytest.approx(1.236e9, rel=0.001)


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ({}, "it has none of hidden_size"),
        ({"hidden_size": "big", "num_hidden_layers": 2, "num_attention_heads": 2}, "hidden_size is 'big'"),
        ({"architectures": ["BertForMaskedLM"], "hidden_size": 64}, "BertForMaskedLM is no decoder of text"),
        ({"hidden_size": 64, "num_local_experts": 8}, "mixtures of experts are not estimated"),
        (
            {"hidden_size": 64, "num_hidden_layers": 0, "num_attention_heads": 2, "vocab_size": 9},
            "num_hidden_layers is 0",
        ),
    ],
)
def test_a_config_that_is_no_dense_transformer_is_refused(tree: dict[str, object], words: str) -> None:
    with pytest.raises(PlanError, match=words):
        shape_of_config(tree, "config.json")


def test_a_label_of_a_node_names_its_gpu() -> None:
    assert name_of_label("NVIDIA-H100-80GB-HBM3-SHARED") == "h100-sxm"
    assert name_of_label("NVIDIA-GH200-480GB") is None


def test_each_stage_of_zero_takes_less_memory() -> None:
    used = [
        memory(LLAMA, BASE._replace(strategy=name, state="mixed")).total for name in ("ddp", "zero1", "zero2", "zero3")
    ]
    assert used == sorted(used, reverse=True)
    # The sum of the ZeRO paper: 16 bytes per parameter without sharding (arXiv:1910.02054, figure 1).
    whole = memory(LLAMA, BASE._replace(strategy="ddp", state="mixed"))
    assert whole.weights + whole.gradients + whole.optimizer == 16 * LLAMA.parameters


def test_sharding_sends_half_as_much_again_as_replicas() -> None:
    # Section 7 of the ZeRO paper, arXiv:1910.02054: 3 times the parameters instead of 2.
    once = BASE._replace(accumulation=1, state="mixed")
    ddp, zero3 = (traffic(LLAMA, once._replace(strategy=name)).fabric for name in ("ddp", "zero3"))
    assert zero3 == pytest.approx(1.5 * ddp)


def test_gradients_of_a_model_of_70_billion_parameters() -> None:
    shape, layout = shape_of("llama-3-70b"), Layout(1024, 1, "ddp", 4096, 1, 1, state="mixed")
    assert traffic(shape, layout).fabric == pytest.approx(280e9, rel=0.02)


def test_a_slow_network_bounds_the_run() -> None:
    fast, slow = _plan(BASE), _plan(BASE, fabric="ethernet-25g")
    assert (fast.timing.bound, slow.timing.bound) == ("compute", "network")
    assert slow.step.expected > 5 * fast.step.expected
    assert slow.scaling < 0.2 < 0.9 < fast.scaling <= 1


def test_one_node_sends_nothing_between_nodes() -> None:
    plan = _plan(BASE._replace(gpus=8))
    assert plan.traffic.fabric == 0
    assert plan.scaling == 1


def test_tensor_parallelism_splits_memory_and_uses_the_link_of_the_node() -> None:
    whole, split = (_plan(BASE._replace(strategy="zero1", tensor=count)) for count in (1, 8))
    assert split.memory.activations == pytest.approx(whole.memory.activations / 8)
    assert split.traffic.tensor.node > 0 == split.traffic.tensor.fabric
    assert _plan(BASE._replace(tensor=16)).traffic.tensor.fabric > 0


def test_more_micro_batches_shrink_the_bubble_of_a_pipeline() -> None:
    few, many = (_plan(BASE._replace(strategy="zero1", pipeline=8, accumulation=count)) for count in (8, 64))
    assert few.timing.bubble / few.step.expected > 3 * many.timing.bubble / many.step.expected


def test_offload_moves_the_state_to_the_host() -> None:
    kept, moved = (memory(LLAMA, BASE._replace(offload=there)) for there in (False, True))
    assert moved.host == kept.optimizer
    assert moved.total == pytest.approx(kept.total - kept.optimizer)


def test_recomputation_takes_less_memory_and_more_time() -> None:
    kept, again = (_plan(BASE._replace(recompute=name)) for name in ("none", "full"))
    assert again.memory.total < kept.memory.total
    assert 1.2 < again.step.expected / kept.step.expected < 1.4


def test_the_cost_is_that_of_all_gpus_for_all_days() -> None:
    plan = _plan(BASE)
    assert plan.cost is not None
    assert plan.cost.expected == pytest.approx(plan.days.expected * 24 * 64 * 2)
    assert plan.days.best < plan.days.expected < plan.days.worst


def test_strategies_are_compared_with_recomputation_where_they_do_not_fit() -> None:
    found = list(estimate.alternatives(_plan(BASE._replace(micro_batch=2))))
    assert {plan.layout.strategy for plan in found} == {"ddp", "zero1", "zero2", "zero3", "fsdp", "hsdp"}
    assert any(plan.fits for plan in found)
    assert all(plan.layout.recompute == "full" or plan.fits for plan in found[1::2] if plan.layout.strategy == "ddp")


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        (BASE._replace(tensor=3), "cannot be divided by --tensor 3"),
        (BASE._replace(gpus=96, tensor=3), "32 attention heads"),
        (BASE._replace(pipeline=8, virtual=8), "has 32 layers, fewer than"),
        (BASE._replace(strategy="hsdp", shard=24), "into shards of 24"),
    ],
)
def test_an_impossible_layout_is_refused(layout: Layout, words: str) -> None:
    with pytest.raises(PlanError, match=words):
        _plan(layout)


def test_a_type_that_the_gpu_lacks_is_refused() -> None:
    with pytest.raises(PlanError, match="a100-sxm-80gb has no fp8"):
        _plan(BASE._replace(dtype="fp8"), gpu="a100-sxm-80gb")


def test_two_nodes_on_a_slow_network_are_no_faster_than_one() -> None:
    # The picture of docs/plan.md shows it.
    slow = _plan(Layout(64, 8, "fsdp", 8192, 1, 8), fabric="ethernet-100g")
    one, two, *_, most = estimate.on_nodes(slow)
    assert one.timing.bound == "compute"
    assert two.timing.bound == "network"
    assert two.days.expected > one.days.expected > 2 * most.days.expected


def test_the_picture_shows_more_nodes_with_fewer_days() -> None:
    plans = list(estimate.on_nodes(_plan(BASE)))
    assert [plan.layout.nodes for plan in plans] == [1, 2, 4, 8, 16]
    assert {plan.layout.global_batch for plan in plans} == {128}
    assert plans[-1].days.expected < plans[0].days.expected
    root = ElementTree.fromstring(plot.picture(plans))  # noqa: S314
    shown = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"1", "2", "4", "8", "16", "nodes"} <= {*shown}


def test_the_tree_of_a_config_may_hold_anything(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    for text in ("[1]", "{", json.dumps({"vocab_size": -1})):
        path.write_text(text)
        with pytest.raises(PlanError, match="--model"):
            model_of(str(tmp_path))
