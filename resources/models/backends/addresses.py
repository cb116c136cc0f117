"""Addresses from which a reply's picture may be fetched.

The address is the provider's word, and the request for it comes from this machine, which may reach
what the provider does not: a database, a cloud's metadata. So it is resolved once, checked, and the
connection goes to the very address that was checked.
"""

import asyncio
import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import httpx2

_TRANSLATED = ip_network("64:ff9b::/96")
"""Addresses of the older version, as networks of the newer one alone write them."""


class ForbiddenAddress(Exception):
    """An address from which nothing is fetched; the message names it, without its path, and why."""


async def fetch_public_url(client: httpx2.AsyncClient, url: str, provider: str) -> httpx2.Response:
    """Fetch `url`, if it is a public address, or one of the machine of `provider`.

    `provider` is the address that the reply came from. Raises `ForbiddenAddress` before anything is
    sent, or what `client` raises.
    """
    try:
        target = httpx2.URL(url)
    except httpx2.InvalidURL:
        raise ForbiddenAddress("an invalid URL") from None
    if target.scheme not in ("http", "https") or not target.host:
        raise ForbiddenAddress("a URL that is not http or https")
    addresses = await _addresses(target.host)
    if not addresses:
        raise ForbiddenAddress(f"{target.host}, an unknown host")
    provider_addresses = await _addresses(httpx2.URL(provider).host)
    if not all(_is_public(address) or address in provider_addresses for address in addresses):
        raise ForbiddenAddress(f"{target.host}, which is not a public address")
    request = client.build_request("GET", target.copy_with(host=str(addresses[0])))
    request.headers["host"] = target.netloc.decode("ascii")
    request.extensions = {**request.extensions, "sni_hostname": target.host}
    return await client.send(request)


async def _addresses(host: str) -> list[IPv4Address | IPv6Address]:
    """The addresses of a host; none where its name is not known."""
    try:
        records = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    # A scope, as in fe80::1%eth0, is of link-local addresses alone.
    return [ip_address(str(address[0]).partition("%")[0]) for *_, address in records]


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv6Address):
        within = address.ipv4_mapped or address.sixtofour
        if address in _TRANSLATED:
            within = IPv4Address(int(address) & 0xFFFFFFFF)
        if within is not None:
            return _is_public(within)
    return address.is_global and not address.is_multicast
