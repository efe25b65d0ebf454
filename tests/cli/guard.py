# SPDX-License-Identifier: Apache-2.0
"""Files that crash the HDF5 library or send it in circles, and processes that are killed: one sentence, nothing left.

guard.py, with SEXTANT and SEXTANT_FIXTURES in the environment; 77 without h5py
"""
import contextlib
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile

try:
    import h5py
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

SEXTANT = os.environ["SEXTANT"]
FIXTURES = os.environ["SEXTANT_FIXTURES"]
# AddressSanitizer would take the signals of a crash for itself.
os.environ["ASAN_OPTIONS"] = "handle_segv=0:handle_sigfpe=0:handle_abort=0:" + os.environ.get("ASAN_OPTIONS", "")


def refused(words, *arguments, **options):
    """One sentence that holds the words, exit 1, and an empty folder."""
    run = subprocess.run([SEXTANT, *arguments], capture_output=True, text=True, **options)
    assert run.returncode == 1 and words in run.stderr and run.stderr.count("\n") == 1, (arguments, run)
    assert os.listdir() == [], os.listdir()


def children(pid):
    return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def writing(*arguments):
    """A reading that has begun to write its output; its only child."""
    run = subprocess.Popen([SEXTANT, *arguments], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    while not any(name.endswith(".tmp") for name in os.listdir()):
        assert run.poll() is None, run.communicate()
    (child,) = children(run.pid)
    return run, child


def gone(pid):
    """Waits until a process is no more than a zombie."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        while pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] not in "ZX":
            pass


with contextlib.ExitStack() as stack:
    apart = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
    os.chdir(stack.enter_context(tempfile.TemporaryDirectory()))

    # The library crashes
    crash = f"{FIXTURES}/crash.h5"
    words = f"{crash}: the HDF5 library crashed on it (signal 8, Floating point exception); the file is damaged"
    refused("sextant info: " + words, "info", crash)
    refused("sextant info: " + words, "info", crash, "--json")
    refused("sextant read: " + words, "read", crash, "a", "-o", "a.npy")
    kept = subprocess.run([SEXTANT, "read", crash, "g/b"], capture_output=True, text=True)
    assert kept.returncode == 0 and "xxh64" in kept.stdout, kept

    # ... or computes without end. The limit of ours is the user's where that is lower: here a second.
    second = lambda: resource.setrlimit(resource.RLIMIT_CPU, (1, resource.RLIM_INFINITY))
    loop = f"{FIXTURES}/loop.h5"
    for arguments in (("info", loop), ("read", loop, "c", "-o", "c.npy")):
        refused(f"sextant {arguments[0]}: {loop}: gave up, as", *arguments, preexec_fn=second)

    # 2 GB of which nothing lies on the disk: long enough to be stopped on the way
    large = str(apart / "large.h5")
    with h5py.File(large, "w") as f:
        f.create_dataset("large", (2000, 1000, 1000), "u1", chunks=(100, 1000, 1000))
    command = ("read", large, "large", "--missing", "fill", "-o", "large.npy")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        run, child = writing(*command)
        run.send_signal(number)
        said = run.communicate()
        assert run.returncode == 1 and "nothing was written" in said[1] and said[0] == "", (number, run.returncode, said)
        assert os.listdir() == [], (number, os.listdir())
    # As a terminal does: to both at once.
    run, child = writing(*command)
    os.kill(child, signal.SIGINT)
    os.kill(run.pid, signal.SIGINT)
    said = run.communicate()
    assert run.returncode == 1 and "nothing was written" in said[1] and os.listdir() == [], (said, os.listdir())
    # The child is killed: its output goes too, and the parent says so.
    run, child = writing(*command)
    os.kill(child, signal.SIGKILL)
    said = run.communicate()
    assert run.returncode == 1 and "killed from outside (signal 9)" in said[1] and os.listdir() == [], (said, os.listdir())
    # The parent is killed: the child does not live on.
    run, child = writing(*command)
    run.kill()
    gone(child)
    run.communicate()

# Who reads no further is no failure of ours to be told.
head = subprocess.run(f"'{SEXTANT}' info '{FIXTURES}/crash.h5' | true", shell=True, capture_output=True, text=True)
assert head.returncode == 0, head
print("all as it should be")
