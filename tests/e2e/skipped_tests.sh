#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/run reports what was skipped, wholly or in part; in CI it fails for skips that are not tolerated. Long scripts
# run on request.
# beside others: stand-ins and folders are its own, and no time counts
. "$(dirname "$0")/lib.sh"

# A separate tree with scripts that end in given ways.
mkdir -p "$WORK/tree/tests/e2e" "$WORK/tree/tests/tools" "$WORK/tree/tests/unit"
cp tests/run "$WORK/tree/tests/"
cp tests/tools/skips "$WORK/tree/tests/tools/"
# script NAME COMMAND [COMMENT]
script() {
	printf '#!/bin/bash\n# %s\n%s\n' "${3:-Quick.}" "$2" >"$WORK/tree/tests/e2e/$1.sh"
	chmod +x "$WORK/tree/tests/e2e/$1.sh"
}
script whole 'echo fine'
script lacking 'echo "needs a moon, which is new"; exit 77'
script partly '. '"$ROOT/tests/e2e/lib.sh"'; leave_out "there is no sun"'
script patient 'echo fine' 'long: it waits'
script more 'echo "${PROFBPF_TEST_LONG:-usual}"; [ -z "${PROFBPF_TEST_LONG:-}" ] || exit 1' 'longer: it fails then'
run_tests() { env -u CI -u PROFBPF_TEST_LONG -u PROFBPF_TEST_WORK BUILD="$WORK/tree/build" "$@"; }

tolerate() { printf '# A comment.\n\n' | cat - <(printf '%s\n' "$@") >"$WORK/tree/tests/tolerated_skips"; }
tolerate 'e2e lacking: needs a moon.*'

assert_status "outside of CI skips are no failures" 0 run_tests "$WORK/tree/tests/run" e2e
assert_contains "what was skipped" "$WORK/out" '^skipped: e2e lacking: needs a moon, which is new$'
assert_contains "and a part" "$WORK/out" '^skipped: e2e partly, a part: there is no sun$'
assert_contains "the sum" "$WORK/out" '^3 passed, 0 failed, 1 skipped$'
assert_lacks "a long script" "$WORK/out" patient

assert_status "in CI a part that must run was left out" 1 run_tests CI=true "$WORK/tree/tests/run" e2e
assert_contains "which" "$WORK/out" '^FAIL: skipped, and CI must not: e2e partly, a part: there is no sun$'
assert_lacks "what is tolerated" "$WORK/out" 'CI must not: e2e lacking'
tolerate 'e2e lacking: needs a moon.*' 'e2e partly, a part: there is no sun'
assert_status "in CI everything is tolerated" 0 run_tests CI=true "$WORK/tree/tests/run" e2e
tolerate 'e2e partly.*' 'e2e lacking: needs a sun' 'lacking'
assert_status "in CI another reason, or half a line, is not" 1 run_tests CI=true "$WORK/tree/tests/run" e2e
assert_contains "which" "$WORK/out" 'CI must not: e2e lacking'

assert_status "long scripts" 1 run_tests "$WORK/tree/tests/run" --long --once e2e
assert_contains "long scripts alone, and more of another" "$WORK/out" '^1 passed, 1 failed, 0 skipped$'
assert_status "by name, long or not" 0 run_tests "$WORK/tree/tests/run" --filter 'p*' e2e
assert_contains "by name" "$WORK/out" '^2 passed, 0 failed, 0 skipped$'

# ---- Unit tests run several at a time, and are reported and counted one after the other.
# unit NAME LINE...: a program that prints TAP, the earlier ones longer than the later ones
unit() {
	local program=$WORK/tree/build/tests/unit/test_$1
	mkdir -p "${program%/*}"
	: >"$WORK/tree/tests/unit/test_$1.c"
	printf '#!/bin/bash\nsleep 0.%d\n' "$((--patience))" >"$program"
	printf "echo '%s'\n" "${@:2}" >>"$program"
	chmod +x "$program"
}
patience=6
unit a '1..2' 'ok 1 - x' 'ok 2 - y'
unit b '1..2' 'ok 1 - x' 'not ok 2 - broken'
unit c '1..2' 'ok 1 - x'
unit d '1..2' 'ok 1 - x' 'not ok 2 # SKIP no_moon'
: >"$WORK/tree/tests/unit/test_e.c"
assert_status "units of which some fail" 1 run_tests "$WORK/tree/tests/run" unit
assert_contains "the sum" "$WORK/out" '^5 passed, 3 failed, 1 skipped$'
assert_contains "which" "$WORK/out" 'failed: broken$'
assert_contains "what is not built" "$WORK/out" 'test_e is not built'
assert_contains "what was skipped" "$WORK/out" '^skipped: unit test_d: no_moon$'
assert_eq "their order" "a b c d e" "$(sed -nE 's/^(ok|FAIL) +unit +test_(.).*/\2/p' "$WORK/out" | paste -sd ' ')"
