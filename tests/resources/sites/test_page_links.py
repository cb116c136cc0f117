"""Links of pages, as a state in an object store needs them."""

from resources.sites.page_links import map_links

PAGE = (
    '<link href="../../site.css"><img src="../../images/a.png" srcset="../../images/a.png 384w, '
    '../../images/b.png 768w"><a data-seen="../../../mark.svg" href="other.html#x">a, b</a>'
    '<p title="images/a.png">href="../../images/a.png</p><a href="https://example.org/images/">'
)


def test_links_are_changed_as_seen_from_the_site_and_nothing_else():
    seen = []

    def change(link):
        seen.append(link)
        return f"../../{link}" if link.startswith(("../", "images/")) else link

    changed = map_links("scenes/flags/x.html", PAGE, change)
    assert seen == ["site.css", "images/a.png", "images/a.png", "images/b.png", "../mark.svg"]
    assert changed.count("../../../../images/") == 3
    assert 'data-seen="../../../../../mark.svg" href="other.html#x"' in changed
    assert '<p title="images/a.png">href="../../images/a.png</p>' in changed

    def change_back(link):
        return link.removeprefix("../../")

    assert map_links("scenes/flags/x.html", changed, change_back) == PAGE
