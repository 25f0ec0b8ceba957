"""XML of services, parsed without entities, DTDs and the network."""

from __future__ import annotations

from lxml import etree


def parse_xml(body: bytes) -> etree._Element | None:
    """Return the root; None where the bytes are no XML, not even damaged."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True, recover=True
    )
    try:
        root = etree.fromstring(body, parser)
    except etree.XMLSyntaxError:
        return None
    return root if root is not None and isinstance(root.tag, str) else None


def text_of(element: etree._Element | None) -> str:
    """Return the text under an element on one line; "" for None."""
    return "" if element is None else " ".join("".join(map(str, element.itertext())).split())
