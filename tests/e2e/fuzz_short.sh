#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Thousands of inputs that libFuzzer makes of the seeds, the same in every run, through the trace reader,
# each importer and all that the daemon reads of others: nothing crashes. `make fuzz` tries others.
# timeout: 2400
# beside others: it makes its files itself, and no time counts
. "$(dirname "$0")/lib.sh"
[ -x "$BUILD/fuzz/fuzz_importer" ] || skip "libFuzzer is not installed (Debian: libclang-rt-dev)"

tests/fuzz/run --runs 4000 --jobs "$(nproc)" --corpus "$WORK/corpus" >"$WORK/out" || { cat "$WORK/out" && fail "an input fails"; }
cat "$WORK/out"
mapfile -t targets < <(tests/fuzz/run --list)
assert_eq "targets that ran to their end" "${#targets[@]}" "$(grep -c ' inputs$' "$WORK/out")"
