#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian 12 packages that are missing, and says which.
#   tools/setup.sh build   what building and the demo need (the default)
#   tools/setup.sh test    and what the tests need
#   tools/setup.sh check   and what .ci/run needs
#   tools/setup.sh bench   build, and what our speed is compared with
set -eu

# The one list: level, package, need.
packages() {
    cat <<'LIST'
build gcc               compiler
build libc6-dev         C library
build make              driver of the build
build cmake             build
build pkg-config        finds libraries
build libhdf5-dev       files
build librandom123-dev  counter-based random numbers
build libxxhash-dev     digests of inputs
build libdeflate-dev    gzip of chunks
build liblz4-dev        LZ4 of chunks
build libzstd-dev       Zstd of chunks
build libblosc-dev      Blosc of chunks
build libjansson-dev    --json
build libcyaml-dev      crystal.yaml
build libsymspg-dev     space groups
build libxrl11          form factors
build libopenmpi-dev    several ranks
build scdoc             manual pages
build gnuplot-nox       figures
build fonts-dejavu-core letters in figures
test  g++               headers compile as C++
test  check             unit tests
test  python3-numpy     referee
test  python3-scipy     referee
test  python3-cffi    the Python module
test  python3-h5py      referee: reads what we write
test  mandoc            checks manual pages
check clang-14          second compiler, sanitizers
check libclang-rt-14-dev sanitizers
check libomp-14-dev     OpenMP of clang
check clang-format-14   format
check clang-tidy-14     lint
check cppcheck          lint
check codespell         spelling
check shellcheck        scripts
check chromium          reports, as people see them
bench python3-scipy     fits
bench python3-lmfit     fits
bench libcminpack-dev   fits
bench libgsl-dev        fits
LIST
}

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

case ${1:-build} in
build) levels='build' ;;
test) levels='build test' ;;
check) levels='build test check' ;;
bench) levels='build bench' ;;
*) fail "'$1' is no level; say build, test, check or bench" ;;
esac

wanted=$(packages | awk -v levels=" $levels " 'index(levels, " " $1 " ") { printf "%s ", $2 }')
command -v dpkg-query >/dev/null ||
    fail "this system has no dpkg; install what Debian calls: $wanted"

# shellcheck disable=SC2086 # a list of words
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null) || true
missing=
for package in $wanted; do
    printf '%s\n' "$installed" | grep -qxF "installed $package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "neither root nor sudo; as root: apt-get install$missing"
    root=sudo
fi

apt() {
    $root env DEBIAN_FRONTEND=noninteractive apt-get -qq \
        -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 "$@" </dev/null
}
# shellcheck disable=SC2086 # a list of words
install() { apt install --yes --no-install-recommends $missing >"$log" 2>&1; }

log=$(mktemp)
trap 'rm -f "$log"' EXIT
say "installing$missing"
# A machine that never ran apt-get update knows no packages, an old list names files that are gone.
if ! install; then
    apt update || say "apt-get update failed; trying with the old lists"
    install || { cat "$log" >&2; fail "apt-get could not install$missing"; }
fi
