"""One spelling per URL, and no way in to private networks."""

from __future__ import annotations

import contextlib
import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.http.addresses import (
    host_of,
    join_url,
    normalise_url,
    organisation_of,
    origin_of,
    publisher_of,
    refusal,
    web_address,
)
from marchwarden.http.special_addresses import is_metadata, is_public, literal_address
from marchwarden.observations import FailureKind


@pytest.mark.parametrize(
    ("written", "normalised"),
    [
        ("HTTP://Example.ORG", "http://example.org/"),
        ("  https://example.org/a\n", "https://example.org/a"),
        ("https://user:secret@example.org/", "https://example.org/"),
        ("https://example.org:443/", "https://example.org/"),
        ("http://example.org:443/", "http://example.org:443/"),
        ("http://example.org:1/", "http://example.org:1/"),
        ("http://example.org:65535/", "http://example.org:65535/"),
        ("https://example.org./a", "https://example.org/a"),
        ("https://example.org/a/./b/../c", "https://example.org/a/c"),
        ("https://example.org/a/..", "https://example.org/"),
        ("https://example.org/../../a", "https://example.org/a"),
        ("https://example.org/a#part", "https://example.org/a"),
        ("https://example.org/wiki/Utah_(state)", "https://example.org/wiki/Utah_(state)"),
        ("https://müller.de/straße", "https://xn--mller-kva.de/stra%C3%9Fe"),
        ("https://example.org/stra%C3%9fe", "https://example.org/stra%C3%9Fe"),
        ("https://example.org/a b%20c", "https://example.org/a%20b%20c"),
        ("https://example.org/100%", "https://example.org/100%25"),
        ("https://example.org/%7Eme", "https://example.org/~me"),
        ("https://example.org/?q=a+b%2Bc", "https://example.org/?q=a+b%2Bc"),
        ("https://example.org/?", "https://example.org/"),
        ("https://example.org/?utm_source=x&id=7&fbclid=y&GCLID=z", "https://example.org/?id=7"),
        ("https://example.org/?mc_cid=1&mc_eid=2&msclkid=3&igshid=4&ref_src=5", "https://example.org/"),
        ("https://example.org/?b=2&a=1", "https://example.org/?b=2&a=1"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://0177.0.0.1/", "http://127.0.0.1/"),
        ("http://[2001:DB8:0:0::1]:8080/", "http://[2001:db8::1]:8080/"),
        ("http://example.org/a\\b", "http://example.org/a/b"),
    ],
)
def test_each_page_has_one_spelling(written: str, normalised: str) -> None:
    assert normalise_url(written) == normalised


@pytest.mark.parametrize(
    "written",
    [
        "",
        "example.org",
        "ftp://example.org/",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "mailto:a@example.org",
        "https://",
        "https:///path",
        "https://exa mple.org/",
        "https://example.org:0/",
        "https://example.org:65536/",
        "https://example.org:99999/",
        "https://example.org:port/",
        "https://1.2.3.4.5/",
        "https://1.2.3.256/",
        "https://1.256.3.4/",
        "https://0x.zz.0x/",
        "https://one.org\\@two.org/",
        "https://[::1/",
        "https://[bad]/",
        "https://a\ud800.org/",
        "https://-/",
    ],
)
def test_what_is_no_web_address_is_refused_with_a_plain_sentence(written: str) -> None:
    with pytest.raises(ValueError, match=r"^[\x20-\x7e]+$") as caught:
        normalise_url(written)
    assert "codec" not in str(caught.value)


URLS = st.builds(
    "{}://{}{}{}{}".format,
    st.sampled_from(["http", "HTTPS"]),
    st.sampled_from(["example.org", "bücher.example", "1.1.1.1", "[::1]", "a.b:8080"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30).map(lambda path: "/" + path),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20).map(lambda query: "?" + query),
    st.sampled_from(["", "#x"]),
)


@given(URLS)
def test_normalising_twice_changes_nothing(url: str) -> None:
    once = normalise_url(url)
    assert normalise_url(once) == once
    assert once.isascii()
    assert "#" not in once


@given(st.text(max_size=60))
def test_any_text_gives_an_address_or_a_value_error(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert normalise_url(text).startswith(("http://", "https://"))


def test_a_reference_is_read_against_its_page() -> None:
    assert join_url("https://example.org/a/b", "../c?x=1#y") == "https://example.org/c?x=1"
    assert join_url("https://example.org/a", "//other.org/é") == "https://other.org/%C3%A9"
    assert origin_of("http://example.org:8080/a") == "http://example.org:8080"
    assert host_of("http://[::1]:8080/") == "::1"
    with pytest.raises(ValueError, match="only http and https"):
        join_url("https://example.org/", "tel:123")
    with pytest.raises(ValueError, match="not a URL"):
        join_url("https://example.org/", "//[::1")


@pytest.mark.parametrize(
    ("host", "organisation"),
    [
        ("extension.usu.edu", "usu.edu"),
        ("News.BBC.co.uk", "bbc.co.uk"),
        ("me.github.io", "me.github.io"),
        ("a.me.github.io", "me.github.io"),
        ("bücher.de", "xn--bcher-kva.de"),
        ("10.0.0.1", "10.0.0.1"),
        ("localhost", "localhost"),
        ("co.uk", "co.uk"),
    ],
)
def test_hosts_of_one_organisation_share_its_registrable_domain(host: str, organisation: str) -> None:
    assert organisation_of(host) == organisation


@pytest.mark.parametrize(
    ("locator", "publisher"),
    [
        ("https://news.bbc.co.uk/1", "bbc.co.uk"),
        ("https://arxiv.org/pdf/2301.01234v2", "arXiv:2301.01234"),
        ("https://www.wikidata.org/wiki/Q1", "wikipedia.org"),
        ("file:///notes/a.md", "file:///notes/a.md"),
        ("db:shop/orders?sha256=0", "db:shop"),
    ],
)
def test_a_publisher_is_a_site_a_work_a_file_or_a_database(locator: str, publisher: str) -> None:
    assert publisher_of(locator) == publisher


def test_a_text_that_is_no_web_address_has_none() -> None:
    assert web_address(" HTTPS://Example.org ") == "https://example.org/"
    assert web_address("see page 3") is None


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost/",
        "http://api.localhost/",
        "http://printer.local/",
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://017700000001/",
        "http://0/",
        "http://10.1.2.3/",
        "http://172.16.0.1/",
        "http://192.168.1.1/",
        "http://100.64.0.1/",
        "http://192.0.0.9/",
        "http://192.0.2.1/",
        "http://192.175.48.1/",
        "http://198.51.100.1/",
        "http://203.0.113.1/",
        "http://192.88.99.1/",
        "http://198.18.0.1/",
        "http://224.0.0.1/",
        "http://240.0.0.1/",
        "http://255.255.255.255/",
        "http://[::]/",
        "http://[::1]/",
        "http://[::7f00:1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:a00:1]/",
        "http://[64:ff9b::10.0.0.1]/",
        "http://[64:ff9b:1::a00:1]/",
        "http://[2002:a00:1::]/",
        "http://[2001:0:0:0:0:0:f5ff:fffe]/",
        "http://[fec0::1]/",
        "http://[fc00::1]/",
        "http://[ff02::1]/",
        "http://[2001:db8::1]/",
        "http://[2001:20::1]/",
        "http://[3fff::1]/",
        "http://[3fff:fff:ffff::1]/",
        "http://[5f00::1]/",
        "http://example.org:22/",
        "http://example.org:6379/",
    ],
)
def test_private_addresses_and_odd_ports_are_refused_unless_allowed(url: str) -> None:
    url = normalise_url(url)
    failure = refusal(url)
    assert failure is not None
    assert failure.kind is FailureKind.REFUSED_ADDRESS
    assert refusal(url, allow_private=True) is None


@pytest.mark.parametrize(
    "url",
    [
        "http://metadata.google.internal/computeMetadata/v1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://2852039166/",
        "http://0xa9.0xfe.0xa9.0xfe/",
        "http://169.254.170.2/v2/credentials",
        "http://168.63.129.16/",
        "http://100.100.100.200/",
        "http://192.0.0.192/",
        "http://[fe80::1]/",
        "http://[fd00:ec2::254]/",
        "http://[fd00:ec2::23]/",
        "http://[fd20:ce::254]/",
        "http://[::ffff:169.254.169.254]/",
        "http://[64:ff9b::169.254.169.254]/",
        "http://[2002:a9fe:a9fe::]/",
        "http://[2001:0:0:0:0:0:5601:5601]/",
    ],
)
def test_addresses_of_credentials_are_refused_even_where_private_ones_are_allowed(url: str) -> None:
    for allow_private in (False, True):
        failure = refusal(normalise_url(url), allow_private=allow_private)
        assert failure is not None
        assert failure.kind is FailureKind.REFUSED_ADDRESS


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/",
        "http://example.org:8080/",
        "https://example.org:8443/",
        "http://1.1.1.1/",
        "http://[2606:4700:4700::1111]/",
        "http://192.0.1.1/",
        "http://[2001:200::1]/",
        "http://[3ffe::1]/",
        "http://[::ffff:1.1.1.1]/",
        "http://[64:ff9b::1.1.1.1]/",
        "http://local.example.org/",
        "http://notlocalhost/",
    ],
)
def test_public_addresses_are_read(url: str) -> None:
    assert refusal(normalise_url(url)) is None


def test_other_schemes_are_refused_even_where_private_addresses_are_allowed() -> None:
    assert refusal("ftp://example.org/", allow_private=True) is not None
    assert refusal("nonsense", allow_private=True) is not None


@given(st.ip_addresses(v=4))
def test_an_address_is_no_more_public_inside_an_ipv6_one(address: ipaddress.IPv4Address) -> None:
    wrapped = literal_address(f"::ffff:{address}")
    assert wrapped is not None
    assert is_public(wrapped) == is_public(address)
    assert is_metadata(wrapped) == is_metadata(address)
    assert not (is_public(address) and is_metadata(address))
