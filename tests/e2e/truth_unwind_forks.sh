#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stacks of children of fork() that end after some tens of milliseconds reach the program's start, by the tables of
# their parents; children that begin a program never use these.
# beside others: stacks are the same however busy the machine
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"

need_root
need_command jq
need_command g++

g++ -O2 -fomit-frame-pointer -g -o "$WORK/forks" "$ROOT/tests/truth/languages/cpp/forks.cc"

if ! "$PROFCTL" status --format json | jq -e '.features[] | select(.name == "unwind tables") | .available' >/dev/null; then
	skip "this kernel cannot walk stacks by tables"
fi

# below PATTERN: the number of samples whose stack, outermost frame first, matches
below() {
	awk -v pattern="$1" '$0 ~ pattern { n += $NF } END { print n + 0 }' "$WORK/forks.folded"
}

mkdir "$WORK/catalogs"
printf 'runtime forks\ngetppid other 1\n' >"$WORK/catalogs/forks.catalog"
TRUTH=$WORK start_truth forks 90 30
attach_truth "$WORK/forks.pbt" --catalog "$WORK/catalogs" --stack-rate 250 --topics api,sched,stack
truth_go 60
stop_attach
truth_end
report_json "$WORK/forks.pbt" "$WORK/forks.json"
assert_loss_accounted "$WORK/forks.json"
assert_eq "calls of the traced function" 1 "$(api_count "$WORK/forks.json" getppid)"
"$ANALYZER" export "$WORK/forks.pbt" --to folded -o "$WORK/forks.folded"

copied=$(printf 'copied_chain;%.0s' 1 2 3 4)
begun=$(printf 'begun_chain;%.0s' 1 2 3 4 5 6 7)
all=$(below '^forks;.*spin') whole=$(below "^forks;_start;([^;]*;)*main;child;${copied}spin")
parent=$(below '^forks;_start;([^;]*;)*main;spin')
# 60 children of 30 ms at 250 a second: 450.
assert_between "samples of children" 225 2000 $((all - parent))
assert_between "of these, in the chain that the program makes, to its start" $(((all - parent) * 95 / 100)) "$all" "$whole"
# A stack that claims to be whole is right.
right=$(below "^exe;_start;([^;]*;)*main;${begun}spin")
assert_eq "stacks of begun programs to their start that are not the program's" "$right" "$(below '^exe;_start;.*spin')"
assert_eq "stacks of begun programs with functions of another" 0 "$(below '^exe;.*(child|copied_chain)')"
# Their first sample, which ends early, wakes the daemon.
all=$(below '^exe;.*spin')
assert_between "samples of begun programs" 20 2000 "$all"
assert_between "samples of begun programs, to their start" $((all * 70 / 100)) "$all" "$right"
