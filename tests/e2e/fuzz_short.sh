#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Thousands of inputs that libFuzzer makes of the seeds, the same in every run, through all that root's daemon reads of
# others: nothing crashes. `make fuzz` tries others.
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
