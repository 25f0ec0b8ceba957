"""Typeset the PDFs beside this file, whose text tests/reading/files/test_typeset_pdf.py knows.

    pip install typst weasyprint
    python tests/reading/files/typeset/make_typeset.py --fonts folder

`folder` holds the fonts Amiri and Noto Serif Hebrew (Debian's fonts-hosny-amiri and fonts-noto-core).
"""

from __future__ import annotations

import argparse
from pathlib import Path

HERE = Path(__file__).parent

ARABIC = """
#set page(width: 300pt, height: 220pt, margin: 30pt, numbering: "1")
#set text(font: "Amiri", size: 11pt, lang: "ar")
#set par(justify: true)
بُنيت المدرسة عام 1928 على مساحة 3.5 هكتار، وفيها 42 صفاً (Open Data Charter 2015). زارها الوزير يوم
الإثنين، وقال إن "العمل مستمرٌ" في البناء. لا يزال السوق القديم مفتوحاً.

#table(columns: 3, stroke: none,
  table.header[*المدينة*][*السكان*][*السنة*],
  [عدن], [1,080], [2014], [حلب], [2,098], [2015], [أربيل], [879], [2016])
"""

HEBREW = """<!doctype html><html lang="he" dir="rtl"><title>גינה</title><style>
@page {size: 400px 300px; margin: 30px} p {margin: 0; text-indent: 15px}
body {font: 11px Noto Serif Hebrew; columns: 2; column-gap: 14px; text-align: justify}</style>
<p>האפונה נזרעת במרץ, כאשר האדמה יבשה די הצורך. היא מטפסת עד 2.5 מטר, ולכן צריכה רשת (WHO, 2019). שורה של
עשרה מטרים נותנת כארבעה קילוגרמים.</p>
<p>השעועית נזרעת במאי, כי לילה של כפור הורג אותה. את התרמילים קוטפים מיולי ועד ספטמבר, כל 2–3 ימים, כשהם
עדיין צעירים. השעועית היבשה נשארת על השיח עד שהעלים נושרים בסתיו.</p></html>"""

ENGLISH = """<!doctype html><html lang="en"><title>paper.dvi</title><style>
@page {size: 330px 260px; margin: 26px 20px; @top-center {content: "Garden Letters"; font-size: 7px}
 @bottom-center {content: counter(page); font-size: 7px}}
body {font: 11px DejaVu Serif; text-align: justify; hyphens: auto} p {margin: 0; text-indent: 12px}
h1 {font-size: 18px; margin: 0} .note {float: footnote; font-size: 8px} table {border-spacing: 7px 1px}</style>
<h1>Peas and beans</h1>
<p>Traditional gardeners sow peas in March, as soon as the soil is sufficiently dry to be cultivated. The town had
4,200<span class="note">By the count of 1928, which left out the village.</span> inhabitants then, and its municipal
administration distributed agricultural implements among the twentieth-century settlers of the surrounding districts.
Experienced horticulturists recommend intermediate temperatures, extraordinarily careful irrigation and
well-prepared compost.<span class="note">In a dry year the beds are watered twice.</span> Representatives of the
neighbourhood's associations subsequently established a demonstration garden.</p>
<table><thead><tr><th>Crop</th><th>Sown in</th><th>Soil</th></tr></thead>
<tr><td>Peas</td><td>March</td><td>loam</td></tr><tr><td>Beans</td><td>May</td><td>sand</td></tr>
<tr><td>Leeks</td><td>April</td><td>clay</td></tr><tr><td>Kale</td><td>June</td><td>loam</td></tr>
<tr><td>Beets</td><td>April</td><td>silt</td></tr><tr><td>Chard</td><td>May</td><td>loam</td></tr>
<tr><td>Cress</td><td>August</td><td>sand</td></tr><tr><td>Onions</td><td>March</td><td>loam</td></tr>
</table></html>"""


def main() -> None:
    import typst
    from weasyprint import HTML

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fonts", type=Path, required=True)
    arguments = parser.parse_args()
    (HERE / "arabic.pdf").write_bytes(typst.compile(ARABIC.encode(), font_paths=[str(arguments.fonts)]))
    HTML(string=HEBREW).write_pdf(HERE / "hebrew.pdf")
    HTML(string=ENGLISH).write_pdf(HERE / "english.pdf")


if __name__ == "__main__":
    main()
