#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stored outputs or unit tests detect nearly all of some injected errors in tables and views: exchanged headings,
# values, units, columns. `make mutants` tries more of them, and of comparisons.
# timeout: 900
# beside others: it makes its files itself, and no time counts
. "$(dirname "$0")/lib.sh"
need_command python3 sqlite3 make objcopy git
[ "$BUILD" = build ] || [ "$BUILD" = "$ROOT/build" ] || skip "the plain build is the one that is copied"
[ -e build/obj/tests/libtest.a ] && [ -e build/tests/tools/make_random ] || skip "needs build/obj, of make test-programs"
git rev-parse --git-dir >/dev/null 2>&1 || skip "needs a clone of the repository"

tests/mutants --count 8 --least 80 --folder "$WORK/mutants" --kinds heading,field,unit,column ||
	fail "slips that no test sees: make mutants"
