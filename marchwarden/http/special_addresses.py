"""IP addresses that mean no web site: the special-purpose blocks, and the metadata services of clouds.

Own tables, since those of the standard library's `ipaddress` differ with the interpreter: Python 3.11.7 holds
192.0.0.192 and 3fff::1 for public.
"""

from __future__ import annotations

import ipaddress
from typing import TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

# The whole of IANA's registry iana-ipv4-special-registry (RFC 6890), as of 2025-10; also the few blocks that it calls
# globally reachable, since each network may answer for them itself. Multicast has a registry of its own.
_SPECIAL_IPV4 = tuple(
    ipaddress.IPv4Network(block)
    for block in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private use
        "100.64.0.0/10",  # shared by the customers of a provider
        "127.0.0.0/8",  # this machine
        "169.254.0.0/16",  # link-local
        "172.16.0.0/12",  # private use
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # multicast relays
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private use
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and the broadcast address
    )
)

# IANA gives addresses of 2000::/3 to networks and no others; within it, the registry iana-ipv6-special-registry has
# these blocks, as of 2025-10. 6to4 (2002::/16) is not here: the IPv4 address inside is checked.
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_SPECIAL_IPV6 = tuple(
    ipaddress.IPv6Network(block)
    for block in (
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",  # documentation
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")

# Whoever reads these gets credentials of the machine. They are refused even where private addresses are allowed.
_METADATA_IPV4 = tuple(
    ipaddress.IPv4Network(block)
    for block in (
        "169.254.0.0/16",  # link-local: AWS, Azure, Google and most others
        "100.100.100.200/32",  # Alibaba
        "168.63.129.16/32",  # Azure; public by its number
        "192.0.0.192/32",  # Oracle
    )
)
_METADATA_IPV6 = tuple(
    ipaddress.IPv6Network(block)
    for block in (
        "fe80::/10",  # link-local
        "fd00:c1::a9fe:a9fe/128",  # Oracle
        "fd00:ec2::/32",  # AWS, fd00:ec2::254 and others
        "fd00:42::42/128",  # Scaleway
        "fd20:ce::254/128",  # Google
    )
)


def is_public(address: Address) -> bool:
    """True for an address that means one machine in all the internet.

    An IPv4 address inside an IPv6 one (NAT64, mapped, 6to4) is checked as itself.
    """
    address = _unwrap(address)
    if is_metadata(address):
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in block for block in _SPECIAL_IPV4)
    return address in _GLOBAL_UNICAST and not any(address in block for block in _SPECIAL_IPV6)


def is_metadata(address: Address) -> bool:
    """True for a link-local address, and for one at which a cloud tells its machines their credentials."""
    address = _unwrap(address)
    if isinstance(address, ipaddress.IPv4Address):
        return any(address in block for block in _METADATA_IPV4)
    return any(address in block for block in _METADATA_IPV6)


def literal_address(host: str) -> Address | None:
    """Return the IP address that `host` spells out; None where it is a name. Raises nothing."""
    try:
        return ipaddress.ip_address(host.split("%")[0])
    except ValueError:
        return None


def _unwrap(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 one is a spelling of; any other address as it is."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo[1] if address.teredo is not None else None
    # A Teredo address leads to a machine behind a router: it is never public, but may be a metadata service's.
    if teredo is not None and any(teredo in block for block in _METADATA_IPV4):
        return teredo
    return address.ipv4_mapped or address.sixtofour or address
