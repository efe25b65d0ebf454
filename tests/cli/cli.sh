#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line from outside: exit statuses and sentences. SEXTANT names the binary.
set -u
sextant=${SEXTANT:?names no binary}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# expect STATUS STREAM WORDS ARGUMENTS...: exit status, and words on that stream (out or err); the
# words "" mean that nothing is said there.
expect() {
    local status=$1 stream=$2 words=$3 got
    shift 3
    "$sextant" "$@" >out 2>err </dev/null
    got=$?
    [ "$got" = "$status" ] || fail "sextant $*: exit $got instead of $status: $(cat err)"
    if [ -z "$words" ]; then
        [ ! -s "$stream" ] || fail "sextant $*: std$stream says '$(cat "$stream")'"
    elif ! grep -qF -- "$words" "$stream"; then
        fail "sextant $*: std$stream says '$(cat "$stream")', not '$words'"
    fi
}

# one_sentence: the last failure said one line, which begins with the name of the command.
one_sentence() {
    [ "$(wc -l <err)" = 1 ] || fail "more than one line: $(cat err)"
    [ ! -s out ] || fail "a failure printed on stdout: $(cat out)"
}

# usage WORDS ARGUMENTS...: a wrong command line. failed WORDS ARGUMENTS...: a failure.
usage() { expect 2 err "$@"; one_sentence; }
failed() { expect 1 err "$@"; one_sentence; }

json() {
    if [ -x /usr/bin/python3 ]; then
        /usr/bin/python3 -m json.tool <out >/dev/null || fail "not JSON: $(cat out)"
        [ "$(wc -l <out)" = 1 ] || fail "JSON of more than one line"
    fi
}

commands() { "$sextant" --help | sed -n 's/^  sextant \([a-z ]*[a-z]\)  .*/\1/p'; }

# The program
expect 0 out 'usage: sextant COMMAND' --help
expect 0 err '' --help
expect 0 out 'sextant 0.' --version
expect 0 out 'sextant 0.' -v
expect 2 err 'usage: sextant COMMAND'
usage "sextant: unknown command 'docter', did you mean 'sextant doctor'?" docter
usage "sextant: unknown command 'xyzzy', 'sextant --help' lists them" xyzzy
usage "sextant: unknown option '--nothing'" --nothing

# Every command
[ "$(commands | wc -l)" -ge 1 ] || fail 'no commands'
while read -ra command; do
    name="sextant ${command[*]}"
    expect 0 out "usage: $name" "${command[@]}" --help
    expect 0 err '' "${command[@]}" --help
    expect 0 out "$name - " "${command[@]}" -h
    for option in --threads --json --overwrite --quiet --help; do
        "$sextant" "${command[@]}" --help | grep -q -- "$option" || fail "$name has no $option"
    done
    wide=$("$sextant" "${command[@]}" --help | grep -v '^usage: ' | grep -E '.{81}')
    [ -z "$wide" ] || fail "$name --help has lines wider than 80: $wide"
    usage "$name: unknown option --jsno, did you mean --json?" "${command[@]}" --jsno
    usage "$name: --threads needs a value" "${command[@]}" --threads
    usage "$name: --threads N: '5.4x' is not a whole number" "${command[@]}" --threads 5.4x
    usage "$name: --threads N: '0' is out of range, allowed is 1 to 4096" "${command[@]}" --threads 0
    usage "$name: --json takes no value" "${command[@]}" --json=yes
    usage "$name: --quiet was given twice" "${command[@]}" --quiet -q
    page=$(IFS=-; echo "sextant-${command[*]}(1)")
    [ "$("$sextant" --man "${command[@]}" | head -n 1)" = "$page" ] || fail "$name has no man page"
    "$sextant" --completion | grep -qF "\"$name \"*)" || fail "$name has no completion"
done < <(commands)

# Completion, as bash would ask for it
complete_words() {
    bash -c '
        eval "$("$1" --completion)"
        shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _sextant
        echo "${COMPREPLY[*]}"' - "$sextant" sextant "$@"
}
[[ " $(complete_words '') " == *' doctor '* ]] || fail "completion of '': $(complete_words '')"
[[ $(complete_words doctor --j) == --json ]] || fail "completion of --j: $(complete_words doctor --j)"

# doctor
expect 0 out 'cpu ' doctor
expect 0 out '"findings"' doctor --json
json
usage "sextant doctor: 'now' is one argument too many" doctor now
env PATH=/nowhere "$sextant" doctor | grep -q 'apt-get install gnuplot-nox' || fail 'no remedy for gnuplot'

# info
echo 'no data' >plain.txt
usage 'sextant info: an argument is missing: sextant info FILE' info
failed 'sextant info: nowhere.h5: no such file' info nowhere.h5
failed 'sextant info: plain.txt is not an HDF5 file: it looks like text' info plain.txt
failed 'sextant info: plain.txt is not an HDF5 file' info plain.txt --json

# xani
expect 0 out 'sextant xani simulate' xani --help
expect 2 err 'usage: sextant xani COMMAND' xani
usage "sextant: unknown command 'xani simulte', did you mean 'sextant xani simulate'?" xani simulte

# xani simulate
usage 'sextant xani simulate: -o FILE is missing' xani simulate
usage "sextant xani simulate: --shape HxW: '8' is not a size" xani simulate --shape 8 -o cube.h5
usage "sextant xani simulate: --photons N: '-1' is out of range" xani simulate --photons -1 -o cube.h5
usage "sextant xani simulate: --layout: 'events' is none of cube|smalldata|lcls1-cube|euxfel" xani simulate --layout events -o cube.h5
usage 'sextant xani simulate: --crystal FILE is missing' xani simulate --layout smalldata -o run.h5
usage 'sextant xani simulate: --crystal FILE is missing' xani simulate --model diamond -o run.h5
usage '--noiseless is for a cube' xani simulate --crystal si.yaml --noiseless -o run.h5
usage '--shape is that of a cube' xani simulate --crystal si.yaml --shape 8x8 -o run.h5
usage 'sextant xani simulate: --geometry FILE is missing' xani simulate --crystal si.yaml -o run.h5
usage "--angle: 'phi' is not NAME=DEG" xani simulate --crystal si.yaml --geometry a.poni --angle phi --model diamond -o run.h5
usage 'the forces of the crystal are missing, or given twice' xani simulate --crystal si.yaml --geometry a.poni -o run.h5
failed 'si.yaml' xani simulate --crystal si.yaml --geometry a.poni --model diamond -o run.h5
failed 'sextant xani simulate: ' xani simulate -o nowhere/cube.h5
[ ! -e nowhere ] || fail 'a folder was made'
expect 0 out 'wrote cube.h5: 8 x 6 pixels, 40 delays' xani simulate --shape 8x6 --delays 40 -o cube.h5
expect 0 err '' xani simulate --shape 8x6 --delays 40 -o cube.h5 --overwrite
failed 'sextant xani simulate: cube.h5' xani simulate -o cube.h5
expect 0 out '"shape": [8, 6]' xani simulate --shape 8x6 --delays 40 -o cube.h5 --overwrite --json
json
expect 0 out '/cube/signal' info cube.h5
expect 0 out 'sextant xani simulate --shape 8x6 --delays 40 -o cube.h5 --overwrite --json' info cube.h5
expect 0 out '"name": "/cube/delay"' info cube.h5 --json
json

# Several copies of what works as one would write the same file.
export OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=1
failed 'mpirun started 4 processes, and xani simulate works as one: start it without mpirun' xani simulate -o cube.h5
unset OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_RANK

# xani fit
usage 'sextant xani fit: -o FILE is missing' xani fit cube.h5
usage 'sextant xani fit: --output needs a value' xani fit cube.h5 -o
usage 'sextant xani fit: there is nothing to fit: name a CUBE, or --signal and --delay' xani fit -o fit.h5
usage 'brings its own signal, delay and sigma: leave out --signal' xani fit cube.h5 --signal a.h5:/b -o fit.h5
usage '--signal needs --delay FILE:/path beside it' xani fit --signal a.h5:/b -o fit.h5
usage "'b.h5' is one argument too many" xani fit a.h5 b.h5 -o fit.h5
usage "--modes: '5' is none of auto|0|1|2|3|4" xani fit cube.h5 -o fit.h5 --modes 5
usage '--modes 3 is more than --max-modes 2' xani fit cube.h5 -o fit.h5 --modes 3 --max-modes 2
usage "--background: 'liner' is none of constant|none|linear|exp (did you mean linear?)" \
    xani fit cube.h5 -o fit.h5 --background liner
usage '--delay-scale is 0' xani fit cube.h5 -o fit.h5 --delay-scale 0
usage "--t0 PS: '5.4x' is not a number" xani fit cube.h5 -o fit.h5 --t0 5.4x
usage "--roi y0:y1,x0:x1: '3:1,0:2' is not a box" xani fit cube.h5 -o fit.h5 --roi 3:1,0:2
usage "--memory SIZE: '8X' is not an amount of memory such as 8G or 512M" xani fit cube.h5 -o fit.h5 --memory 8X
usage "--progress: 'yes' is none of auto|json" xani fit cube.h5 -o fit.h5 --progress yes
SX_CPU=c failed "no kernels 'avx2' (from the option) are left by SX_CPU=c" \
    xani fit cube.h5 -o fit.h5 -q --backend avx2
SX_CPU=best failed "no kernels 'best' (from SX_CPU)" xani fit cube.h5 -o fit.h5 -q
CUDA_VISIBLE_DEVICES='' failed 'backend cuda: ' xani fit cube.h5 -o fit.h5 --backend cuda
failed 'nowhere.h5: no such file' xani fit nowhere.h5 -o fit.h5 -q
failed 'plain.txt' xani fit plain.txt -o fit.h5 -q
failed 'has no dataset' xani fit --signal cube.h5:/cube/nothing --delay cube.h5:/cube/delay -o fit.h5 -q
[ ! -e fit.h5 ] || fail 'a failed fit left fit.h5'
expect 0 out '48 pixels, 40 delays' xani fit cube.h5 -o fit.h5 --modes 1 --t0 -0.5 --backend c
failed 'fit.h5 exists; it is kept unless --overwrite is given' xani fit cube.h5 -o fit.h5 -q
expect 0 out '"pixels": 12' xani fit cube.h5 -o fit.h5 --overwrite --modes 1 --bin 2x2 --threads 1 --json -q
json
[ ! -s err ] || fail "--quiet says $(cat err)"
"$sextant" xani fit cube.h5 -o quiet.h5 --modes 1 -q >out 2>err || fail 'a quiet fit fails'
if [ -s out ] || [ -s err ]; then fail "a quiet fit says $(cat out err)"; fi
rm quiet.h5
expect 0 err '{"progress": "fit", "done": 48, "total": 48, "seconds": ' xani fit cube.h5 -o told.h5 --modes 1 -q --resume \
    --tile 1x1 --memory 64M --progress json --trace told.json
[ "$(grep -c '"done": 48' err)" = 1 ] || fail "progress says more than once that all is done"
grep -q traceEvents told.json || fail 'a trace is no trace'
[ ! -e told.h5.journal ] || fail 'a journal is left'
rm told.h5
failed "one tile is computed from" xani fit cube.h5 -o told.h5 -q --memory 20k
expect 0 out '/fit@t0_ps' info fit.h5
expect 0 out '"name": "/fit/state@state_names"' info fit.h5 --json
expect 0 out '/fit/frequency_errors' info fit.h5
expect 0 out 'sextant xani fit cube.h5 -o fit.h5 --overwrite --modes 1 --bin 2x2' info fit.h5
(
    cd / && "$sextant" xani fit "$here/cube.h5" -o "$here/with blank.h5" -q >/dev/null &&
        "$sextant" info "$here/with blank.h5" | grep -q "'$here/with blank.h5'"
) || fail 'a blank in a name is not quoted in the command line'

# xani pixels
usage 'sextant xani pixels: --geometry FILE is missing' xani pixels -o pixels.h5
usage 'sextant xani pixels: -o FILE is missing' xani pixels --geometry a.poni
usage "--photon-energy EV: '0' is out of range" xani pixels --geometry a.poni -o pixels.h5 --photon-energy 0
failed 'nowhere.poni: no such file' xani pixels --geometry nowhere.poni -o pixels.h5
failed 'plain.txt is no geometry that is known' xani pixels --geometry plain.txt -o pixels.h5
[ ! -e pixels.h5 ] || fail 'failed pixels left pixels.h5'
printf '%s\n' 'Detector: Detector' 'Detector_config: {"pixel1": 1e-3, "pixel2": 1e-3, "max_shape": [3, 4]}' \
    'Distance: 0.1' 'Poni1: 0.001' 'Poni2: 0.001' >a.poni
expect 0 out 'wrote pixels.h5: PONI, 3 x 4 pixels, 1 panel, 0 masked' xani pixels --geometry a.poni -o pixels.h5
grep -q 'the photon energy is not known: qx, qy, qz, q are NaN; say --photon-energy EV' err || fail 'NaN without a word'
failed 'pixels.h5 exists' xani pixels --geometry a.poni -o pixels.h5 -q
expect 0 out '"handedness": -1' xani pixels --geometry a.poni -o pixels.h5 --overwrite --photon-energy 9000 --json
json
[ ! -s err ] || fail "pixels with an energy says $(cat err)"
expect 0 out '/pixels@frame' info pixels.h5
rm a.poni pixels.h5

# xani figure
usage 'sextant xani figure: an argument is missing' xani figure -o fit.png
usage 'sextant xani figure: -o FILE is missing' xani figure fit.h5
usage "--pixel y,x: '3' is not a pixel" xani figure fit.h5 -o fit.png --pixel 3
failed 'nowhere.h5: no such file' xani figure nowhere.h5 -o fit.png -q
[ ! -e fit.png ] || fail 'a failed figure left fit.png'
if command -v gnuplot >/dev/null; then
    expect 0 out 'wrote fit.png' xani figure fit.h5 -o fit.png
    [ "$(head -c 4 fit.png | tail -c 3)" = PNG ] || fail 'fit.png is no PNG'
    failed 'exists and is kept' xani figure fit.h5 -o fit.png -q
    "$sextant" xani figure fit.h5 -o fit.png -q --overwrite >out 2>err || fail 'a quiet figure fails'
    if [ -s out ] || [ -s err ]; then fail "a quiet figure says $(cat out err)"; fi
fi

# A limit on the size of files is a failure with a sentence, not a death that leaves half a file.
mkdir limited
(ulimit -f 2; exec "$sextant" xani fit cube.h5 -o limited/fit.h5 -q) >out 2>err
[ $? = 1 ] || fail 'a fit beyond ulimit -f does not exit with 1'
grep -q 'limited/fit.h5 cannot be written' err || fail "beyond ulimit -f: $(cat err)"
[ -z "$(ls -A limited)" ] || fail "a fit beyond ulimit -f leaves $(ls -A limited)"

# Ctrl-C, or a terminal that is closed, in the midst of a fit, which begins with a remark: one
# sentence, no file.
"$sextant" xani simulate --shape 64x64 -o large.h5 -q >/dev/null
mkdir cancelled
mkfifo words
for signal in INT TERM HUP; do
    "$sextant" xani fit large.h5 -o cancelled/fit.h5 2>words >out &
    job=$!
    exec 3<words
    read -r _ <&3
    kill -$signal $job
    cat <&3 >err
    exec 3<&-
    wait $job
    [ $? = 1 ] || fail "a fit stopped by $signal does not exit with 1"
    grep -q 'stopped; nothing was written. With --resume' err || fail "a fit stopped by $signal says $(cat err)"
    [ -z "$(ls -A cancelled)" ] || fail "a fit stopped by $signal leaves $(ls -A cancelled)"
done

# Output that cannot be written is a failure.
if [ -w /dev/full ]; then
    "$sextant" doctor >/dev/full 2>err && fail 'a full disk went unnoticed'
    grep -q 'writing to the standard output failed' err || fail "full disk: $(cat err)"
    "$sextant" --help >/dev/full 2>err && fail 'a full disk went unnoticed by --help'
fi

echo "$failures failures"
leftover=$(find . -name '.*' ! -name . -o -name '*.tmp*')
[ -z "$leftover" ] || { echo "left behind: $leftover"; exit 1; }
[ "$failures" = 0 ]
