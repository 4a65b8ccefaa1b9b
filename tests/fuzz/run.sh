#!/usr/bin/env bash
# Fuzzes what reads the word of another build, and keeps a small corpus of what that found.
#
#   tests/fuzz/run.sh [SECONDS [TARGET...]]      10 minutes for each target, if nothing is said
#
# Needs cargo-fuzz and a C++ compiler. Each run starts from the corpus that lies here, which every
# test run replays, and from all that earlier runs on this machine have found. Of both, the inputs
# that reach most are kept. An input that breaks something ends the run, and cargo-fuzz tells where
# it is; once that is mended it belongs into the corpus.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

seconds=${1:-600}
shift || true
targets=("$@")
[ "${#targets[@]}" -gt 0 ] || targets=(schema packed_schema plan planned)

# How many inputs of a target are kept, and how long they may be.
kept_max=16
bytes_max=6000
out=${CARGO_TARGET_DIR:-target}/fuzz
found=$out/found
export CARGO_INCREMENTAL=0
# There is no unsafe code for a sanitizer to watch, and without one any toolchain will do. The
# versions of all dependencies are those of the workspace.
cp ../../Cargo.lock Cargo.lock
fuzz() { cargo fuzz "$1" --fuzz-dir . --sanitizer none --target-dir "$out" "${@:2}"; }

for target in "${targets[@]}"; do
    mkdir -p "$found/$target" "corpus/$target"
    fuzz run "$target" "$found/$target" "corpus/$target" -- \
        -max_total_time="$seconds" -max_len="$bytes_max" -timeout=10 -print_final_stats=1
    rm -rf "$found/kept" && mkdir "$found/kept"
    fuzz run "$target" "$found/kept" "corpus/$target" "$found/$target" -- \
        -set_cover_merge=1 -max_len="$bytes_max"
    find "corpus/$target" -type f -delete
    # They were written in that order: each reaches most of what those before it do not.
    find "$found/kept" -type f -printf '%T@ %p\n' | sort -n | sed -n "1,${kept_max}p" |
        cut -d' ' -f2 | xargs -I{} cp {} "corpus/$target"
done
