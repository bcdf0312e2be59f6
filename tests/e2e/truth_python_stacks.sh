#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whole stacks of Python programs, of samples and of sleeps: each function has its right place among the native
# functions, for known chains of calls; for each installed CPython that is supported. Samples show the holder of the
# interpreter's lock.
# longer: every version, not the oldest and the newest alone
# beside others: stacks are the same however busy the machine
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command python3 jq
"$PROFCTL" status --format json >"$WORK/status.json"
[ "$(json "$WORK/status.json" '.features[] | select(.name == "loops") | .available')" = true ] ||
	skip "needs bpf_loop() (Linux 5.17): whole Python stacks are seen with it"

# SETTLE: how long it takes to find the interpreter and to make the unwind tables of its file. Those of a further library
# are made when it is first seen: until then its callers are missing.
SECONDS_EACH=0.6 SETTLE=1.5
# An emulated CPU.
[ -z "${PROFBPF_TEST_SLACK:-}" ] || SECONDS_EACH=4 SETTLE=20

job() {
	rm -f "$WORK/job.in"
	mkfifo "$WORK/job.in"
	"$1" tests/truth/python_chains.py $SECONDS_EACH <"$WORK/job.in" >"$WORK/job.out" 2>"$WORK/job.err" &
	TRUTH_PID=$! TRUTH_OUT=$WORK/job.out
	exec {TRUTH_IN}>"$WORK/job.in"
	wait_for_line "$TRUTH_OUT" '^ready' 20
	attach_in_background "$TRUTH_PID" "$WORK/job.pbt" --topics sched,stack
	sleep "$SETTLE"
	truth_go 60
	stop_attach
	truth_end
	"$ANALYZER" export "$WORK/job.pbt" --to folded -o "$WORK/cpu"
	"$ANALYZER" export "$WORK/job.pbt" --to folded --kind off-cpu -o "$WORK/sleeps"
	assert_contains "callers with their files" "$WORK/cpu" ';<module> \(python_chains.py\);(.*;)?main \(python_chains.py\);'
	sed -i -E 's/ \([^;:()]+\)(;| [0-9]+$)/\1/g' "$WORK/cpu" "$WORK/sleeps"
}

# share FILE LETTER CHAIN: percent, by weight, of the stacks with a function of the chain that contain CHAIN from
# <module> on; the others: $WORK/others
share() {
	awk -v function_of=";[a-z]+_$2( \\\\(|;| [0-9]+\$)" -v chain="<module>;(.*;)?$3( \\\\(|;| [0-9]+\$)" -v others="$WORK/others" '
		$0 ~ function_of { fits = $0 ~ chain; all += $NF; right += $NF * fits; if (!fits) print >others }
		END { print all ? int(right * 100 / all) : -1 }' "$1"
}

# most_are WHAT FILE LETTER CHAIN: at least 90 %
most_are() {
	local share
	: >"$WORK/others"
	share=$(share "$2" "$3" "$4")
	[ "$share" -ge 90 ] || note "the most frequent one that is not: $(heaviest "$WORK/others" .)"
	assert_between "$1, %" 90 100 "$share"
}

# heaviest FILE PATTERN
heaviest() { awk -v pattern="$2" '$0 ~ pattern && $NF > most { most = $NF; line = $0 } END { print line }' "$1"; }

seen=
while read -r version python; do
	[[ $version =~ ^3\.([789]|1[0-4])$ ]] || continue
	seen+=" $version"
	job "$python"
	note "---- Python $version"
	# The other samples: burn() between two turns, and functions that have just begun or are about to end.
	# Between the two functions is the C code that calls back, if it has a name: the programs of Debian and of make-venv's
	# 3.14 are stripped.
	between=+
	grep -q ';list_sort' "$WORK/cpu" || between='*'
	most_are "called back by C code" "$WORK/cpu" a "main;(.*;)?burn;(.*;)?sort_a;([^;]+;)${between}key_a"
	most_are "a generator" "$WORK/cpu" b 'main;(.*;)?burn;(.*;)?sum_b;(.*;)?each_b;(.*;)?deep_b'
	most_are "coroutines" "$WORK/cpu" c 'main;(.*;)?run_c;.*;steps_c;(.*;)?step_c'
	# Or the wait for the interpreter's lock after the sleep, if the library's own functions have no names.
	assert_between "a sleep, %" 95 100 "$(awk '/nap_d/ { all += $NF; right += $NF * (/;sleep_d;(.*;)?nap_d .*(;clock_nanosleep|time_sleep|python.*;pthread_cond_timedwait)/) }
		END { print all ? int(right * 100 / all) : -1 }' "$WORK/sleeps")"
	assert_between "ms asleep there, of thousands" 1000 100000 \
		"$(awk '/nap_d/ { all += $NF } END { print int(all / 1000000) }' "$WORK/sleeps")"
	# As many as are called, though more than a hundred.
	assert_between "functions of a deep recursion" 150 151 \
		"$(grep -E ';down_e' "$WORK/cpu" | awk '{ n = gsub(/down_e/, "&"); if (n > most) most = n } END { print most + 0 }')"
	# No function of one chain is in another chain's stacks.
	assert_eq "stacks with functions of two chains" 0 \
		"$(cat "$WORK/cpu" "$WORK/sleeps" | grep -cE '_a[ ;(].*_[bcd][ ;(]|_b[ ;(].*_[acd][ ;(]|_c[ ;(].*_[abd][ ;(]|_d[ ;(].*_[abc][ ;(]' || :)"
	assert_between "% of samples with the interpreter's loop instead of a function" 0 5 \
		"$(awk '{ all += $NF; loop += $NF * /_PyEval_EvalFrameDefault/ } END { print all ? int(loop * 100 / all) : -1 }' "$WORK/cpu")"
done < <(pythons)

# Holder of the interpreter's lock: always the thread that computes in Python, nearly never the thread that hashes in C.
mkfifo "$WORK/lock.in"
python3 tests/truth/python_lock.py 4 <"$WORK/lock.in" >"$WORK/lock.out" &
TRUTH_PID=$! TRUTH_OUT=$WORK/lock.out
exec {TRUTH_IN}>"$WORK/lock.in"
wait_for_line "$TRUTH_OUT" '^ready' 20
attach_in_background "$TRUTH_PID" "$WORK/lock.pbt" --topics sched,stack
sleep "$SETTLE"
truth_go 60
stop_attach
truth_end
"$ANALYZER" export "$WORK/lock.pbt" --to folded -o "$WORK/lock.all"
"$ANALYZER" export "$WORK/lock.pbt" --to folded --gil -o "$WORK/lock.held"
samples_in() {
	awk -v pattern="$2" '$0 ~ pattern { n += $NF } END { print n + 0 }' "$WORK/$1"
}
spun=$(samples_in lock.all spin_with_lock) hashed=$(samples_in lock.all hash_without_lock)
assert_between "samples that hash" 10 100000 "$hashed"
assert_between "samples that compute in Python with the lock, of $spun" $((spun * 9 / 10)) "$spun" "$(samples_in lock.held spin_with_lock)"
assert_between "samples that hash with it, of $hashed" 0 $((hashed / 10)) "$(samples_in lock.held hash_without_lock)"
report_json "$WORK/lock.pbt" "$WORK/lock.json"
assert_eq "the report has as many" "$(samples_in lock.held .)" "$(json "$WORK/lock.json" .stacks.samples_with_gil)"
[ -n "$seen" ] || skip "needs a CPython from 3.7 to 3.14"
