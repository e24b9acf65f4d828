"""Downloads of models and data, and the caches that hold them."""

from __future__ import annotations

from trainyard.commands.doctor.cause import Cause, Sign

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
        name="cloud-access-refused",
        title="the cloud refuses access to a bucket or service",
        signs=(
            Sign(
                "An error occurred (",
                r"An error occurred \((?:AccessDenied|ExpiredToken|InvalidAccessKeyId|InvalidClientTokenId"
                r"|SignatureDoesNotMatch|UnrecognizedClient|Unauthorized|Forbidden|40[13]\b)",
            ),
            Sign("Unable to locate credentials"),
            Sign("NoCredentialsError"),
            Sign("google.auth.exceptions."),
            Sign("does not have storage.", r"does not have storage\.\w+\.\w+ access"),
            Sign("AuthorizationPermissionMismatch"),
            Sign("Server failed to authenticate the request"),
        ),
        messages=(
            "An error occurred (AccessDenied) when calling",
            "An error occurred (ExpiredTokenException) when calling",
            "Unable to locate credentials",
            "google.auth.exceptions.DefaultCredentialsError",
            "does not have storage.objects.get access",
        ),
        explanation="The pods have no identity or key, the role of it lacks the right that the message names, or its "
        "token ran out during a long run.",
        remedy="Bind the pods' service account to a role of the cloud (workload identity, IRSA), which renews its "
        "tokens, and give it the right on this bucket.",
        source="github.com/autogluon/autogluon-cloud issue 133",
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
