"""The evidence page in Chromium: hostile pages load and run nothing; keyboard, phone, dark, and paper."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest

from marchwarden.audit.evidence_page import evidence_page
from marchwarden.audit.verdict import evidence_of_trace
from marchwarden.trace.reader import find_trace
from tests.audit.calls import make_call
from tests.browsers import Browser, browser
from tests.hostile import HOSTILE, a_hostile_trace

__all__ = ["browser"]

pytestmark = pytest.mark.slow

# Contrast of text and background that WCAG 2 asks for (level AA).
CONTRAST = """
(() => {
  const light = color => {
    const parts = color.match(/[\\d.]+/g).slice(0, 3).map(part => {
      const share = part / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
  }
  const behind = element => {
    for (; element; element = element.parentElement) {
      const color = getComputedStyle(element).backgroundColor
      if (color !== 'rgba(0, 0, 0, 0)') return color
    }
    return 'rgb(255, 255, 255)'
  }
  const shown = [...document.querySelectorAll('body *')].filter(each => each.checkVisibility() &&
    [...each.childNodes].some(node => node.nodeType === 3 && node.data.trim()))
  return Math.min(...shown.map(each => {
    const [one, other] = [light(getComputedStyle(each).color), light(behind(each))]
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
  }))
})()
"""


def show(browser: Browser, page: Path) -> None:
    browser.ask("Page.enable")
    browser.ask("Network.enable")
    browser.ask("Page.navigate", url=page.as_uri())
    browser.until("document.readyState === 'complete' && location.href !== 'about:blank'")


def an_answer(folder: Path, cache_dir: Path) -> Path:
    make_call(folder, cache_dir)
    page = folder / "page.html"
    page.write_bytes(evidence_page(evidence_of_trace(find_trace(folder / "traces"))))
    return page


def test_pages_full_of_markup_load_and_run_nothing(browser: Browser, tmp_path: Path) -> None:
    for number, text in enumerate([*HOSTILE.values(), " ".join(HOSTILE.values())]):
        folder = tmp_path / str(number)
        folder.mkdir()
        page = folder / "page.html"
        page.write_bytes(evidence_page(evidence_of_trace(a_hostile_trace(folder, text))))
        browser.told.clear()
        show(browser, page)
        browser.run("document.querySelectorAll('details').forEach(each => each.open = true)")
        browser.run("new Promise(done => setTimeout(done, 50))")
        asked = [each["params"]["request"]["url"] for each in browser.told if each["method"].endswith("WillBeSent")]
        assert asked == [page.as_uri()]
        assert "Page.javascriptDialogOpening" not in {each["method"] for each in browser.told}
        assert browser.run("document.querySelectorAll('script, img, iframe, object, embed, form, base').length") == 0
        assert browser.run("document.querySelectorAll('mark').length") >= 3
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert browser.run(wide) <= 0, text


def test_it_is_used_with_the_keyboard(browser: Browser, tmp_path: Path, cache_dir: Path) -> None:
    show(browser, an_answer(tmp_path, cache_dir))
    reached: list[Any] = []
    for _ in range(40):
        browser.press("Tab", with_alt=False)
        reached.append(browser.run("document.activeElement.getAttribute('href')"))
        if reached[-1] == "#quote-1":
            break
    assert reached[0] == "#answer", "the first key skips what stands before the answer"
    assert reached[-1] == "#quote-1"
    assert browser.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    browser.press("Enter", with_alt=False)
    browser.until("location.hash === '#quote-1'")
    place = "document.querySelector('#quote-1').getBoundingClientRect()"
    browser.until(f"{place}.top >= 0 && {place}.bottom <= innerHeight")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_it_is_read_in_light_and_dark_on_a_phone_and_a_desk(
    browser: Browser, tmp_path: Path, cache_dir: Path, scheme: str, width: int
) -> None:
    browser.ask(
        "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 1000
    )
    browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    show(browser, an_answer(tmp_path, cache_dir))
    assert browser.run("document.documentElement.scrollWidth") <= width
    dark = browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(20, 22, 24)"
    assert dark == (scheme == "dark")
    assert browser.run(CONTRAST) >= 4.5
    browser.run("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_on_paper_every_step_and_quote_is_there(browser: Browser, tmp_path: Path, cache_dir: Path) -> None:
    from marchwarden.reading.page import read_page

    page = an_answer(tmp_path, cache_dir)
    show(browser, page)
    body = base64.b64decode(browser.ask("Page.printToPDF")["data"])
    read = read_page(body, url="https://paper.example/", content_type="application/pdf")
    words = re.sub(r"\s+", "", getattr(read, "text", ""))
    assert "342chestsofteawentintotheharbour" in words
    assert "museum.example" in words
