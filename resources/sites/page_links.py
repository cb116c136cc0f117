"""Links of pages, as paths from the folder of their site."""

import re
from collections.abc import Callable

_ATTRIBUTE = re.compile(r'(?<= )(?:href|src|srcset|data-seen)="[^"]*"')
_PATH = re.compile(r'[^\s,"]+')


def map_links(page: str, text: str, change: Callable[[str], str]) -> str:
    """Change the links of a page; `page` is its path in the site.

    `change` gets each link as seen from the site's folder, as in "images/x.png#top", and gives it
    back as it shall be seen from there.
    """
    root = "../" * page.count("/")

    def change_path(match: re.Match[str]) -> str:
        path = match[0]
        return root + change(path.removeprefix(root)) if path.startswith(root) else path

    def change_attribute(match: re.Match[str]) -> str:
        name, _, value = match[0].partition('="')
        return f'{name}="{_PATH.sub(change_path, value)}'

    return _ATTRIBUTE.sub(change_attribute, text)
