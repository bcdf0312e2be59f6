#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Counts are exact also without each of the kernel features that older kernels lack.
# beside others: the scripts that it runs count
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq
GUARDED=$WORK/guarded
[ ! -e "$TRUTH/guarded" ] || cp -r "$TRUTH/guarded" "$GUARDED"
own_truth calls

"$PROFCTL" status --format json >"$WORK/status.json"

# offered FEATURE: whether this kernel has it, by its name in status
offered() {
	jq -e --arg name "$1" '.features[] | select(.name == $name) | .available' "$WORK/status.json" >/dev/null
}

# calls_where TRACE FUNCTION CONDITION
calls_where() {
	"$ANALYZER" query "$1" "select count(*) from calls join functions using (function) where name = '$2' and $3" --format csv | tail -n 1
}

# exact_calls WHAT TRACE: checks the calls of the program "calls" between attach and detach
exact_calls() {
	local r=$2.json
	report_json "$2" "$r"
	assert_loss_accounted "$r"
	assert_complete "$r"
	assert_eq "$1: calls" 30000 "$(api_count "$r" truth_noop)"
	assert_eq "$1: calls that failed" 30 "$(api_count "$r" truth_fail_every errors)"
	assert_eq "$1: calls within calls" 30 "$(api_count "$r" truth_inner)"
	assert_eq "$1: calls that count" 9 "$(of_counts "$2" "count(*)")"
	assert_eq "$1: of these, with a value that they did not return" 0 "$(of_counts "$2" "count(*) filter (where returned <> argument1)")"
	assert_eq "$1: calls of itself" 5 "$(api_count "$r" truth_recurse)"
	assert_between "$1: time in calls that sleep, ns" $((20 * 5000000)) "$(truth_value sleep_total_ns)" \
		"$(api_count "$r" truth_sleep total_ns)"
	assert_eq "$1: calls that go on in others, and failed" 5 "$(api_count "$r" truth_method errors)"
	assert_between "$1: time in calls that go on in others, ns" $((20 * 1000000)) $(($(truth_value methods_total_ns) + 100000000)) \
		"$(api_count "$r" truth_method total_ns)"
	# The first of them asks for the probes that see the others' ends; on its way there it may find them, too.
	assert_between "$1: calls that go on in others, with an end" 20 21 "$(calls_where "$2" truth_pass "not end_unknown")"
	assert_eq "$1: open calls" 1 "$(api_count "$r" truth_block open)"
}

# calls_without METHOD [RUNG...]: traces with a daemon that lacks these features; functions are then probed by METHOD
calls_without() {
	local method=$1 name options=() what
	shift
	what="without ${*:-nothing}"
	for name in "$@"; do options+=(--without-feature "$name"); done
	start_daemon "${options[@]}"
	rm -f "$WORK/calls.in"
	start_truth calls
	attach_truth "$WORK/calls.pbt" --topics api
	truth_go
	stop_attach
	truth_end
	exact_calls "$what" "$WORK/calls.pbt"
	assert_eq "$what: probes" "$method" "$("$PROFCTL" status --format json | jq -r .tracing.method)"
}

# first_byte PID LIBRARY OFFSET: the first byte of an instruction in the process
first_byte() {
	local base
	base=$(awk -v library="$2" '$6 == library && $3 == "00000000" { split($1, a, "-"); print a[1]; exit }' "/proc/$1/maps")
	dd if="/proc/$1/mem" bs=1 skip=$((0x$base + $3)) count=1 2>/dev/null | od -An -tx1 | tr -d ' '
}

# jump_of FUNCTION: where the jump after its comparison is, in $library
jump_of() {
	objdump -d --disassemble="$1" "$library" | awk -v name="<$1" '$NF ~ "^" name && /\tjne / { print "0x" $1; exit }'
}

# guarded_calls BYTE RUNG...: traces a library with stack protectors with a daemon that lacks these features. BYTE is
# then at the jump after truth_fail_every()'s comparison, where the end of a call is probed, or which is unchanged.
guarded_calls() {
	local byte=$1 library=$GUARDED/libtruth.so jump kept unseen=0 name options=()
	shift
	for name in "$@"; do options+=(--without-feature "$name"); done
	jump=$(jump_of truth_fail_every) kept=$(jump_of truth_keep)
	start_daemon "${options[@]}"
	rm -f "$WORK/calls.in"
	TRUTH_SMASH=1 LD_LIBRARY_PATH=$GUARDED start_truth calls
	attach_truth "$WORK/calls.pbt" --topics api
	assert_eq "at the comparison, without $*" "$byte" "$(first_byte "$TRUTH_PID" "$library" "${jump%:}")"
	truth_go
	# Where it goes on the value of truth_borrow() is read, too, but truth_pass() was there first.
	assert_eq "at the comparison of what a call goes on in, without $*" "$byte" "$(first_byte "$TRUTH_PID" "$library" "${kept%:}")"
	stop_attach
	truth_end
	exact_calls "guarded, without $*" "$WORK/calls.pbt"
	assert_eq "guarded, without $*: calls that the protector ended" 1 "$(api_count "$WORK/calls.pbt.json" truth_smash open)"
	assert_eq "guarded, without $*: all calls of the kind" 1 "$(api_count "$WORK/calls.pbt.json" truth_smash)"
	[ "$byte" = cc ] && unseen=3
	assert_eq "guarded, without $*: calls without an end, of which the value is not set yet" "$unseen" \
		"$(calls_where "$WORK/calls.pbt" truth_borrow end_unknown)"
	assert_eq "guarded, without $*: calls that failed" $((3 - unseen)) "$(calls_where "$WORK/calls.pbt" truth_borrow error)"
	# The return value is set after the comparison.
	[ "$byte" = 75 ] || assert_eq "guarded, without $*: values that are known" 0 "$(of_counts "$WORK/calls.pbt" "count(returned)")"
	stop_daemon
}

# script_without NAME RUNGS: runs another script, with its own daemons
script_without() {
	PROFBPF_WITHOUT_FEATURES=$2 "$ROOT/tests/e2e/$1.sh" >"$WORK/script" 2>&1 ||
		fail "$1 without $2: $(tail -n 20 "$WORK/script")"
	note "$1 passes without $2"
}

best=$(json "$WORK/status.json" .tracing.method)
calls_without "$best"
stop_daemon
while read -r rung feature; do
	if offered "$feature"; then
		calls_without "$best" "$rung"
		stop_daemon
	else
		leave_out "$rung: this kernel has none"
	fi
done <<'RUNGS'
task-storage storage by thread
typed-task typed current thread
emulated-returns returns by programs
RUNGS
if [ "$(uname -m)" = x86_64 ] && [ -e "$GUARDED/libtruth.so" ] && command -v objdump >/dev/null; then
	guarded_calls cc emulated-returns
	guarded_calls 75 emulated-returns early-exits
else
	leave_out "early-exits: needs the library with stack protectors, and objdump"
fi
if [ "$best" = session ]; then
	calls_without multi session
	stop_daemon
fi
while read -r script rungs; do
	script_without "$script" "$rungs"
done <<'SCRIPTS'
truth_ioctls task-storage,typed-task
truth_sleep switch-state
truth_sleep task-storage,task-registers
truth_sleep typed-pointers,task-work
victims early-exits
truth_stacks loops
truth_stacks late-room
SCRIPTS
