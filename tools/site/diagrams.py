"""A hook of MkDocs: pages with a diagram load Mermaid from the site, and not from the host that the theme names."""

from __future__ import annotations

from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from tools.site.browser_files import MERMAID


def on_page_content(html: str, page: Page, **_: object) -> str:
    """Returns the page with the script before its content: the theme draws with the Mermaid that is there."""
    if '<pre class="mermaid">' not in html:
        return html
    return f'<script src="{get_relative_url(MERMAID, page.url)}"></script>\n{html}'
