# SPDX-License-Identifier: Apache-2.0
"""Reads every dataset that h5py can read and compares: all of it, four boxes, and as float32. Prints the count per folder.

coverage.py READ_BOXES [FOLDER...]

Without folders those of SEXTANT_DATA; 77 where that is absent. Exit 1 where values differ, a process dies that h5py
survives, or too few numeric datasets are read by threads of ours.
"""
import collections
import faulthandler
import json
import os
import pathlib
import random
import resource
import subprocess
import sys

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

BOXES = 4
LARGEST = 1 << 25  # bytes that are read at once
WANTED = 0.9  # share of contiguous, chunked and virtual numeric datasets on the direct path
SECONDS = 60  # of computing for a file: an endless loop counts as a death
KINDS = "equal direct", "equal library", "refused", "sextant only", "not judged", "different", "died"
BITSHUFFLE, ZSTD = 32008, 3


class Reader:
    """A read_boxes on one file."""

    def __init__(self, program, path):
        self.process = subprocess.Popen([program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def read(self, name, box=None, dtype="-"):
        """(words, bytes) of an answer; words[0] is "ok", "no" or "died"."""
        axes = -1 if box is None else len(box)
        numbers = [axis.start for axis in box or ()] + [axis.stop - axis.start for axis in box or ()]
        request = b"%d\n%s%s %d %s\n" % (len(name), name, dtype.encode(), axes, " ".join(map(str, numbers)).encode())
        try:
            self.process.stdin.write(request)
            self.process.stdin.flush()
            words = self.process.stdout.readline().decode(errors="replace").rstrip("\n").split("\t")
        except BrokenPipeError:
            words = [""]
        if words[0] == "ok":
            return words, self.process.stdout.read(int(words[5]))
        return (words if words[0] == "no" else ["died"]), b""

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def raw(dataset, box=None, dtype=None):
    """The values as HDF5 gives them, without conversion or to a type."""
    kind = h5py.h5t.py_create(np.dtype(dtype)) if dtype else dataset.id.get_type()
    shape = dataset.shape if box is None else tuple(axis.stop - axis.start for axis in box)
    values = np.empty(shape if dtype else (*shape, kind.get_size()), dtype or "u1")
    if box is None or not shape:
        dataset.id.read(h5py.h5s.ALL, h5py.h5s.ALL, values, kind)
    else:
        space = dataset.id.get_space()
        space.select_hyperslab(tuple(axis.start for axis in box), shape)
        dataset.id.read(h5py.h5s.create_simple(shape), space, values, kind)
    return values


def expected(dataset, numeric, dtype, box=None):
    """What a box should hold. HDF5 does not convert enums: their numbers are taken as they are."""
    if not numeric:
        return raw(dataset, box)
    try:
        return raw(dataset, box, dtype)
    except (OSError, TypeError, RuntimeError):
        return np.asarray(dataset[() if box is None else box]).astype(dtype)


def boxes(dataset, chance):
    for _ in range(BOXES if dataset.size and dataset.shape else 0):
        starts = [chance.randrange(length) for length in dataset.shape]
        yield tuple(slice(a, a + chance.randint(1, min(n - a, 64))) for a, n in zip(starts, dataset.shape))


def is_zstd(dataset):
    plist = dataset.id.get_create_plist()
    filters = [plist.get_filter(i) for i in range(plist.get_nfilters())]
    return any(f[0] == BITSHUFFLE and len(f[2]) > 4 and f[2][4] == ZSTD for f in filters)


def judge(reader, dataset, name, chance):
    """(kind, words of the answer, remark) of one dataset."""
    # HDF5's own plugin reads bitshuffle with zstd wrongly.
    zstd = dataset.chunks and is_zstd(dataset)
    element = dataset.id.get_type().get_size()
    cases = [(None, "-"), (None, "float32")] if (dataset.size or 0) * element <= LARGEST else []
    for box in boxes(dataset, chance):
        count = 1
        for axis in box:
            count *= axis.stop - axis.start
        cases += [(box, "-")] if count * element <= LARGEST else []
    kind, words = "not judged", ["no", "too large"]
    for box, dtype in cases:
        words, got = reader.read(name, box, dtype)
        if words[0] == "died":
            return "died", words, ""
        try:
            numeric = words[0] == "no" or words[3] == "1"
            want = expected(dataset, numeric, words[4] if words[0] == "ok" else dataset.dtype, box)
        except Exception as error:  # h5py raises all kinds
            return ("sextant only" if words[0] == "ok" else "refused"), words, str(error)
        if zstd:
            return "not judged", words, "bitshuffle with zstd"
        if words[0] == "no":
            return "refused", words, words[1]
        if got != want.tobytes():
            return "different", words, f"box {box} as {dtype}: {got[:32].hex()} instead of {want.tobytes()[:32].hex()}"
        direct = words[1] == "direct" and kind != "equal library"
        kind = "equal direct" if direct else "equal library"
    return kind, words, ""


def judge_file(program, path):
    """One record a dataset."""
    try:
        file = h5py.File(path, "r")
    except Exception as error:
        reader = Reader(program, path)
        words, _ = reader.read(b"/")
        died = words[0] == "died" or reader.close() != 0
        return [dict(name="", kind="died" if died else "refused", words=words, remark=str(error))]
    names = []
    file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
    records = []
    reader = Reader(program, path)
    for name in names:
        encoded = name.encode("utf-8", "surrogateescape")
        kind, words, remark = judge(reader, file[name], encoded, random.Random(path.name + name))
        records.append(dict(name=name, kind=kind, words=words, remark=remark))
        if kind == "died":
            reader = Reader(program, path)
    if reader.close() != 0:
        records.append(dict(name="", kind="died", words=["died"], remark="when the file was closed"))
    return records


def in_child(program, path):
    """judge_file in a process of its own, as h5py may crash too; None if that happens."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with os.fdopen(write_end, "w") as to:
            json.dump(judge_file(program, path), to)
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as source:
        text = source.read()
    status = os.waitpid(child, 0)[1]
    return json.loads(text) if status == 0 else None


def folders_of(arguments):
    roots = [pathlib.Path(argument) for argument in arguments]
    if not roots:
        data = pathlib.Path(os.environ.get("SEXTANT_DATA", "../shared/data"))
        roots = [*sorted((data / "h5").glob("*")), data / "facility", data / "euxfel"]
    return [root for root in roots if root.is_dir()]


def main(program, *arguments):
    folders = folders_of(arguments)
    if not folders:
        print("skipped: no folder of foreign data is here")
        return 77
    counts, reasons = collections.defaultdict(collections.Counter), collections.Counter()
    direct, files, crashed = collections.Counter(), 0, 0
    for folder in folders:
        for path in sorted(p for p in folder.rglob("*") if p.is_file() and h5_like(p)):
            files += 1
            records = in_child(program, path)
            if records is None:
                crashed += 1
                print(f"{path}: h5py does not survive it")
                continue
            for record in records:
                kind, words = record["kind"], record["words"]
                counts[folder.name][kind] += 1
                if kind in ("different", "died"):
                    print(f"{path}:{record['name']}: {kind}: {record['remark']}")
                if kind == "equal library":
                    reasons[words[6]] += 1
                if kind == "refused" and (len(words) < 2 or not words[1].strip()):
                    counts[folder.name]["different"] += 1
                    print(f"{path}:{record['name']}: refused without a sentence")
                if kind.startswith("equal") and words[3] == "1" and words[2] in ("contiguous", "chunked", "virtual"):
                    direct[kind] += 1
    print(f"{'':16}" + "".join(f"{kind:>16}" for kind in KINDS))
    for name, count in [*counts.items(), ("all", sum(counts.values(), collections.Counter()))]:
        print(f"{name:16}" + "".join(f"{count[kind]:16}" for kind in KINDS))
    for reason, count in reasons.most_common():
        print(f"H5Dread {count:6}: {reason or 'NO REASON'}")
    share = direct["equal direct"] / max(1, sum(direct.values()))
    print(f"{files} files, {crashed} that h5py does not survive")
    print(f"{100 * share:.1f} % of {sum(direct.values())} contiguous, chunked and virtual numeric datasets by threads of ours")
    total = sum(counts.values(), collections.Counter())
    bad = total["different"] or total["died"] or share < WANTED or (reasons[""] > 0)
    return 1 if bad else 0


def h5_like(path):
    """The signature, at 0 or behind a user block."""
    with open(path, "rb") as file:
        for at in (0, *(512 << i for i in range(16))):
            file.seek(at)
            if file.read(8) == b"\x89HDF\r\n\x1a\n":
                return True
    return False


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
