#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Files of other profilers, made here by their schemas: the analyzer's results equal sums that
# tests/foreign/*.py compute from the files.
# beside others: it makes its files itself, and no time counts
. "$(dirname "$0")/lib.sh"
need_command python3

export PYTHONDONTWRITEBYTECODE=1
for script in tests/foreign/*.py; do
	[ -x "$script" ] || continue
	name=$(basename "$script" .py)
	note "-- $name"
	mkdir -p "$WORK/$name"
	"$script" "$ANALYZER" "$WORK/$name" >"$WORK/$name.txt" 2>&1 || fail "$name: $(cat "$WORK/$name.txt")"
done
