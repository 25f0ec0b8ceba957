"""Addresses: one spelling per URL, the organisation of a host, and the addresses that are never read.

connection.py checks the IP addresses that a name resolves to.

Own code beside yarl and rfc3986: neither drops tracking parameters nor reads a host as browsers do (WHATWG URL).
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_to_bytes, urljoin, urlsplit

from marchwarden.contract import ascii_host
from marchwarden.http.special_addresses import is_metadata, is_public, literal_address
from marchwarden.observations import Failure, FailureKind, is_database, is_file
from marchwarden.text.works import name_in_address

if TYPE_CHECKING:
    from tldextract import TLDExtract

# The usual ports of web servers. Other ports are those of mail, databases and services of one machine.
PORTS = frozenset({80, 443, 8080, 8443})
# Characters of an address. RFC 9110 (4.1) asks servers for 8,000 octets; longer ones carry data.
MAX_URL_CHARS = 8_000
DEFAULT_PORTS = {"http": 80, "https": 443}

_HOST = re.compile(r"(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_][a-z0-9_-]{0,62})*")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_SAFE_IN_PATH = "/:@!$&'()*+,;=-._~"
_SAFE_IN_QUERY = _SAFE_IN_PATH + "?[]|"

# Parameters that only count visits and campaigns: they differ between links to one and the same page.
_TRACKING = re.compile(
    r"utm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|mc_cid|mc_eid|msclkid|yclid|twclid|ttclid|li_fat_id|igshid|igsh"
    r"|ref_src|ref_url|_hsenc|_hsmi|__hstc|__hssc|__hsfp|hsctatracking|mkt_tok|vero_id|oly_anon_id|oly_enc_id|_openstat"
    r"|wickedid|s_cid|spm|_ga|_gl|cmpid|icid",
    re.IGNORECASE,
)

# Names that mean another machine in each network (RFC 6761, 6762, 7686 and 8375), and those that routers hand out.
_LOCAL_NAMES = ("localhost", "local", "internal", "localdomain", "home.arpa", "onion")
# A proxy would look these up itself, so the address behind them can't be checked.
_METADATA_NAMES = ("metadata.google.internal", "metadata.goog")


def normalise_url(url: str) -> str:
    """Return the one spelling under which a page is fetched, compared and cited (RFC 3986 section 6, WHATWG for
    hosts).

    Fragment, credentials, default port and tracking parameters are dropped. The host becomes ASCII; an IPv4 address
    in any spelling becomes four decimal numbers. Dot segments are resolved, and characters are percent-encoded once.
    Raises ValueError with a plain sentence.
    """
    if len(url) > MAX_URL_CHARS:
        raise ValueError(f"{_quoted(url)} has more than {MAX_URL_CHARS} characters")
    try:
        url.encode("utf-8")
        parts = urlsplit(_strip_blanks(url))
    except ValueError:  # a lone surrogate, or an unbalanced bracket
        raise ValueError(f"{_quoted(url)} is not a URL") from None
    scheme = parts.scheme.lower()
    if scheme not in DEFAULT_PORTS:
        raise ValueError(f"only http and https addresses can be read, not {_quoted(url)}")
    host = _parse_host(parts.netloc)
    netloc = f"[{host}]" if ":" in host else host
    port = parts.netloc.rpartition("@")[2].rpartition("]")[2].partition(":")[2]
    if port:
        if not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65536):
            raise ValueError(f"{_quoted(port)} is not a port")
        if int(port) != DEFAULT_PORTS[scheme]:
            netloc += f":{int(port)}"
    kept = [part for part in parts.query.split("&") if part and not _TRACKING.fullmatch(part.partition("=")[0])]
    query = _percent_encode("&".join(kept), _SAFE_IN_QUERY)
    # Dot segments are resolved.
    segments = _percent_encode(parts.path.replace("\\", "/"), _SAFE_IN_PATH).split("/")[1:]
    path: list[str] = []
    for segment in segments:
        if segment == "..":
            path = path[:-1]
        elif segment != ".":
            path.append(segment)
    if segments and segments[-1] in (".", ".."):
        path.append("")
    return f"{scheme}://{netloc}/{'/'.join(path)}" + (f"?{query}" if query else "")


def join_url(base: str, reference: str) -> str:
    """Return the normalised URL of `reference` on the page `base`. Raises ValueError."""
    try:
        joined = urljoin(base, _strip_blanks(reference))
    except ValueError:
        raise ValueError(f"{_quoted(reference)} is not a URL") from None
    return normalise_url(joined)


def host_of(url: str) -> str:
    """Return the host of a normalised URL; an IPv6 address comes without its brackets."""
    return urlsplit(url).hostname or ""


def origin_of(url: str) -> str:
    """Scheme, host and port of a normalised URL: `https://example.org`, `http://example.org:8080`."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def organisation_of(host: str) -> str:
    """Return the registrable domain of `host`, by the bundled public suffix list.

    A host without one (an IP address, `localhost`) is returned itself. Each site of a hosting service
    (`me.github.io`) is an organisation of its own.
    """
    host = ascii_host(host)
    return str(_suffix_list()(host).top_domain_under_public_suffix) or host


# Sites whose statements are taken from another site, or go into it.
_COPIES = {"wikidata.org": "wikipedia.org"}


def publisher_of(locator: str) -> str:
    """Return the publisher of a page or a file, for telling independent sources apart.

    A page's publisher is the organisation of its host. On a host that carries the works of others, such as arXiv, it
    is the work that the address names: `arXiv:2301.01234`. Each of the user's own files is a publisher of its own,
    and so is each database, whichever rows are cited.
    """
    if is_database(locator):
        return locator.partition("/")[0]
    if is_file(locator):
        return locator
    organisation = name_in_address(locator) or organisation_of(host_of(locator))
    return _COPIES.get(organisation, organisation)


def web_address(url: str) -> str | None:
    """Return the normalised URL; None for text that is not a web address."""
    try:
        return normalise_url(url)
    except ValueError:
        return None


@lru_cache(maxsize=1)
def _suffix_list() -> TLDExtract:
    # Without addresses and cache the library reads the list that it ships, and never the network.
    from tldextract import TLDExtract

    return TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


def refusal(url: str, *, allow_private: bool = False) -> Failure | None:
    """Return the failure of a normalised URL with a wrong scheme or port, a local name, or an address that isn't
    public.

    `allow_private` allows all but other schemes and the metadata services of clouds. None where the URL itself is
    allowed. The addresses that its name resolves to are checked on connecting.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    detail = ""
    if parts.scheme not in DEFAULT_PORTS or not host:
        detail = f"{_quoted(url)} is not a web address"
    elif ((address := literal_address(host)) is not None and is_metadata(address)) or host in _METADATA_NAMES:
        detail = f"{host} is where clouds keep credentials, or link-local: it is never read"
    elif allow_private:
        return None
    elif (parts.port or DEFAULT_PORTS[parts.scheme]) not in PORTS:
        detail = f"port {parts.port} of {host} is not a usual port of web pages"
    elif any(host == name or host.endswith("." + name) for name in _LOCAL_NAMES):
        detail = f"{host} is a name inside a private network"
    elif address is not None and not is_public(address):
        detail = f"{host} is not a public address"
    return Failure(FailureKind.REFUSED_ADDRESS, detail) if detail else None


# The parts of a URL


def _strip_blanks(url: str) -> str:
    return re.sub(r"[\t\r\n]", "", url.strip(" \t\r\n\f\0"))


def _quoted(url: str) -> str:
    return ascii(url if len(url) <= 80 else url[:79] + "...")


def _parse_host(netloc: str) -> str:
    name = netloc if "\\" in netloc else netloc.rpartition("@")[2]  # browsers end the host at a backslash
    if name.startswith("["):
        literal = name[1:].partition("]")[0]
        try:
            return ipaddress.IPv6Address(literal.partition("%")[0]).compressed
        except ValueError:
            raise ValueError(f"{_quoted(literal)} is not an IPv6 address") from None
    name = unquote_to_bytes(name.partition(":")[0]).decode("utf-8", "replace")
    host = ascii_host(name.replace("。", "."))
    # Browsers read a host as an IPv4 address where its last label is a number (WHATWG URL, "ends in a number").
    if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", host.rpartition(".")[2]):
        return _parse_ipv4(host)
    if not _HOST.fullmatch(host):
        raise ValueError(f"{_quoted(name)} is not a host name" if name else "the address names no host")
    return host


def _parse_ipv4(host: str) -> str:
    """Return four decimal numbers for an IPv4 address in decimal, octal or hexadecimal, with one to four parts."""

    def number(text: str) -> int:
        if text.startswith("0x"):
            return int(text[2:] or "0", 16)
        return int(text, 8 if text.startswith("0") and len(text) > 1 else 10)

    try:
        *leading, last = [number(part) for part in host.split(".")]
        if len(leading) > 3 or any(part > 255 for part in leading) or last >= 256 ** (4 - len(leading)):
            raise ValueError
    except ValueError:
        raise ValueError(f"{_quoted(host)} is not an IPv4 address") from None
    return str(ipaddress.IPv4Address(sum(part << 8 * (3 - at) for at, part in enumerate(leading)) + last))


_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")


def _percent_encode(text: str, safe: str) -> str:
    """Encode where needed; escapes are kept, but for those of unreserved characters, which are undone."""
    pieces = _ESCAPE.split(text)
    for at, piece in enumerate(pieces):
        if at % 2:
            character = chr(int(piece, 16))
            pieces[at] = character if character in _UNRESERVED else f"%{piece.upper()}"
        else:
            pieces[at] = quote(piece, safe=safe)
    return "".join(pieces)
