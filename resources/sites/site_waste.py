"""Waste of sites in an object store: what no published state shows any more."""

import json
from collections.abc import Mapping

from upath import UPath

from resources.sites.remote_site import PICTURE_FOLDERS, PICTURES
from resources.sites.site_states import STATES, SiteState, find_outdated, find_states
from resources.storage.file_batches import FileInfo, list_infos, read_files


def find_site_waste(reports: UPath, cutoff: float) -> dict[UPath, int]:
    """Find files of states that were replaced or abandoned, and pictures that no state shows.

    `reports` is the folder in which sites lie. What was written after `cutoff`, in seconds since
    1970, stays. Gives sizes in bytes.
    """
    infos = list_infos(reports)
    sites = {reports, *(reports / name.partition("/")[0] for name in infos if "/" in name)}
    states = find_states(*sites)
    waste: dict[UPath, int] = {}
    for site in sites:
        start = "" if site == reports else f"{site.name}/"
        files = {
            name.removeprefix(start): info for name, info in infos.items() if name.startswith(start)
        }
        waste |= _find_waste(site, files, states.get(site), cutoff)
    return waste


def _find_waste(
    site: UPath, files: Mapping[str, FileInfo], current: SiteState | None, cutoff: float
) -> dict[UPath, int]:
    stored = {
        file.removeprefix(f"{STATES}/"): info
        for file, info in files.items()
        if file.startswith(f"{STATES}/")
    }
    outdated = {*find_outdated(stored, current, cutoff)}
    lists = [file for file in stored if file.endswith(f"/{PICTURES}") and file not in outdated]
    contents = read_files(site / STATES / file for file in lists).values()
    shown = {picture for data in contents for picture in json.loads(data)}
    unshown = [
        file
        for file, info in files.items()
        if file.startswith(PICTURE_FOLDERS) and file not in shown and info.modified_at < cutoff
    ]
    waste = [*(f"{STATES}/{file}" for file in sorted(outdated)), *unshown]
    return {site / file: files[file].size for file in waste}
