"""HTTP for data sets: range requests, a token for one host only, and errors that name the next step."""

from __future__ import annotations

import io
import json
import re
import ssl
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit, urlunsplit
from urllib.request import Request, urlopen

from report import FetchError, TemporaryError, persist
from transfer import Stream

_SILENCE_SECONDS = 60
# Transient status codes: timeouts, rate limits and server errors.
_PASSING = (408, 425, 429, 500, 502, 503, 504)
# Parameters of signed URLs: of AWS (version 4, and 2 as CloudFront), of Google Cloud, and of Azure, whose short names
# mean something else where there is no `sig`.
_SIGNATURE_PREFIXES = ("x-amz-", "x-goog-")
_SIGNATURE = {"awsaccesskeyid", "expires", "googleaccessid", "key-pair-id", "policy", "signature"}
_AZURE = {
    *("sv", "ss", "srt", "sp", "se", "st", "spr", "sip", "sig", "sr", "si"),
    *("skoid", "sktid", "skt", "ske", "sks", "skv"),
}


def open_at(url: str, start: int, tag: str, token: str, advice: dict[int, str]) -> Stream:
    """Returns the file from byte `start` on if its version is still `tag`, otherwise from its beginning."""
    headers = {"Range": f"bytes={start}-", "If-Range": tag} if start else {}
    try:
        response = _open(url, token, advice, headers)
    except HTTPError as error:
        if error.headers.get("Content-Range", "").endswith(f"*/{start}"):
            # The file was complete, but not yet renamed.
            return Stream(io.BytesIO(), start, start, tag)
        return open_at(url, 0, "", token, advice)
    found = _tag(response)
    length = response.headers.get("Content-Length")
    if response.status != 206:
        return Stream(response, 0, None if length is None else int(length), found)
    given = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", response.headers.get("Content-Range", ""))
    if found == tag and given and int(given[1]) == start:
        return Stream(response, start, int(given[2]), tag)
    # A server that supports ranges but not If-Range sends the end of another version.
    response.close()
    return open_at(url, 0, "", token, advice)


def read_json(url: str, token: str, advice: dict[int, str]) -> tuple[Any, str | None]:
    """Returns a JSON answer, and the URL of the next page if there is one."""

    def read() -> tuple[Any, str | None]:
        try:
            with _open(url, token, advice, {}) as response:
                following = re.search(r'<([^>]+)>;\s*rel="next"', response.headers.get("Link", ""))
                return json.load(response), following and following[1]
        except (ValueError, HTTPException, OSError) as error:
            raise TemporaryError(f"no answer in JSON: {error}") from error

    return persist(shown(url), read)


def shown(url: str) -> str:
    """Returns a URL without its query and its user, which may contain secrets."""
    return re.sub(r"(?<=//)[^/@]*@", "", url.split("?", 1)[0])


def unsigned(url: str) -> str:
    """Returns a URL without the signature in its query, which differs each time that the same file is shared."""
    parts = urlsplit(url)
    words = [(word, word.partition("=")[0].lower()) for word in parts.query.split("&")]
    names = {name for _, name in words}
    signature = _SIGNATURE | (_AZURE if "sig" in names else set())
    kept = [word for word, name in words if name not in signature and not name.startswith(_SIGNATURE_PREFIXES)]
    return urlunsplit(parts._replace(query="&".join(kept)))


def _open(url: str, token: str, advice: dict[int, str], headers: dict[str, str]) -> HTTPResponse:
    """Send a request. Raises HTTPError for status 416, a range that does not exist."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise FetchError(f"{url} is not an HTTP URL")
    request = Request(url, headers={"Accept-Encoding": "identity", "User-Agent": "trainyard-dataset", **headers})  # noqa: S310
    if token:
        # Redirects may lead to other hosts, which must not get the token.
        request.add_unredirected_header("Authorization", f"Bearer {token}")
    try:
        response: HTTPResponse = urlopen(request, timeout=_SILENCE_SECONDS)  # noqa: S310
    except HTTPError as error:
        text = f"HTTP {error.code} {error.reason}"
        if error.code == 416 and headers:
            raise
        if error.code in _PASSING:
            raise TemporaryError(text) from error
        raise FetchError(
            f"{shown(url)}: {text}" + (f": {advice[error.code]}" if error.code in advice else "")
        ) from error
    except (URLError, HTTPException, OSError) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, ssl.SSLCertVerificationError):
            raise FetchError(
                f"{shown(url)}: {reason.verify_message}: set env.SSL_CERT_FILE to your CA's file"
            ) from error
        raise TemporaryError(f"no answer from {urlsplit(url).netloc}: {reason}") from error
    return response


def _tag(response: HTTPResponse) -> str:
    """Returns the value for If-Range (RFC 9110, 13.1.5): a strong entity tag or a date, or an empty text."""
    etag = str(response.headers.get("ETag", ""))
    return etag if etag.startswith('"') else str(response.headers.get("Last-Modified", ""))
