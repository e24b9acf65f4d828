"""Downloads of models and data, and the caches that hold them."""

from __future__ import annotations

from trainyard.doctor.cause import Cause, Sign

CAUSES = (
    Cause(
        name="hub-gated",
        title="the model hub refuses access",
        signs=(
            Sign("Cannot access gated repo"),
            Sign("GatedRepoError"),
            Sign("You are trying to access a gated repo"),
            Sign("401 Client Error", r"huggingface"),
        ),
        explanation="The model needs an accepted license, and a token of that account.",
        remedy="Accept the license, and give the pods HF_TOKEN from a Secret.",
        source="github.com/ml-explore/mlx-examples issue 759",
    ),
    Cause(
        name="hub-offline",
        title="the model hub cannot be reached, and the files are not cached",
        signs=(
            Sign("couldn't connect to 'https://huggingface.co"),
            Sign("LocalEntryNotFoundError"),
            Sign("OfflineModeIsEnabled"),
            Sign("outgoing traffic has been disabled"),
        ),
        hides=("name-not-known", "download-failed"),
        explanation="The pods have no way to the internet, or HF_HUB_OFFLINE is set and the cache is empty.",
        remedy="Put the files on a volume before the run, and set HF_HOME to it; or allow the proxy.",
        source="huggingface.co docs/transformers/installation: offline mode",
        rules=("model-cache-on-small-volume",),
    ),
    Cause(
        name="download-failed",
        title="a download failed",
        signs=(
            Sign("Max retries exceeded with url"),
            Sign("NewConnectionError"),
            Sign("urllib3/connection", r"in _new_conn\b"),
            Sign("urllib.error."),
            Sign("requests.exceptions."),
            Sign("httpx.", r"httpx\.(?:Connect|Read|Remote)\w*(?:Error|Timeout)"),
            Sign("CERTIFICATE_VERIFY_FAILED"),
            Sign("curl: (", r"curl: \(\d+\)"),
        ),
        unless=r"401 Client Error",
        confidence="medium",
        explanation="The server did not answer, refused the request, or the pods may not reach it: no way to the "
        "internet, a proxy, or a certificate that the image does not know.",
        remedy="Put the files on a volume before the run; else allow the address, and set HTTPS_PROXY and the "
        "certificates in the image.",
        source="github.com/kubeflow/kubeflow issue 4730",
    ),
)
