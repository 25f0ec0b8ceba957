"""Typeset PDFs whose text is known: notes, tables over page ends, figures, running heads, columns, Arabic, Hebrew.

    pip install typst weasyprint fpdf2 uharfbuzz reportlab python-bidi arabic-reshaper
    python evals/reading/typeset/typeset_pdfs.py --text en.txt --language en --files 20 --to made [--fonts folder]

`--text` holds a paragraph or sentence a line. Each file is written as `NAME.pdf` beside `NAME.jats`, as
evals/reading/pdfs.py reads them: what is random is drawn from the file's number, so that a run can be repeated.
English is typeset by Typst and WeasyPrint; Arabic and Hebrew by these two, fpdf2 (shaped, drawn in visual order) and
ReportLab (in the order and the letter forms that are seen, as old programs write). Fonts: DejaVu, Amiri, Noto.
"""

from __future__ import annotations

import argparse
import html
import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import wrap

# A mark in the text that stands for its note: the note's number between two characters of the private area.
_MARK = re.compile("\ue000(\\d+)\ue001")
_RTL = ("ar", "he")


@dataclass
class Made:
    """A document: its parts in order, and what its notes say."""

    language: str
    title: str
    parts: list[tuple[str, object]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def plain(text: str) -> str:
    return _MARK.sub("", text)


def make(texts: list[str], language: str, choose: random.Random) -> Made:
    pool = choose.sample(texts, len(texts))
    made = Made(language, " ".join(plain(pool.pop()).split()[:6]).strip(" .,،:"))

    def with_notes(text: str) -> str:
        places = [found.end() for found in re.finditer(r"\d(?=[\s,.])|\w[.,](?=\s|$)", text)]
        if language == "en" and places and choose.random() < 0.45 and pool:
            at = choose.choice(places)
            made.notes.append(" ".join(pool.pop().split()[: choose.randint(6, 30)]).rstrip(" ,;:.") + ".")
            text = f"{text[:at]}\ue000{len(made.notes)}\ue001{text[at:]}"
        return text

    def table() -> list[list[str]]:
        columns = choose.randint(3, 5)
        words = [each for each in " ".join(pool[:40]).split() if each.isalpha() and len(each) > 3]
        head = [choose.choice(words).capitalize() for _ in range(columns)]
        kinds = ["word", *(choose.choice(["number", "word", "two", "share"]) for _ in head[1:])]
        rows = [head]
        for _ in range(choose.randint(6, 45)):
            row = []
            for kind in kinds:
                number = choose.choice([choose.randint(1, 99), choose.randint(1000, 99999)])
                row.append(
                    {
                        "word": choose.choice(words),
                        "two": f"{choose.choice(words)} {choose.choice(words)}",
                        "number": f"{number:,}",
                        "share": f"{choose.uniform(0, 100):.1f}",
                    }[kind]
                )
            rows.append(row)
        return rows

    for number in range(choose.randint(4, 7)):
        made.parts.append(("heading", " ".join(pool.pop().split()[: choose.randint(2, 4)]).strip(" .,،:;()\"'")))
        for _ in range(choose.randint(2, 6)):
            if len(pool) > 45:
                together = choose.randint(2, 5) if language in _RTL else 1
                text = " ".join(pool.pop() for _ in range(together))
                if language in _RTL and choose.random() < 0.5:
                    text += choose.choice(
                        [" (Open Data Charter 2015).", " – https://a.example/b?c=1.", " (WHO, 3.5%)."]
                    )
                made.parts.append(("paragraph", with_notes(text)))
        if number and choose.random() < 0.6:
            made.parts.append(("figure", " ".join(pool.pop().split()[:12]).rstrip(" ,;:.") + "."))
        if number and choose.random() < 0.55:
            made.parts.append(("table", table()))
    return made


def jats(made: Made) -> str:
    tell = html.escape
    parts = []
    for kind, said in made.parts:
        if isinstance(said, list):
            head, *rows = ["".join(f" <td>{tell(cell)}</td> " for cell in row) for row in said]
            body = "".join(f"<tr>{row}</tr>" for row in rows)
            parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
        else:
            name = {"heading": "title", "paragraph": "p", "figure": "caption"}[kind]
            parts.append(f"<{name}>{tell(plain(str(said)))}</{name}>")
    notes = "\n".join(f"<p>{tell(note)}</p>" for note in made.notes)
    inner = "\n".join(parts)
    front = f"<front><article-title>{tell(made.title)}</article-title></front>"
    return f"<article>{front}<body>{inner}\n{notes}</body></article>"


# Programs


def typst(made: Made, choose: random.Random, to: Path, fonts: Path | None) -> None:
    import typst as program

    def said(text: str) -> str:
        return "#" + json.dumps(text, ensure_ascii=False)

    def noted(text: str) -> str:
        parts = _MARK.split(text)
        return "".join(
            f"#footnote[{said(made.notes[int(part) - 1])}]" if at % 2 else said(part) if part else ""
            for at, part in enumerate(parts)
        )

    font = {
        "ar": ["Amiri", "Noto Naskh Arabic", "Noto Sans Arabic", "DejaVu Sans"],
        "he": ["Noto Serif Hebrew", "Noto Sans Hebrew", "FreeSerif", "DejaVu Sans"],
        "en": ["Libertinus Serif", "DejaVu Sans", "New Computer Modern", "DejaVu Serif"],
    }[made.language]
    size = choose.choice([9, 10, 11, 12])
    columns = choose.choice([1, 1, 2])
    header = choose.choice([said(made.title), f"#context counter(page).display() #h(1fr) {said(made.title)}", ""])
    numbering = choose.choice(['"1"', '"1 / 1"', "none", '"— 1 —"'])
    style = choose.choice(["first-line-indent: 1.2em, spacing: 0.65em", "spacing: 1.4em"])
    lines = [
        f"#set document(title: {json.dumps(choose.choice(['paper.dvi', made.title, '']), ensure_ascii=False)})",
        f'#set page(paper: "{choose.choice(["a4", "us-letter", "a5"])}", columns: {columns}, numbering: {numbering},'
        f" header: [{header}])",
        f'#set text(font: ("{choose.choice(font)}", "DejaVu Sans"), size: {size}pt, lang: "{made.language}",'
        f" hyphenate: {choose.choice(['true', 'false'])})",
        f"#set par(justify: {choose.choice(['true', 'true', 'false'])}, {style})",
        f"#set heading(numbering: {choose.choice(['none', chr(34) + '1.' + chr(34)])})",
        "#show figure: set block(breakable: true)",
        f"#align(center, text(size: {size * 1.8:g}pt)[{said(made.title)}])",
    ]
    for kind, what in made.parts:
        if isinstance(what, list):
            stroke = choose.choice(["none", "0.5pt", "(x, y) => if y == 0 {(bottom: 1pt)} else {none}"])
            repeat = choose.choice(["true", "false"])
            bold = choose.random() < 0.5
            small = 0.9 if len(what[0]) * columns < 8 else 0.6
            head = ", ".join(f"[*{said(c)}*]" if bold else f"[{said(c)}]" for c in what[0])
            cells = ", ".join(f"[{said(c)}]" for row in what[1:] for c in row)
            aligned = choose.choice(["left", "center", "(x, y) => if x == 0 {start} else {end}"])
            wide = choose.choice(["auto", "1fr"]) if len(what[0]) * columns < 5 else "auto"
            lines.append(
                f"#text(size: {small}em)[#table(columns: ({', '.join([wide] * len(what[0]))}), stroke: {stroke},"
                f" align: {aligned}, inset: {choose.choice([3, 5])}pt,"
                f" table.header(repeat: {repeat}, {head}), {cells})]"
            )
        elif kind == "heading":
            lines.append(f"= {said(str(what))}")
        elif kind == "figure":
            place = choose.choice(["placement: auto, ", "placement: top, ", ""])
            lines.append(
                f"#figure({place}rect(width: 60%, height: {choose.randint(60, 160)}pt), caption: [{said(str(what))}])"
            )
        else:
            lines.append(noted(str(what)))
        lines.append("")
    to.write_bytes(program.compile("\n".join(lines).encode(), font_paths=[str(fonts)] if fonts else []))


def weasyprint(made: Made, choose: random.Random, to: Path, fonts: Path | None) -> None:
    from weasyprint import HTML  # type: ignore[import-not-found]

    def noted(text: str) -> str:
        return _MARK.sub(
            lambda found: f'<span class="note">{html.escape(made.notes[int(found[1]) - 1])}</span>', html.escape(text)
        )

    parts = []
    for kind, what in made.parts:
        if isinstance(what, list):
            head, *rows = what
            tag = choose.choice(["thead", "tbody"])
            body = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in rows)
            heads = "".join(f"<th>{html.escape(c)}</th>" for c in head)
            parts.append(f"<table><{tag}><tr>{heads}</tr></{tag}><tbody>{body}</tbody></table>")
        elif kind == "figure":
            parts.append(
                f'<div class="box"></div><p class="caption">Figure {len(parts)}: {html.escape(str(what))}</p>'
            )
        else:
            tag = "h2" if kind == "heading" else "p"
            parts.append(f"<{tag}>{noted(str(what))}</{tag}>")
    direction = "rtl" if made.language in _RTL else "ltr"
    font = {"ar": ["Amiri", "Noto Naskh Arabic"], "he": ["Noto Serif Hebrew", "FreeSans"], "en": ["FreeSerif"]}
    style = choose.choice(["p {margin: 0; text-indent: 1.2em}", "p {margin: .6em 0}"])
    page = f"""<!doctype html><html lang="{made.language}" dir="{direction}">
<title>{html.escape(made.title)}</title><style>
@page {{size: {choose.choice(["A4", "Letter", "A5"])}; margin: 22mm;
 @top-center {{content: "{made.title.replace('"', "'")}"; font-size: 8pt}}
 @bottom-center {{content: counter(page); font-size: 8pt}}}}
body {{font: {choose.choice([10, 11])}pt {choose.choice(font[made.language])}, DejaVu Serif, serif;
 columns: {choose.choice([1, 1, 2])};
 text-align: {choose.choice(["justify", "start"])}; hyphens: auto}}
.note {{float: footnote; font-size: 80%}} {style} table {{border-spacing: 8px 2px}} .caption {{font-size: 85%}}
.box {{border: 1px solid; height: 60pt}} h1 {{column-span: all}}</style>
<h1>{html.escape(made.title)}</h1>{"".join(parts)}"""
    HTML(string=page).write_pdf(to)


def _font_file(language: str, fonts: Path | None, choose: random.Random) -> Path:
    names = {"ar": ["Amiri-Regular", "NotoNaskhArabic-Regular"], "he": ["NotoSerifHebrew-Regular", "FreeSerif"]}
    name = choose.choice(names[language]) + ".ttf"
    return next(iter((fonts or Path("/usr/share/fonts")).rglob(name)))


def fpdf2(made: Made, choose: random.Random, to: Path, fonts: Path | None) -> None:
    from fpdf import FPDF  # type: ignore[import-not-found]

    pdf = FPDF(format=choose.choice(["a4", "letter"]))
    file = str(_font_file(made.language, fonts, choose))
    pdf.add_font("own", fname=file)
    pdf.add_font("own", style="B", fname=file)
    pdf.add_font("latin", fname="/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")
    pdf.set_fallback_fonts(["latin"])
    pdf.set_text_shaping(use_shaping_engine=True, direction="rtl")
    pdf.add_page()
    for kind, what in made.parts:
        if isinstance(what, list):
            pdf.set_font("own", size=9)
            with pdf.table(text_align="RIGHT") as table:
                for row in what:
                    cells = table.row()
                    for cell in reversed(row):
                        cells.cell(cell)
            continue
        pdf.set_font("own", size=15 if kind == "heading" else 11)
        pdf.multi_cell(0, 8 if kind == "heading" else 6, plain(str(what)), align="R", new_x="LMARGIN", new_y="NEXT")
        pdf.ln(3)
    pdf.output(str(to))


def reportlab(made: Made, choose: random.Random, to: Path, fonts: Path | None) -> None:
    from arabic_reshaper import ArabicReshaper  # type: ignore[import-not-found]
    from bidi.algorithm import get_display  # type: ignore[import-not-found]
    from reportlab.pdfbase import pdfmetrics  # type: ignore[import-untyped]
    from reportlab.pdfbase.ttfonts import TTFont  # type: ignore[import-untyped]
    from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

    shape = ArabicReshaper(configuration={"delete_harakat": False}).reshape
    pdfmetrics.registerFont(TTFont("own", "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"))
    canvas, y, size = Canvas(str(to)), 780.0, choose.choice([9, 10, 11])

    def line(pieces: list[tuple[float, str]], size: float) -> None:
        nonlocal y
        if y < 70:
            canvas.showPage()
            y = 780
        for right, text in pieces:
            canvas.setFont("own", size)
            canvas.drawRightString(right, y, get_display(shape(text), base_dir="R"))
        y -= size * 1.5

    for kind, what in made.parts:
        if isinstance(what, list):
            for row in what:
                line([(540 - 110 * at, cell) for at, cell in enumerate(row)], size)
        else:
            for each in wrap(plain(str(what)), 75):
                line([(540, each)], size * 1.5 if kind == "heading" else size)
        y -= size
    canvas.save()


PROGRAMS: dict[str, Callable[[Made, random.Random, Path, Path | None], None]] = {
    each.__name__: each for each in (typst, weasyprint, fpdf2, reportlab)
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--language", choices=["en", "ar", "he"], required=True)
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--to", type=Path, required=True)
    parser.add_argument("--fonts", type=Path)
    arguments = parser.parse_args()
    arguments.to.mkdir(parents=True, exist_ok=True)
    texts = [" ".join(line.split()) for line in arguments.text.read_text().splitlines() if line.strip()]
    programs = list(PROGRAMS) if arguments.language in _RTL else ["typst", "weasyprint"]
    for number in range(arguments.files):
        choose = random.Random(f"{arguments.language} {number}")
        made = make(texts, arguments.language, choose)
        # Programs change from pair to pair, so that files of even and of odd numbers hold all of them.
        program = programs[number // 2 % len(programs)]
        path = arguments.to / f"{arguments.language}-{number:03}-{program}.pdf"
        PROGRAMS[program](made, choose, path, arguments.fonts)
        path.with_suffix(".jats").write_text(jats(made))


if __name__ == "__main__":
    main()
