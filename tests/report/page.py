# SPDX-License-Identifier: Apache-2.0
"""What sextant xani report puts into a page, read back without a browser and compared with the files."""
import base64
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import zlib

try:
    import h5py
    import numpy as np
except ImportError:
    print("skipped: python3-h5py is not installed")
    sys.exit(77)

SEXTANT = os.environ["SEXTANT"]


def run(*arguments, code=0, **more):
    done = subprocess.run([SEXTANT, *map(str, arguments)], capture_output=True, text=True, check=False, **more)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return done


class Page:
    """The description, and the blocks as arrays."""

    def __init__(self, path):
        text = open(path, encoding="utf-8").read()
        found = re.findall(r'id="description">(.*?)</script>', text, re.S)
        assert len(found) == 1
        self.description = json.loads(found[0])
        self.text, self.block = text, {}
        pattern = r'id="block-(\S+)" data-type="(\w+)" data-count="(\d+)">([^<]*)</script>'
        for name, dtype, count, packed in re.findall(pattern, text):
            planes = np.frombuffer(zlib.decompress(base64.b64decode(packed, validate=True)), np.uint8)
            size = np.dtype(dtype).itemsize
            assert planes.size == int(count) * size, name
            self.block[name] = np.ascontiguousarray(planes.reshape(size, -1).T).view("<" + np.dtype(dtype).str[1:]).ravel()


def check_maps(page, fit):
    """Of the strongest mode of pixels in state ok, to four digits."""
    ok = fit["state"][...] == 0
    amplitude = np.nan_to_num(np.where(ok, fit["amplitude"][...], -1), nan=-1)
    best = np.argmax(amplitude, axis=0)
    for name in ("frequency", "decay", "phase"):
        want = np.take_along_axis(fit[name][...], best[None], 0)[0]
        want = np.where(np.max(amplitude, 0) > 0, want, np.nan).ravel()
        got = page.block["map-" + name]
        assert np.array_equal(np.isnan(got), np.isnan(want)), name
        assert np.nanmax(np.abs(got / want - 1)) < 2.0**-13, name
    classes = next(m for m in page.description["maps"] if m["id"] == "class")["classes"]
    counts = [int(c["words"].split(": ")[1]) for c in classes]
    assert np.array_equal(np.bincount(page.block["map-class"]), counts) and sum(counts) == ok.size


def check_pixels(page, fit, cube):
    """Traces and parameters of the pixels that the page holds."""
    d, lattice = page.description, page.description["pixels"]
    rows = lattice["row0"] + lattice["step"] * np.arange(lattice["rows"])
    columns = lattice["column0"] + lattice["step"] * np.arange(lattice["width"])
    assert rows[-1] < d["frame"]["rows"] <= rows[-1] + lattice["step"]
    fields = page.block["pixels"].reshape(len(rows) * len(columns), -1)
    for name in ("offset", "chi2", "state", "frequency 0", "phase_errors 1"):
        word, _, mode = name.partition(" ")
        want = fit[word][...] if mode == "" else fit[word][int(mode)]
        got = fields[:, d["fields"].index(name)]
        assert np.array_equal(got, want[np.ix_(rows, columns)].ravel().astype("f4"), equal_nan=True), name
    nt, scale = len(d["signal"]["delay"]), page.block["trace-scale"].reshape(-1, 3)
    stored = page.block["trace-y"].reshape(-1, nt)
    got = np.where(stored == -32768, np.nan, scale[:, :1] + stored * scale[:, 1:2])
    masked = cube["mask"][...] != 0
    want = np.where(masked, np.nan, cube["signal"][...])[:, rows][:, :, columns].reshape(nt, -1).T
    assert np.array_equal(np.isnan(got), np.isnan(want))
    assert np.nanmax(np.abs(got - want) / scale[:, 1:2]) < 0.6
    sigma = page.block["trace-sigma"].reshape(-1, nt) * scale[:, 2:]
    want = cube["sigma"][...][:, rows][:, :, columns].reshape(nt, -1).T
    good = np.isfinite(got) & np.isfinite(want)
    assert np.max(np.abs(sigma - want)[good]) < np.nanmax(want) / 65535


def check_frames(page, cube):
    frames = page.description["frames"]
    shape = len(page.description["signal"]["delay"]), frames["rows"], frames["width"]
    stored = page.block["frames"].reshape(shape)
    got = np.where(stored == -128, np.nan, stored * frames["high"] / 127)
    want = np.where(cube["mask"][...] != 0, np.nan, 100 * cube["signal"][...])
    assert frames["bin"] == 1 and np.array_equal(np.isnan(got), np.isnan(want))
    inside = np.abs(want) <= frames["high"]
    assert np.mean(inside[np.isfinite(want)]) > 0.99
    assert np.max(np.abs(got - want)[inside]) <= 0.51 * frames["high"] / 127


def test_content(folder):
    cube, fit, html = (os.path.join(folder, n) for n in ("cube.h5", "fit.h5", "r.html"))
    run("xani", "simulate", "--shape", "24x40", "-o", cube)
    run("xani", "fit", cube, "-o", fit)
    done = run("xani", "report", fit, "-o", html, "--json")
    page = Page(html)
    with h5py.File(fit) as f, h5py.File(cube) as c:
        check_maps(page, f["fit"])
        check_pixels(page, f["fit"], c["cube"])
        check_frames(page, c["cube"])
        shots = next(x for x in page.description["curves"] if x["title"].startswith("shots"))
        assert np.array_equal(shots["ys"], c["cube/count"][...])
    summary = json.loads(done.stdout)
    assert summary["traces"] == 24 * 40 and summary["doubts"] == 0 and summary["checks"] == 4, summary
    assert page.text.count("</script>") == page.text.count("<script"), "a text ended its script"
    assert not re.search(r"(src|href)=.?https?:", page.text), "the page asks the network"
    run("xani", "report", fit, "-o", html, code=1)
    run("xani", "report", fit, fit, "-o", os.path.join(folder, "two.html"), code=1)
    run("xani", "report", fit, "-o", fit, "--overwrite", code=1)
    return cube, fit


def test_without_cube(folder, cube, fit):
    """The cube has moved: maps alone, and the cube named."""
    moved, html = os.path.join(folder, "<!--<script>.h5"), os.path.join(folder, "moved.html")
    os.rename(cube, moved)
    done = run("xani", "report", fit, "-o", html, "--json")
    assert json.loads(done.stdout)["traces"] == 0 and "trace-y" not in Page(html).block
    run("xani", "report", fit, moved, "-o", html, "--overwrite")
    page = Page(html)
    assert "trace-y" in page.block and "<!--" not in page.text
    assert any(f["path"] == moved for f in page.description["files"])
    run("xani", "report", moved, "-o", html, "--overwrite")
    assert "pixels" not in Page(html).block and "frames" in Page(html).block
    os.rename(moved, cube)


def backwards(cube, folder):
    """The same run with the sign of the delay lost."""
    path = os.path.join(folder, "backwards.h5")
    with h5py.File(cube) as c, h5py.File(path, "w") as out:
        for name in ("signal", "sigma", "count"):
            out["cube/" + name] = c["cube"][name][...][::-1]
        out["cube/delay"] = -c["cube/delay"][...][::-1]
        out["cube/delay"].attrs["units"] = "ps"
    return path


def test_doubts(folder, cube):
    done = run("xani", "report", backwards(cube, folder), "-o", os.path.join(folder, "b.html"), "--json")
    assert json.loads(done.stdout)["doubts"] == 1, done.stdout
    assert "sign" in done.stderr, done.stderr
    small = os.path.join(folder, "small.h5")
    with h5py.File(cube) as c, h5py.File(small, "w") as out:
        for name in ("signal", "delay", "count"):
            out["cube/" + name] = c["cube"][name][...]
        out["cube/sigma"] = 0.5 * c["cube/sigma"][...]
        out["cube/delay"].attrs["units"] = "ps"
    fit = os.path.join(folder, "small_fit.h5")
    run("xani", "fit", small, "-o", fit)
    done = run("xani", "report", fit, "-o", os.path.join(folder, "s.html"))
    assert "smaller than the scatter" in done.stderr, done.stderr


def test_single_trace(folder):
    csv, fit, html = (os.path.join(folder, n) for n in ("t.csv", "t_fit.h5", "t.html"))
    t = np.linspace(0, 10, 200)
    y = 0.1 * np.exp(-0.2 * t) * np.cos(2 * np.pi * t) + 0.01 * np.sin(1e4 * t**2)
    np.savetxt(csv, np.c_[t, y, 0 * t + 0.01], delimiter=",", header="t_ps,y,sigma", comments="")
    run("xani", "fit", csv, "-o", fit)
    run("xani", "report", fit, "-o", html)
    page = Page(html)
    assert page.description["maps"] == [] and page.block["trace-y"].size == 200


def test_dispersion(folder, fit):
    path, html = os.path.join(folder, "dispersion.h5"), os.path.join(folder, "d.html")
    with h5py.File(path, "w") as f:
        f["path/distance"], f["path/frequency"], f["path/frequency_errors"] = [0.1, 0.1, 0.4], [1, 2, 3.0], [0.1, 0.2, 0.3]
        f["path/label"], f["path/label_distance"] = np.array([b"G", b"X"]), [0, 0.5]
        f["path/band_distance"], f["path/bands"] = [0, 0.5], [[0, 1], [2, 3.0]]
        f["path"].attrs["branch"] = "half: of a test"
    for files in ([path], [fit, path]):
        run("xani", "report", *files, "-o", html, "--overwrite")
        page = Page(html)
        assert page.description["path"]["stops"] == [{"label": "G", "at": 0}, {"label": "X", "at": 0.5}]
        assert page.description["path"]["bands"] == 2 and list(page.block["path-frequency"]) == [1, 2, 3]
        assert list(page.block["bands"]) == [0, 1, 2, 3] and ("pixels" in page.block) == (len(files) == 2)


def test_zones(folder, fit):
    """Borders over the frame: pixels of one lattice point have one number."""
    path, html = os.path.join(folder, "zones.h5"), os.path.join(folder, "z.html")
    with h5py.File(fit) as f:
        shape = f["fit/state"].shape
    h = np.linspace(-1.4, 2.3, shape[1]) * np.ones(shape)
    k = np.linspace(-0.4, 0.9, shape[0])[:, None] * np.ones(shape)
    h[3, 4] = np.nan
    with h5py.File(path, "w") as f:
        for name, value in (("h", h), ("k", k), ("l", 0 * k)):
            f["pixels/" + name], f["pixels/zone_" + name] = value[None], (value - np.round(value))[None]
    run("xani", "report", fit, path, "-o", html)
    zone, want = Page(html).block["zones"].reshape(shape), np.round(h) + 10 * np.round(k)
    assert zone[3, 4] == 65535 and len(np.unique(zone)) == len(np.unique(want[np.isfinite(want)])) + 1
    assert all(len(np.unique(want[zone == z])) == 1 for z in np.unique(zone) if z < 65535)


def told(folder, fit, name, agreement="agree", **attributes):
    """What a report says of a cube and a dispersion that carry what reduction and dispersion found."""
    cube, path, html = (os.path.join(folder, name + end) for end in (".cube.h5", ".disp.h5", ".html"))
    with h5py.File(os.path.join(folder, "cube.h5")) as c, h5py.File(cube, "w") as out:
        c.copy("cube", out)
        out.create_group("cube/sums").attrs.update(attributes)
    with h5py.File(path, "w") as f:
        f["pixels/zone_h"] = np.zeros((1, 2))
        f["pixels"].attrs.update(agreement=agreement, alike=0.4, alike_by_chance=0.1, alike_otherwise=0.8)
    done = run("xani", "report", fit, cube, path, "-o", html, "--json")
    return json.loads(done.stdout)["doubts"], " ".join(c["words"] for c in Page(html).description["checks"]), done.stderr


def test_told(folder, fit):
    good = {"i0_correlation": 0.9, "on_change": 50.0, "off_change": 0.3, "time_tool_slope": 0.01, "time_tool_rms": 0.05,
            "sharpness": 30.0}
    doubts, words, _ = told(folder, fit, "good", **good)
    assert doubts == 0 and "correlation 0.90" in words and "sharper by 30.0" in words and "40 %" in words, words
    doubts, words, heard = told(folder, fit, "sign", warning_0="the sign of the time tool looks wrong: so",
                                warning_1="the labels of laser on and off look swapped: so", **good)
    assert doubts == 2 and "the labels of laser on and off look swapped" in words and "sign of the time tool" in heard
    doubts, words, heard = told(folder, fit, "mirror", "mirrored", **good)
    assert doubts == 1 and "80 %" in words and "looks mirrored" in heard, heard
    doubts, words, heard = told(folder, fit, "turned", "disagree", **good)
    assert doubts == 1 and "orientation (UB)" in heard, heard
    assert told(folder, fit, "few", "not told: too few equivalent pixels", **good)[0] == 0


def test_full_disk(folder, fit):
    html = os.path.join(folder, "full.html")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))

    before = set(os.listdir(folder))
    done = run("xani", "report", fit, "-o", html, code=1, preexec_fn=limit)
    assert "full.html cannot be written" in done.stderr and set(os.listdir(folder)) == before


with tempfile.TemporaryDirectory() as work:
    made = test_content(work)
    test_without_cube(work, *made)
    test_doubts(work, made[0])
    test_single_trace(work)
    test_dispersion(work, made[1])
    test_zones(work, made[1])
    test_told(work, made[1])
    test_full_disk(work, made[1])
