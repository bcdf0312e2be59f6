#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# profctl why: one command attaches, judges and prints the verdict, and keeps the recording only on request.
# beside others: its daemon is its own, and no time counts
. "$(dirname "$0")/lib.sh"
need_root

# A job without any visible activity, which must be reported.
sleep 1000 &
job=$!
export TMPDIR=$WORK/tmp
mkdir "$TMPDIR"
assert_status "a verdict" 0 "$PROFCTL" why "$job" --duration 300ms
assert_contains "the verdict" "$WORK/out" '^verdict  What holds the job up cannot be known: none of its threads went to sleep or woke up'
assert_contains "what it takes" "$WORK/out" '^to know  .*--duration'
assert_between "lines" 1 5 "$(wc -l <"$WORK/out")"
assert_lacks "the next command, on a file that is gone" "$WORK/err" '^next:'
assert_eq "left in TMPDIR" "" "$(ls -A "$TMPDIR")"

assert_status "with a file" 0 "$PROFCTL" why "$job" --duration 300ms -o "$WORK/why.pbt"
assert_eq "the same of the file" "$(cat "$WORK/out")" "$("$ANALYZER" report --section verdict "$WORK/why.pbt")"
assert_eq "left in TMPDIR" "" "$(ls -A "$TMPDIR")"

assert_status "no process" 2 "$PROFCTL" why
assert_status "standard output is the verdict's" 2 "$PROFCTL" why "$job" -o -
assert_status "not a process id" 2 "$PROFCTL" why nobody
kill "$job"
wait "$job" || :
assert_status "a process that is gone" 1 "$PROFCTL" why "$job" --duration 300ms
assert_eq "left in TMPDIR" "" "$(ls -A "$TMPDIR")"
rmdir "$TMPDIR"
sleep 1000 &
assert_status "nowhere to keep it" 1 "$PROFCTL" why $! --duration 300ms
assert_contains "why not" "$WORK/err" 'temporary file in .*set TMPDIR'

# Without the analyzer beside it: it is taken from PATH, else there is a message.
mkdir "$WORK/alone" && cp "$PROFCTL" "$PROFBPFD" "$WORK/alone"
export TMPDIR=$WORK PROFBPF_CATALOG_DIR=$ROOT/catalog
assert_status "no analyzer" 1 env PATH=/usr/bin:/bin "$WORK/alone/profctl" why $! --duration 300ms
assert_contains "no analyzer" "$WORK/err" 'cannot find analyzer'
