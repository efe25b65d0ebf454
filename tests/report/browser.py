# SPDX-License-Identifier: Apache-2.0
"""A report in a browser without a screen: it draws itself, a pixel is clicked, its numbers are those of the fit."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import h5py
except ImportError:
    print("skipped: python3-h5py is not installed")
    sys.exit(77)

SEXTANT = os.environ["SEXTANT"]
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
if not BROWSER:
    print("skipped: chromium is not installed")
    sys.exit(77)

# A click into the middle of pixel (row, column) of the first map, after a move that asks for its value.
CLICK = """<script>
setTimeout(() => {
  const canvas = document.querySelector("canvas"), box = canvas.getBoundingClientRect();
  const side = Math.min((box.width - 52) / %d, (box.height - 40) / %d);
  const at = { clientX: box.left + 44 + (%d + 0.5) * side, clientY: box.top + 6 + (%d + 0.5) * side, pointerId: 1 };
  canvas.setPointerCapture = () => {};
  canvas.dispatchEvent(new PointerEvent("pointermove", at));
  canvas.dispatchEvent(new PointerEvent("pointerdown", at));
  canvas.dispatchEvent(new PointerEvent("pointerup", at));
}, 300);
</script></body>"""


def look(page, folder, anchor=""):
    """The page as the browser leaves it."""
    done = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/browser",
         "--enable-logging=stderr", "--window-size=1400,2000", "--virtual-time-budget=4000", "--dump-dom",
         f"file://{page}{anchor}"],
        capture_output=True, text=True, timeout=100, check=True)
    errors = re.findall(r"CONSOLE.*?Uncaught.*", done.stderr)
    assert not errors, errors
    assert 'data-ready="yes"' in done.stdout, "the page did not come to its end"
    return done.stdout


def frequency_shown(dom):
    cell = re.search(r"<th>1</th><td>([^<]*)</td>", dom).group(1)
    return float(re.sub(r"\(\d+\)", "", cell)), cell


with tempfile.TemporaryDirectory() as work:
    cube, fit, html, clicked = (os.path.join(work, n) for n in ("cube.h5", "fit.h5", "r.html", "clicked.html"))
    subprocess.run([SEXTANT, "xani", "simulate", "--shape", "32x32", "-o", cube, "-q"], check=True)
    subprocess.run([SEXTANT, "xani", "fit", cube, "-o", fit, "-q"], check=True)
    subprocess.run([SEXTANT, "xani", "report", fit, "-o", html, "-q"], check=True)
    with h5py.File(fit) as f:
        state, modes, frequency = f["fit/state"][...], f["fit/modes"][...], f["fit/frequency"][0]
        errors = f["fit/frequency_errors"][0]
    row, column = next((r, c) for r in range(9, 32) for c in range(4, 32) if state[r, c] == 0 and modes[r, c] > 0)

    first = look(html, work)
    assert first.count("<canvas") >= 8 + 3 and first.count('class="chart"') == 5
    assert "Pixel in row" in first

    linked = look(html, work, f"#pixel={row},{column}")
    text = open(html, encoding="utf-8").read()
    with open(clicked, "w", encoding="utf-8") as out:
        out.write(text.replace("</body>", CLICK % (32, 32, column, row)))
    for dom in (linked, look(clicked, work)):
        assert f"Pixel in row {row}, column {column}<" in dom, re.findall(r"Pixel in row[^<]*", dom)
        value, cell = frequency_shown(dom)
        assert "(" in cell and abs(value - frequency[row, column]) < errors[row, column], (cell, frequency[row, column])
