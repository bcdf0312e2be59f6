#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The activity of an awaited thread, with default options: garbage collection, pickling, copies and so on have their own
# words, its place is the Python function, work in the kernel does not count as the program's own.
# beside others: what others take of the CPUs is told apart from what it judges
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq python3

mkfifo "$WORK/job.in"
python3 tests/truth/work_kinds.py 1 <"$WORK/job.in" >"$WORK/job.out" 2>"$WORK/job.err" &
TRUTH_PID=$! TRUTH_OUT=$WORK/job.out
exec {TRUTH_IN}>"$WORK/job.in"
wait_for_line "$TRUTH_OUT" '^ready' 20
attach_truth "$WORK/job.pbt"
truth_go 240
stop_attach
truth_end
"$ANALYZER" report "$WORK/job.pbt" --thread "$(truth_value main.tid)" --section waits --format json -o "$WORK/waits.json"

# expect KIND WORD PLACE: checks the thread of that kind; the place is a regular expression
expect() {
	local root=$WORK/$1.json
	jq "[.waits.roots[] | select(.cause == \"user_code\" and .tid == $(truth_value "$1.tid"))][0]" "$WORK/waits.json" >"$root"
	note "$1: $(jq -c '[.where, .doing, .samples]' "$root")"
	assert_eq "$1: what it does" "$2" "$(jq -r '.doing // ""' "$root")"
	[[ $(jq -r .where "$root") =~ $3 ]] || fail "$1: its place is $(jq .where "$root"), not $3"
}

# If Python frames were never sampled on a CPU, the native function is reported.
expect garbage "garbage collection" 'make_garbage_job|python|gc'
expect pickle "pickling" 'make_pickle_job|pickle'
expect compress "compression" 'make_compress_job|libz'
expect regex "regular expressions" 'make_regex_job|sre|python'
expect json "reading and writing JSON" 'coder.py|__init__.py|make_json_job|json'
expect log "logging" '__init__.py'
expect copy "copies in memory" 'make_copy_job|memcpy|memmove'
expect fault "page faults" ' in a page fault$'
expect read "the kernel's work" ' in read$'
expect plain "" 'make_plain_job|python'
