"""Addresses: one spelling per URL, which organisation a host belongs to, and which addresses are never read.

What a name resolves to is checked where the connection is made, in connection.py.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import SplitResult, quote, unquote_to_bytes, urljoin, urlsplit

from marchwarden.contract import ascii_host
from marchwarden.observations import Failure, FailureKind, is_file

if TYPE_CHECKING:
    from tldextract import TLDExtract

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

PORTS = frozenset({80, 443, 8080, 8443})
_DEFAULT_PORTS = {"http": 80, "https": 443}

_HOST = re.compile(r"(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_][a-z0-9_-]{0,62})*")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_SAFE_IN_PATH = "/:@!$&'()*+,;=-._~"
_SAFE_IN_QUERY = _SAFE_IN_PATH + "?[]|"

_TRACKING = re.compile(
    r"utm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|mc_cid|mc_eid|msclkid|yclid|twclid|ttclid|li_fat_id|igshid|igsh"
    r"|ref_src|ref_url|_hsenc|_hsmi|__hstc|__hssc|__hsfp|hsctatracking|mkt_tok|vero_id|oly_anon_id|oly_enc_id|_openstat"
    r"|wickedid|s_cid|spm|_ga|_gl|cmpid|icid",
    re.IGNORECASE,
)

_LOCAL_NAMES = ("localhost", "local", "internal", "localdomain", "home.arpa", "onion")

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_AZURE_PLATFORM = ipaddress.IPv4Address("168.63.129.16")  # public by number, but each machine's own metadata service
_SIX_TO_FOUR_RELAYS = ipaddress.IPv4Network("192.88.99.0/24")


def normalise_url(url: str) -> str:
    """The one spelling under which a page is fetched, compared and cited (RFC 3986 section 6, WHATWG for hosts).

    Fragment, credentials, default port and tracking parameters go; the host becomes ASCII, an IPv4 address in any
    spelling four decimal numbers; dot segments are resolved; what needs percent-encoding gets it, once.
    Raises ValueError with a plain sentence.
    """
    parts = _split(url)
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT_PORTS:
        raise ValueError(f"only http and https addresses can be read, not {_shown(url)}")
    host = _host(parts.netloc)
    port = _port(parts.netloc)
    netloc = f"[{host}]" if ":" in host else host
    if port not in (None, _DEFAULT_PORTS[scheme]):
        netloc += f":{port}"
    query = _query(parts.query)
    return f"{scheme}://{netloc}{_path(parts.path)}" + (f"?{query}" if query else "")


def join_url(base: str, reference: str) -> str:
    """`reference` as met on the page `base`, normalised. Raises ValueError."""
    try:
        joined = urljoin(base, _without_blanks(reference))
    except ValueError:
        raise ValueError(f"{_shown(reference)} is not a URL") from None
    return normalise_url(joined)


def host_of(url: str) -> str:
    """The host of a normalised URL, an IPv6 address without its brackets."""
    return urlsplit(url).hostname or ""


def origin_of(url: str) -> str:
    """Scheme, host and port of a normalised URL: `https://example.org`, `http://example.org:8080`."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def organisation_of(host: str) -> str:
    """The registrable domain that `host` belongs to, by the bundled public suffix list; the host itself where it has
    none (an IP address, `localhost`). Sites of a hosting service (`me.github.io`) are organisations of their own."""
    host = ascii_host(host)
    return str(_suffix_list()(host).top_domain_under_public_suffix) or host


def publisher_of(locator: str) -> str:
    """Who stands behind a page or a file, for telling independent sources apart: the organisation of a page's host;
    of the user's own files each speaks for itself."""
    return locator if is_file(locator) else organisation_of(host_of(locator))


def web_address(url: str) -> str | None:
    """The one spelling of a page's address, so that it is read once; None for what is no address."""
    try:
        return normalise_url(url)
    except ValueError:
        return None


@lru_cache(maxsize=1)
def _suffix_list() -> TLDExtract:
    from tldextract import TLDExtract

    return TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


def refusal(url: str, *, allow_private: bool = False) -> Failure | None:
    """Why `url`, normalised, is not read: its scheme, its port, a local name, or an address that is not public.

    None where nothing in the URL itself speaks against it; what its name resolves to is checked on connecting.
    """
    parts = urlsplit(url)
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        return _refused(f"{_shown(url)} is not a web address")
    if allow_private:
        return None
    if (parts.port or _DEFAULT_PORTS[parts.scheme]) not in PORTS:
        return _refused(f"port {parts.port} of {parts.hostname} is not one that web pages are read from")
    if _is_local_name(parts.hostname):
        return _refused(f"{parts.hostname} is a name inside a private network")
    address = literal_address(parts.hostname)
    if address is not None and not is_public(address):
        return _refused(f"{parts.hostname} is not a public address")
    return None


def _refused(detail: str) -> Failure:
    return Failure(FailureKind.REFUSED_ADDRESS, detail)


def _is_local_name(host: str) -> bool:
    return any(host == name or host.endswith("." + name) for name in _LOCAL_NAMES)


def literal_address(host: str) -> Address | None:
    """The address that `host` spells out, None where it is a name. Raises nothing."""
    try:
        return ipaddress.ip_address(host.split("%")[0])
    except ValueError:
        return None


def is_public(address: Address) -> bool:
    """Whether all the internet means one machine by it; an IPv4 address inside an IPv6 one counts as itself."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = _embedded(address)
        if inner is not None:
            return is_public(inner)
        return address in _GLOBAL_UNICAST and address.is_global and not address.is_multicast
    special = address == _AZURE_PLATFORM or address in _SIX_TO_FOUR_RELAYS
    return address.is_global and not address.is_multicast and not address.is_reserved and not special


def _embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if address.teredo is not None:
        return address.teredo[1]
    return address.ipv4_mapped or address.sixtofour


# The parts of a URL


def _split(url: str) -> SplitResult:
    try:
        url.encode("utf-8")
        return urlsplit(_without_blanks(url))
    except ValueError:  # a lone surrogate, or an unbalanced bracket
        raise ValueError(f"{_shown(url)} is not a URL") from None


def _without_blanks(url: str) -> str:
    return re.sub(r"[\t\r\n]", "", url.strip(" \t\r\n\f\0"))


def _shown(url: str) -> str:
    return ascii(url if len(url) <= 80 else url[:79] + "...")


def _host(netloc: str) -> str:
    name = netloc if "\\" in netloc else netloc.rpartition("@")[2]  # browsers end the host at a backslash
    if name.startswith("["):
        return _ipv6(name[1:].partition("]")[0])
    name = unquote_to_bytes(name.partition(":")[0]).decode("utf-8", "replace")
    host = ascii_host(name.replace("。", "."))
    if _is_numeric(host):
        return _ipv4(host)
    if not _HOST.fullmatch(host):
        raise ValueError(f"{_shown(name)} is not a host name" if name else "the address names no host")
    return host


def _port(netloc: str) -> int | None:
    name = netloc.rpartition("@")[2]
    text = name.rpartition("]")[2].partition(":")[2]
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and 0 < int(text[:6]) < 65536):
        raise ValueError(f"{_shown(text)} is not a port")
    return int(text)


def _ipv6(text: str) -> str:
    try:
        return ipaddress.IPv6Address(text.partition("%")[0]).compressed
    except ValueError:
        raise ValueError(f"{_shown(text)} is not an IPv6 address") from None


def _is_numeric(host: str) -> bool:
    """Whether browsers read it as an IPv4 address: its last label is a number (WHATWG URL, "ends in a number")."""
    last = host.rpartition(".")[2]
    return bool(re.fullmatch(r"[0-9]+|0x[0-9a-f]*", last))


def _ipv4(host: str) -> str:
    """Four decimal numbers for an IPv4 address in decimal, octal or hexadecimal, with one to four parts."""
    try:
        *leading, last = [_number(part) for part in host.split(".")]
        if len(leading) > 3 or any(part > 255 for part in leading) or last >= 256 ** (4 - len(leading)):
            raise ValueError
    except ValueError:
        raise ValueError(f"{_shown(host)} is not an IPv4 address") from None
    return str(ipaddress.IPv4Address(sum(part << 8 * (3 - at) for at, part in enumerate(leading)) + last))


def _number(text: str) -> int:
    if text.startswith("0x"):
        return int(text[2:] or "0", 16)
    return int(text, 8 if text.startswith("0") and len(text) > 1 else 10)


def _path(path: str) -> str:
    kept: list[str] = []
    segments = _encoded(path.replace("\\", "/"), _SAFE_IN_PATH).split("/")[1:]
    for segment in segments:
        if segment == "..":
            kept = kept[:-1]
        elif segment != ".":
            kept.append(segment)
    if segments and segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def _query(query: str) -> str:
    kept = [part for part in query.split("&") if part and not _TRACKING.fullmatch(part.partition("=")[0])]
    return _encoded("&".join(kept), _SAFE_IN_QUERY)


_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")


def _encoded(text: str, safe: str) -> str:
    """Percent-encoded where needed; escapes that stand are kept, those of unreserved characters are undone."""
    pieces = _ESCAPE.split(text)
    return "".join(_escape(piece) if at % 2 else quote(piece, safe=safe) for at, piece in enumerate(pieces))


def _escape(digits: str) -> str:
    character = chr(int(digits, 16))
    return character if character in _UNRESERVED else f"%{digits.upper()}"
