"""A misspelt field or a value of another type gets the same verdict as from kubeconform with the same schemas."""

from __future__ import annotations

import functools
import json
import subprocess
from pathlib import Path

import pytest

from tests.harness.cluster import tools
from tests.validator.loaders.schemas import mutations
from tests.validator.loaders.schemas.mutations import Mutant
from tools.generate import crd_schemas, kubernetes_schemas
from trainyard.document.document import Document
from trainyard.document.source import Source
from trainyard.loaders.manifests.manifest import load_project
from trainyard.model.run import Misfit

ROOT = Path(__file__).parents[4]
OBJECTS = mutations.objects()
MUTANTS = [mutant for tree in OBJECTS for mutant in mutations.mutants(tree)]
# The value of a variable has a rule of its own.
LEFT_TO_A_RULE = ("env", "value")


@functools.cache
def found_in(number: int) -> tuple[Misfit, ...]:
    """Return what the schema refuses of a mutant."""
    return misfits(MUTANTS[number].tree)


def misfits(tree: mutations.Object) -> tuple[Misfit, ...]:
    """Return what the schema of an object's kind refuses."""
    return load_project([Document(Source("objects.yaml", ""), 0, tree, ())]).misfits


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """The numbers of the mutants that kubeconform refuses, with its words."""
    folder = tmp_path_factory.mktemp("mutants")
    for number, mutant in enumerate(MUTANTS):
        (folder / f"{number}.json").write_text(json.dumps(mutant.tree))
    locations = [
        f"-schema-location={ROOT / crd_schemas.FOLDER / crd_schemas.FILE_TEMPLATE}",
        f"-schema-location={kubernetes_schemas.folder() / kubernetes_schemas.FILE_TEMPLATE}",
    ]
    command = [str(tools.binary("kubeconform")), "-strict", "-output=json", *locations, str(folder)]
    answer = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    assert {one["status"] for one in answer["resources"]} <= {"statusInvalid"}
    return {int(Path(one["filename"]).stem): one["msg"] for one in answer["resources"]}


@pytest.mark.parametrize("tree", OBJECTS, ids=lambda tree: tree["kind"])
def test_a_right_object_fits(tree: mutations.Object) -> None:
    assert misfits(tree) == ()


def test_each_mutant_gets_the_verdict_of_kubeconform(refused: dict[int, str]) -> None:
    assert len(MUTANTS) > 1_000
    assert len(refused) > 900
    different = [
        (mutant.how, mutant.at, [misfit.message for misfit in found], refused.get(number))
        for number, mutant in enumerate(MUTANTS)
        if bool(found := found_in(number)) != (number in refused) and not is_for_a_rule(mutant)
    ]
    assert different == []


def test_the_place_of_the_change_is_named() -> None:
    found = [(mutant, found_in(number)) for number, mutant in enumerate(MUTANTS) if not is_for_a_rule(mutant)]
    missed = [mutant.at for mutant, all_ in found if all_ and not any(is_at(mutant, misfit) for misfit in all_)]
    assert missed == []


def test_a_misspelt_field_is_suggested() -> None:
    found = [(mutant, found_in(number)) for number, mutant in enumerate(MUTANTS) if mutant.how == "misspelt"]
    unknown = [(mutant.at[-1], one.name) for mutant, all_ in found for one in all_ if one.fault == "unknown field"]
    right = [wanted for wanted, name in unknown if wanted == name]
    assert len(right) > 0.95 * len(unknown)


def is_at(mutant: Mutant, misfit: Misfit) -> bool:
    """Return true if the misfit is at the changed field; the new name of a misspelt one has an `s` more."""
    *above, last = mutant.at
    return misfit.at.path == ((*above, f"{last}s") if mutant.how == "misspelt" else mutant.at)


def is_for_a_rule(mutant: Mutant) -> bool:
    """Return true for the value of a variable."""
    return (mutant.at[-3:-2], mutant.at[-1:]) == (LEFT_TO_A_RULE[:1], LEFT_TO_A_RULE[1:]) and mutant.how == "retyped"
