#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Thousands of inputs that libFuzzer makes from the seeds, the same in every run, for all readers of untrusted data in
# root's daemon: nothing crashes. `make fuzz` tries other inputs.
# timeout: 2400
# longer: the trace reader and each importer, too, which test_fuzz_import and tests of damage have in all runs
# beside others: it makes its files itself, and no time counts
. "$(dirname "$0")/lib.sh"
[ -x "$BUILD/fuzz/fuzz_control" ] || skip "libFuzzer is not installed (Debian: libclang-rt-dev)"

which=(--daemon)
[ -z "${PROFBPF_TEST_LONG:-}" ] || which=()
tests/fuzz/run "${which[@]}" --runs 4000 --jobs "$(nproc)" --corpus "$WORK/corpus" >"$WORK/out" || { cat "$WORK/out" && fail "an input fails"; }
cat "$WORK/out"
mapfile -t targets < <(tests/fuzz/run "${which[@]}" --list)
assert_eq "targets that ran to their end" "${#targets[@]}" "$(grep -c ' inputs$' "$WORK/out")"
