"""Bodies that tests read: an article long enough to be taken for one, and a PDF written by hand."""

from __future__ import annotations

import gzip

ARTICLE = "".join(
    f"<p>{sentence}</p>"
    for sentence in [
        "Tomatoes, peppers and squash grow well in the warm valleys of northern Utah from May to September.",
        "Gardeners along the Wasatch Front sow peas and spinach in the second half of March.",
        "The last spring frost in Salt Lake City falls on average in the last days of April.",
        "Alkaline soils tie up iron, so that raspberries and peaches show yellow leaves with green veins.",
    ]
)


def html(body: str, head: str = "<title>Garden crops</title>", language: str = "en") -> bytes:
    page = (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">{head}</head><body>{body}</body></html>'
    )
    return page.encode("utf-8", "surrogatepass")


def article(extra: str = "", head: str = "<title>Garden crops</title>") -> bytes:
    return html(f"<main><article><h1>Garden crops</h1>{ARTICLE}{extra}</article></main>", head)


def pdf(lines: list[str], info: str = "") -> bytes:
    """A PDF of one page with these lines of text (ASCII), and the entries of its information dictionary."""
    shown = " T* ".join(f"({line}) Tj" for line in lines)
    stream = f"BT /F1 12 Tf 14 TL 72 720 Td {shown} ET" if lines else ""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        " /Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< {info} >>",
    ]
    body, offsets = "%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{each}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    body += (
        f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R /Info 6 0 R >>\n"
        f"startxref\n{len(body)}\n%%EOF"
    )
    return body.encode("ascii")


def pdf_pages(*pages: list[tuple[float, float, float, str]], info: str = "") -> bytes:
    """A PDF whose pages show these texts (ASCII): left, bottom, size and text of each, in the order of drawing."""
    kids = " ".join(f"{3 + 2 * number} 0 R" for number in range(len(pages)))
    font = 3 + 2 * len(pages)
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>"]
    for number, shown in enumerate(pages):
        escaped = [
            (left, bottom, size, text.replace("(", r"\(").replace(")", r"\)")) for left, bottom, size, text in shown
        ]
        stream = "\n".join(
            f"BT /F1 {size:g} Tf {left:g} {bottom:g} Td ({text}) Tj ET" for left, bottom, size, text in escaped
        )
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {4 + 2 * number} 0 R"
            f" /Resources << /Font << /F1 {font} 0 R >> >> >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    objects += ["<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>", f"<< {info} >>"]
    body, offsets = "%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{each}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    body += (
        f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n"
        f"<< /Size {size} /Root 1 0 R /Info {font + 1} 0 R >>\nstartxref\n{len(body)}\n%%EOF"
    )
    return body.encode("ascii")


def gzipped(body: bytes, level: int = 9) -> bytes:
    """The same bytes whenever it is called: gzip writes the time into its head, and tests are named after bytes."""
    return gzip.compress(body, level, mtime=0)
