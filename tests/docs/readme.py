# SPDX-License-Identifier: Apache-2.0
"""What the README shows is so: the demo runs, its Python reads the result, its table of states is ours.

readme.py SOURCE_TREE, with SEXTANT in the environment
"""
import pathlib
import re
import subprocess
import sys
import tempfile

source = pathlib.Path(sys.argv[1])
readme = (source / "README.md").read_text()

header = re.sub(r"\s*\\\n\s*", " ", (source / "include/sextant/dcos.h").read_text())
header = re.sub(r'" +"', "", header)  # C joins neighbouring strings
states = re.findall(r'X\(\w+, (\d+), "(\w+)",\s*"([^"]*)"\)', header)
assert [int(value) for value, _, _ in states] == list(range(11)), states
for value, word, sentence in states:
    row = f"| {value} | {word} | {sentence} |"
    assert row in readme, f"README.md lacks the state {row}"

with tempfile.TemporaryDirectory() as folder:
    subprocess.run([source / "examples/demo.sh", folder], check=True)
    picture = (pathlib.Path(folder) / "fit.png").read_bytes()
    assert picture.startswith(b"\x89PNG") and len(picture) > 10000, f"a picture of {len(picture)} bytes"

    block = re.search(r"In Python:\n\n((?:    .*\n|\n)+)", readme).group(1)
    python = "\n".join(line[4:] for line in block.splitlines()).replace("fit.h5", "fit2.h5")
    said = subprocess.run([sys.executable, "-c", python], cwd=folder, check=True, capture_output=True, text=True)
    print(said.stdout)
    assert re.search(r"THz in \d{3,} of 4096 pixels", said.stdout), said.stdout
