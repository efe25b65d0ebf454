# SPDX-License-Identifier: Apache-2.0
"""sextant read and info from outside: checksums, .npy files, layouts, sentences. h5py and numpy are the referees.

read.py, with SEXTANT in the environment; 77 without h5py
"""
import contextlib
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

SEXTANT = os.environ["SEXTANT"]
PRIMES = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261)
WORD = (1 << 64) - 1


def xxh64(data):
    """XXH64, seed 0, after its specification: the checksum by another hand."""
    p1, p2, p3, p4, p5 = PRIMES
    rotate = lambda x, r: ((x << r) | (x >> (64 - r))) & WORD
    mix = lambda lane, word: rotate((lane + word * p2) & WORD, 31) * p1 & WORD
    words = lambda at: int.from_bytes(data[at : at + 8], "little")
    at = 0
    if len(data) >= 32:
        lanes = [(p1 + p2) & WORD, p2, 0, -p1 & WORD]
        for at in range(0, len(data) - 31, 32):
            lanes = [mix(lane, words(at + 8 * i)) for i, lane in enumerate(lanes)]
        at += 32
        h = sum(rotate(lane, r) for lane, r in zip(lanes, (1, 7, 12, 18))) & WORD
        for lane in lanes:
            h = ((h ^ mix(0, lane)) * p1 + p4) & WORD
    else:
        h = p5
    h = (h + len(data)) & WORD
    for at in range(at, len(data) - 7, 8):
        h = (rotate(h ^ mix(0, words(at)), 27) * p1 + p4) & WORD
    at = len(data) - len(data) % 8
    if len(data) % 8 >= 4:
        h = (rotate(h ^ (int.from_bytes(data[at : at + 4], "little") * p1 & WORD), 23) * p2 + p3) & WORD
        at += 4
    for byte in data[at:]:
        h = rotate(h ^ (byte * p5 & WORD), 11) * p1 & WORD
    h = (h ^ h >> 33) * p2 & WORD
    h = (h ^ h >> 29) * p3 & WORD
    return f"{h ^ h >> 32:016x}"


def sextant(*arguments, **options):
    return subprocess.run([SEXTANT, "read", *map(str, arguments)], capture_output=True, text=True, errors="surrogateescape", **options)


def read(*arguments):
    """The report of a reading that must succeed."""
    run = sextant(*arguments, "--json")
    assert run.returncode == 0 and run.stderr == "", (arguments, run)
    return json.loads(run.stdout)


def refused(words, *arguments, status=1, **options):
    """One sentence that holds the words, nothing on stdout, nothing written."""
    before = sorted(pathlib.Path().rglob("*"))
    run = sextant(*arguments, **options)
    assert run.returncode == status, (arguments, run)
    assert words in run.stderr and run.stderr.count("\n") == 1, (arguments, words, run.stderr)
    assert run.stderr.startswith("sextant read: ") and run.stdout == "", (arguments, run)
    assert sorted(pathlib.Path().rglob("*")) == before, f"{arguments} left something"


def same(name, expected, *arguments, file="all.h5"):
    """Report, checksum and .npy of a box are those of an array of numpy."""
    little = np.ascontiguousarray(expected, expected.dtype.newbyteorder("<")).reshape(expected.shape)
    pathlib.Path("out.npy").unlink(missing_ok=True)
    report = read(file, name, "-o", "out.npy", "--verify", *arguments)
    assert report["shape"] == list(expected.shape)[: len(report["shape"])], (name, report)
    assert report["bytes"] == expected.nbytes and report["verified"] is True, (name, report)
    assert report["xxh64"] == xxh64(little.tobytes()), (name, report, xxh64(little.tobytes()))
    loaded = np.load("out.npy")
    assert loaded.dtype == little.dtype and loaded.shape == little.shape, (name, loaded.dtype, loaded.shape)
    assert loaded.tobytes() == little.tobytes(), name
    return report


def bytes_of(array):
    return np.frombuffer(array.tobytes(), np.uint8).reshape(*array.shape, array.dtype.itemsize)


assert xxh64(b"") == "ef46db3751d8e999" and xxh64(b"abc") == "44bc2cf5ad770999"
generator = np.random.default_rng(20261130)
with contextlib.ExitStack() as stack:
    os.chdir(stack.enter_context(tempfile.TemporaryDirectory()))
    frames = generator.integers(0, 4000, (20, 33, 47), np.uint16)
    record = np.array([(1, 2.5, -3), (4, 5.5, 6)], [("a", "<i4"), ("b", "<f8"), ("c", "<i2")])
    with h5py.File("all.h5", "w") as f:
        f["frames"] = frames
        f.create_dataset("deep/gzip", data=frames, chunks=(3, 10, 47), compression="gzip", shuffle=True, fletcher32=True)
        f["abc"] = np.frombuffer(b"abc", np.uint8)
        f["big"] = np.linspace(-1, 1, 77).astype(">f8")
        f["scalar"] = np.float32(0.1)
        f["empty"] = np.empty((3, 0, 2), np.int32)
        f["null"] = h5py.Empty("f4")
        f["truth"] = np.array([True, False, True])
        f["half"] = np.linspace(0, 3, 9).astype(np.float16)
        f["record"] = record
        f["word"] = np.array([b"one", b"three"])
        f["words"] = np.array(["one", "three"], object)
        f["lists"] = np.array([np.arange(2), np.arange(3)], h5py.vlen_dtype(np.int32))
        f["link"] = np.array([f["abc"].ref], h5py.ref_dtype)
        holes = f.create_dataset("holes", (10, 10), np.int16, chunks=(5, 5), fillvalue=7)
        holes[:5] = 1
        f.create_dataset("nan", (4,), np.float64, chunks=(2,), fillvalue=np.nan)
        layout = h5py.VirtualLayout((4, 77), ">f8")
        for i, source in enumerate(("all.h5", "gone.h5")):
            layout[2 * i] = h5py.VirtualSource(source, "big", (77,))
            layout[2 * i + 1] = h5py.VirtualSource(source, "big", (77,))
        f.create_virtual_dataset("half_gone", layout)
        layout = h5py.VirtualLayout((2, 77), ">f8")
        layout[0] = layout[1] = h5py.VirtualSource("all.h5", "big", (77,))
        f.create_virtual_dataset("virtual", layout)

    # Values
    assert read("all.h5", "/abc")["xxh64"] == "44bc2cf5ad770999"
    assert read("all.h5", "empty")["xxh64"] == "ef46db3751d8e999"
    same("frames", frames)
    same("/deep/gzip", frames)
    same("frames", frames[3:9, 5:6, :], "--box", "3:9,5,:")
    same("deep/gzip", frames[2:20, :, 40:], "--box", "2:,:33,40:47", "--threads", 1)
    same("big", np.linspace(-1, 1, 77).astype(">f8"))
    same("scalar", np.float32(0.1)[()].reshape(()))
    same("empty", np.empty((3, 0, 2), np.int32))
    same("truth", np.array([1, 0, 1], np.uint8))
    same("half", np.linspace(0, 3, 9).astype(np.float16).astype(np.float32))
    same("virtual", np.stack([np.linspace(-1, 1, 77)] * 2))
    half = same("half_gone", np.stack([np.linspace(-1, 1, 77)] * 2), "--box", "0:2,:")
    assert half["start"] == [0, 0]
    with h5py.File("all.h5") as f:
        filled = f["holes"][:]
    report = sextant("all.h5", "frames")
    for line in ("shape    20x33x47\n", "type     uint16\n", "bytes    62040\n", "GB/s\n", "path     ", "xxh64    "):
        assert line in report.stdout, (line, report.stdout)
    assert "verify   equal to H5Dread" in sextant("all.h5", "frames", "--verify").stdout
    assert "type     no numbers: the 14 bytes of each element\n" in sextant("all.h5", "record").stdout
    quiet = sextant("all.h5", "frames", "-q", "--verify")
    assert quiet.returncode == 0 and quiet.stdout == quiet.stderr == "", quiet

    # What is no number is read as its bytes, or refused
    same("record", bytes_of(record))
    same("word", bytes_of(np.array([b"one", b"three"])))
    same("record", bytes_of(record[1:]), "--box", "1")
    refused("all.h5:words holds text", "all.h5", "words")
    refused("all.h5:lists holds", "all.h5", "lists", "-o", "lists.npy")
    refused("all.h5:link holds", "all.h5", "link")
    refused("all.h5:null is empty", "all.h5", "null")

    # What was never written
    refused("nothing was ever written at element 5 of its first axis", "all.h5", "holes", "-o", "holes.npy")
    same("holes", filled, "--missing", "fill")
    same("holes", filled[:5], "--box", ":5,:")
    same("nan", np.full(4, np.nan))
    refused("--missing: 'zero' is none of error|fill", "all.h5", "holes", "--missing", "zero", status=2)
    refused("gone.h5", "all.h5", "half_gone", "--missing", "fill")

    # Names that would steer a terminal, and that are no UTF-8
    with h5py.File("names.h5", "w") as file:
        file["red\033[31m\nline"] = 1
        file[b"caf\xe9"] = 1
    refused("the file holds /caf\udce9, /red?[31m?line (2 in all)", "names.h5", "none")
    assert json.loads(sextant("names.h5", "caf\udce9", "--json").stdout)["dataset"] == "caf?"

    # HDF5 cannot close a dataset that is made of itself, and would say so at the end; what it then
    # keeps is not a leak of ours
    with h5py.File("itself.h5", "w") as file:
        layout = h5py.VirtualLayout((4,), "i4")
        layout[0:2] = h5py.VirtualSource(".", "x", (4,))[2:4]
        file.create_virtual_dataset("x", layout)
    itself = sextant("itself.h5", "x", "--missing", "fill", "--verify",
                     env=os.environ | {"LSAN_OPTIONS": "detect_leaks=0", "ASAN_OPTIONS": "detect_leaks=0"})
    assert itself.returncode == 0 and itself.stderr == "", itself

    # More than the disk has room for
    with h5py.File("vast.h5", "w") as file:
        file.create_dataset("x", (1 << 60,), "u1", chunks=(1 << 20,))
    refused("vast.npy needs 1152921504606846976 bytes, its disk has room for", "vast.h5", "x", "--missing", "fill", "-o", "vast.npy")

    # Boxes
    refused("all.h5:frames has 3 axes, the box has 2", "all.h5", "frames", "--box", "0:2,3")
    refused("all.h5:scalar has 0 axes, the box has 1", "all.h5", "scalar", "--box", "0")
    refused("the box asks for 0 to 48 of axis 2, which has 47", "all.h5", "frames", "--box", ":,:,:48")
    refused("the box asks for 20 to 21 of axis 0, which has 20", "all.h5", "frames", "--box", "20,0,0", "-o", "no.npy")
    refused("'3:3' of '3:3,:,:' is no part of an axis", "all.h5", "frames", "--box", "3:3,:,:", status=2)
    refused("'x' of ':,x' is no part of an axis", "all.h5", "frames", "--box", ":,x", status=2)

    # Names
    refused("all.h5 has no dataset frame; nearest is /frames", "all.h5", "frame")
    refused("all.h5:deep is a group, not a dataset", "all.h5", "deep")
    refused("nowhere.h5: no such file", "nowhere.h5", "frames")
    refused("an argument is missing: sextant read FILE DATASET", "all.h5", status=2)
    refused("'b' is one argument too many", "all.h5", "a", "b", status=2)

    # Files
    whole = pathlib.Path("all.h5").read_bytes()
    pathlib.Path("cut.h5").write_bytes(whole[: len(whole) // 2])
    refused(f"cut.h5 is truncated: {len(whole) // 2} bytes on disk, HDF5 expects {len(whole)}", "cut.h5", "frames")
    pathlib.Path("flipped.h5").write_bytes(whole)
    with h5py.File("flipped.h5", "r+") as f:
        at = f["deep/gzip"].id.get_chunk_info(2)
        place, size = at.byte_offset + at.size // 2, at.size
    with open("flipped.h5", "r+b") as f:
        f.seek(place)
        byte = f.read(1)[0]
        f.seek(place)
        f.write(bytes([byte ^ 255]))
    refused("flipped.h5:deep/gzip", "flipped.h5", "deep/gzip", "-o", "flipped.npy")

    # Outputs
    pathlib.Path("kept.npy").write_text("mine")
    refused("kept.npy exists; it is kept unless --overwrite is given", "all.h5", "frames", "-o", "kept.npy")
    refused("all.h5 is the input all.h5", "all.h5", "frames", "-o", "all.h5", "--overwrite")
    refused("no/such.npy cannot be written: the folder no", "all.h5", "frames", "-o", "no/such.npy")
    refused(". is a folder", "all.h5", "frames", "-o", ".")
    assert pathlib.Path("kept.npy").read_text() == "mine"
    assert read("all.h5", "frames", "-o", "kept.npy", "--overwrite")["output"] == "kept.npy"
    assert (np.load("kept.npy") == frames).all()
    small = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    refused("full.npy cannot be written", "all.h5", "frames", "-o", "full.npy", preexec_fn=small)

    # info: layout, chunks, path, advice
    stack_of = generator.poisson(2, (64, 256, 700)).astype(np.uint16)
    with h5py.File("info.h5", "w") as f:
        f.create_dataset("frames", data=stack_of, chunks=(1, 256, 700), compression="gzip", compression_opts=1)
        f.create_dataset("tiles", data=stack_of, chunks=(64, 16, 16))
        f.create_dataset("part", (100, 100), np.float32, chunks=(10, 100), scaleoffset=2)[:50] = 1
        f["plain"] = stack_of[0]
        loop = f.create_group("loop")
        loop["back"] = loop
        f["also"] = f["plain"]
    told = subprocess.run([SEXTANT, "info", "info.h5"], capture_output=True, text=True, check=True).stdout
    for line in (
        "uint16 64x256x700, chunks 1x256x700, deflate, ",
        "    slow for traces: one pixel through all 64 frames decodes 23 of 23 MB\n    h5repack -l '/frames:CHUNK=",
        "    slow for frames: one of them lies in 11200 runs of 32 bytes\n    h5repack -l '/tiles:CHUNK=",
        "chunks 10x100, scaleoffset, 5 of 10 chunks written, ",
        "    read through H5Dread, one thread at a time: filter 6 (scale-offset)",
        "uint16 256x700, contiguous\n",
    ):
        assert line in told, (line, told)
    assert told.count("uint16 256x700") == 1 and "/loop/back" not in told, told
    told = subprocess.run([SEXTANT, "info", "info.h5", "--json"], capture_output=True, text=True, check=True).stdout
    objects = {item["name"]: item for item in json.loads(told)["objects"]}
    with h5py.File("info.h5") as f:
        for name in ("frames", "tiles", "part"):
            found, item = f[name], objects["/" + name]
            assert item["layout"] == "chunked" and item["stored_bytes"] == found.id.get_storage_size(), item
            assert item["chunks_stored"] == found.id.get_num_chunks() and item["bytes"] == found.nbytes, item
    assert objects["/part"]["path"] == "library" and objects["/frames"]["path"] == "direct"
    assert objects["/frames"]["filters"] == "gzip" and objects["/also"]["layout"] == "contiguous"
    # The command mends what it says, and keeps the filters
    for name in ("frames", "tiles"):
        command = objects["/" + name]["advice"].splitlines()[-1]
        if shutil.which("h5repack"):
            subprocess.run(command, shell=True, check=True)
            told = subprocess.run([SEXTANT, "info", "NEW.h5", "--json"], capture_output=True, text=True, check=True)
            new = {item["name"]: item for item in json.loads(told.stdout)["objects"]}["/" + name]
            assert new["advice"] == "" and new["filters"] == objects["/" + name]["filters"], new
    # Nested as deep as files go: by path each level would cost as many look-ups
    with h5py.File("deep.h5", "w", libver="latest") as f:
        group = f
        for _ in range(2000):
            group = group.create_group("g")
        group["x"] = 1.5
    computing = lambda: resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
    told = subprocess.run([SEXTANT, "info", "deep.h5"], capture_output=True, text=True, preexec_fn=computing)
    assert told.stdout.startswith("/g" * 2000 + "/x") and told.returncode == 0, told.stderr

    # More than one band: 280 MB, of which nothing lies on the disk
    with h5py.File("large.h5", "w") as f:
        large = f.create_dataset("large", (280, 1000, 1000), np.uint8, chunks=(50, 500, 1000))
        large[279, 999, 999] = 1
    bands = read("large.h5", "large", "--missing", "fill")
    assert bands["bytes"] == 280_000_000, bands
    parts = read("large.h5", "large", "--missing", "fill", "--verify", "-o", "large.npy", "--threads", 2)
    loaded = np.load("large.npy", mmap_mode="r")
    assert parts["xxh64"] == bands["xxh64"] and loaded.shape == (280, 1000, 1000)
    assert loaded[279, 999, 999] == 1 and int(loaded.sum(dtype=np.int64)) == 1

print("all as it should be")
