"""Secrets are left out of objects and texts; what a diagnosis needs stays."""

from __future__ import annotations

import pytest

from trainyard.commands.support.redaction import LEFT_OUT, Redaction


@pytest.mark.parametrize(
    "name",
    ["HF_TOKEN", "WANDB_API_KEY", "AWS_SECRET_ACCESS_KEY", "db_password", "SSH_KEY", "BASIC_AUTH", "Credentials"],
)
def test_the_value_of_a_secret_like_variable_is_left_out_everywhere(name: str) -> None:
    pod = {"spec": {"containers": [{"env": [{"name": name, "value": "v4lue-of-it"}]}]}}
    redaction = Redaction([pod])
    assert redaction.tree(pod)["spec"]["containers"][0]["env"] == [{"name": name, "value": LEFT_OUT}]
    assert redaction.text("logged in as v4lue-of-it") == f"logged in as {LEFT_OUT}"


@pytest.mark.parametrize(
    "text",
    [
        "HF_TOKEN=abcd1234",
        "--api-key abcd1234",
        "--hub-token=abcd1234",
        '"password": "abcd 1234"',
        "authorization: Bearer abcd1234",
        "https://me:abcd1234@example.org/repo.git",
        "using hf_abcd1234abcd1234abcd",
        "key AKIAABCD1234ABCD1234",
        "ghp_abcd1234abcd1234abcd1234",
        "eyJabcd1234abcd.abcd1234abcd.abcd1234",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nabcd1234\n-----END OPENSSH PRIVATE KEY-----",
    ],
)
def test_a_secret_in_a_text_is_left_out(text: str) -> None:
    shown = Redaction().text(text)
    assert LEFT_OUT in shown
    assert "1234" not in shown


def test_a_secret_that_two_patterns_know_is_left_out_once() -> None:
    assert Redaction().text("token=hf_abcd1234abcd1234abcd is wrong") == f"token={LEFT_OUT} is wrong"


@pytest.mark.parametrize(
    "text",
    [
        "step 12 loss 2.31 tokens per second: 40213",
        "max_tokens=4096 num_tokens: 1024",
        "TOKENIZERS_PARALLELISM=false tokenizer: /data/llama",
        "RuntimeError: CUDA out of memory. Tried to allocate 2.50 GiB.",
        'MountVolume.SetUp failed for volume "certs" : secret "webhook-tls" not found',
        "OSError: You are trying to access a gated repo. Make sure to have a token",
        "Permission denied (publickey,password).",
        "http://llm-master-0:29500/path@v1",
    ],
)
def test_other_texts_stay(text: str) -> None:
    assert Redaction().text(text) == text


def test_fields_of_managers_and_of_kubectl_are_dropped_and_other_variables_stay() -> None:
    tree = {
        "metadata": {
            "managedFields": [{"manager": "kubectl"}],
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "team": "vision"},
        },
        "spec": {
            "env": [{"name": "NCCL_DEBUG", "value": "INFO"}],
            "volumes": [{"secret": {"secretName": "keys"}}],
            "tolerations": [{"key": "nvidia.com/gpu"}],
        },
    }
    shown = Redaction([tree]).tree(tree)
    assert shown["metadata"] == {"annotations": {"team": "vision"}}
    assert shown["spec"] == tree["spec"]
