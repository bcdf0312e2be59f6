#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every way to aggregate, filter, search and sort operators says what the table of tasks itself says; unknown stays so.
# beside others: it compares files, and no time counts
. "$(dirname "$0")/lib.sh"
need_command python3

TABLE=$WORK/op_summary_20231114.csv
python3 "$ROOT/tests/truth/operators_truth.py" make "$TABLE"
python3 "$ROOT/tests/truth/operators_truth.py" check "$TABLE" "$ANALYZER" || fail "operators are not what the table says"
for wrong in "--aggregate median" "--aggregate-by size" "--order-by speed" "--min-time soon" "--scope-depth -1"; do
	# shellcheck disable=SC2086 # an option and its value
	assert_status "$wrong" 2 "$ANALYZER" report --device "$TABLE" $wrong
done
