#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The CUPTI shim reports every task once, with its times and its call, and changes nothing for the program.
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq
[ -e "$BUILD/libprofbpf-cupti.so" ] || skip "needs libprofbpf-cupti.so (make cuda-headers, or CUDA_INCLUDE, before make)"

DUMP=$BUILD/tests/tools/stream_dump
ROUNDS=50 THREADS=3
rounds=$((ROUNDS * THREADS))
# A copy, a fill, two kernels, a graph of 5 kernels, and a wait.
tasks=$((rounds * 10))

# File names and places as in CUDA; the shim finds CUPTI beside the runtime.
mkdir "$WORK/cuda"
for library in cuda:cuda.so.1 cudart:cudart.so.13 cupti:cupti.so.13; do
	cp "$TRUTH/lib${library%:*}_truth.so" "$WORK/cuda/lib${library#*:}"
done
export LD_LIBRARY_PATH=$WORK/cuda TRUTH_CUPTI_LOG=$WORK/log
SHIM=$BUILD/libprofbpf-cupti.so

# start_known [ARG...]: starts the program with the shim; it waits before its work
start_known() {
	rm -f "$WORK/cupti_known.in" "$WORK/log"
	CUDA_INJECTION64_PATH=$SHIM start_truth cupti_known -r $ROUNDS -t $THREADS "$@"
}

# listen: starts a reader of the program's stream; its tasks: $WORK/tasks. Sets DUMP_PID.
listen() {
	rm -f "$WORK/tasks.err"
	"$DUMP" "$TRUTH_PID" >"$WORK/tasks" 2>"$WORK/tasks.err" </dev/null {TRUTH_IN}>&- &
	DUMP_PID=$!
	wait_for_line "$WORK/tasks.err" '^listening' 20
}

# run_dumped: a run that stream_dump sees completely
run_dumped() {
	start_known -w
	listen
	finish_dumped
}

finish_dumped() {
	truth_go
	truth_end
	wait_for_end $DUMP_PID 20 || fail "stream_dump: $(cat "$WORK/tasks.err")"
	assert_eq "CUPTI recorded" 1 "$(truth_value recorded)"
	[ ! -s "$WORK/cupti_known.err" ] || fail "the program says: $(cat "$WORK/cupti_known.err")"
}

# judge_tasks WHAT CLOCK: the shim's tasks equal those of CUPTI's test double
judge_tasks() {
	local wrong
	assert_contains "$1: nothing lost" "$WORK/tasks" \
		"^counts source cupti produced $tasks delivered $tasks lost 0 untimed 0 in_flight 0\$"
	assert_contains "$1: device and clock" "$WORK/tasks" "^device 0 gpu clock $2 Truth GPU 0\$"
	# Sorted by start: tasks of a graph that end before its call are reported after the others.
	sort -n -k 8,8 "$WORK/log" >"$WORK/known"
	wrong=$(sed -E 's/^(task [0-9]+ (Memcpy|Stream)) /\1_/' "$WORK/tasks" | sort -n -k 12,12 |
		awk -v exact="$(($2 == 1))" -v slack="$(($2 == 1 ? 0 : 50000))" '
		function key(correlation, name, kind, tid, stream, bytes) {
			return correlation " " name " " kind " " tid " " stream " " bytes
		}
		# Several tasks of one graph differ in their times only.
		FNR == NR && /^task/ {
			k = key($2, $3, $4, $5, $6, $7)
			first[k "#" ++known[k]] = $8; last[k "#" known[k]] = $9; call[k] = $10
			next
		}
		/^task/ {
			k = key($2, $3, $4, $6, $7, $8)
			n = ++seen[k]
			if (n > known[k]) { print "unknown or twice: " $0; next }
			late = $12 - first[k "#" n]
			longer = $13 - $12 - (last[k "#" n] - first[k "#" n])
			# The test double reads two clocks for each instant.
			if ((exact && late) || longer > slack || longer < -slack)
				print "times: " $0 " known: " first[k "#" n] " " last[k "#" n]
			early = call[k] - $14
			# The calling thread may lose its CPU during the call.
			if (early > slack || early < -10000000000) print "call: " $0 " known: " call[k]
		}
		END { for (k in known) if (seen[k] != known[k]) print "missing: " k }' "$WORK/known" -)
	[ -z "$wrong" ] || fail "$1: wrong tasks:
$(head -n 5 <<<"$wrong")"
	note "$1: $tasks tasks as known"
}

# ---- Every task, by CUPTI of CUDA 13, of 11.0, and with calls reported after their tasks

run_dumped
judge_tasks "CUDA 13" 1
assert_eq "recorded API functions" "cudaLaunchKernel cuLaunchKernel cuMemcpyHtoDAsync_v2 cuMemsetD8Async cuGraphLaunch cuStreamSynchronize cudaGraphLaunch cudaMemcpy cudaMemcpyAsync cudaMemsetAsync cudaStreamSynchronize cudaEventSynchronize cudaDeviceSynchronize" \
	"$(sed -n 's/^api //p' "$WORK/log" | paste -sd ' ')"
TRUTH_CUPTI=late run_dumped
judge_tasks "calls told late" 1
# Records in CLOCK_REALTIME; on a machine whose clocks differ by less than a few microseconds
TRUTH_CUPTI="old late" run_dumped
judge_tasks "CUDA 11.0" 4

# ---- A listener that is killed, and another one after it

start_known -w
listen
wait_for_line "$WORK/log" '^begin' 20
kill -KILL $DUMP_PID
wait_for_line "$WORK/log" '^end' 20
note "CUPTI's recording ends with the lease"
listen
finish_dumped
judge_tasks "the second listener" 1

# ---- In a session: joined to the calls, by name, in the host's time

# record_known NAME: the report: $WORK/NAME.json
record_known() {
	start_known -w
	attach_in_background "$TRUTH_PID" "$WORK/$1.pbt" --topics api,device
	truth_go
	stop_attach
	truth_end
	report_json "$WORK/$1.pbt" "$WORK/$1.json"
	assert_loss_accounted "$WORK/$1.json"
}

# known_start STREAM: the start of its first task, from the test double
known_start() {
	awk -v stream="$1" '/^task/ && $6 == stream { print $8 }' "$WORK/log" | sort -n | sed -n 1p
}
# judge_arrows: on the timeline of record_known's recording an arrow leads to each joined task, from a call of the
# launching thread that was active when the test double was called. The two clocks are read one after the other, so
# their difference varies by some ns from snapshot to snapshot; tasks of a thread are microseconds apart.
judge_arrows() {
	local wrong
	"$ANALYZER" export "$WORK/session.pbt" --to perfetto -o "$WORK/session.pftrace"
	assert_trace_clean "$WORK/session.pftrace"
	trace_query "$WORK/session.pftrace" "select 'arrow', tid, a.ts, a.dur, b.name, b.ts
		from flow f join slice a on a.id = f.slice_out join slice b on b.id = f.slice_in
		join thread_track tt on tt.id = a.track_id join thread using (utid) where a.category != 'holder' union all
		select * from (select 'offset', ts - clock_value, null, null, null, null from clock_snapshot where clock_name = 'MONOTONIC' limit 1)" |
		tr -d '"' | sed 1d >"$WORK/arrows"
	assert_eq "arrows to tasks" "$(jq .join.matched "$WORK/session.json")" "$(grep -c ^arrow "$WORK/arrows")"
	wrong=$(awk -F '[ ,]' '
		FNR == NR { if ($1 == "task") call[$8 "," $5] = $10; next }
		$1 == "offset" { offset = $2; next }
		{ line[++n] = $0 }
		function known(start, tid,    d, key) {
			for (d = 0; d <= 200; d++) {
				key = sprintf("%.0f", start + (d % 2 ? -1 : 1) * int((d + 1) / 2)) "," tid
				if (key in call) return call[key]
			}
			return ""
		}
		END { for (i = 1; i <= n; i++) {
			split(line[i], f, ",")
			at = known(f[6] - offset, f[2])
			# A call whose end was not seen has no duration.
			if (at == "" || at + offset + 100 < f[3] || (f[4] && at + offset - 100 > f[3] + f[4])) print line[i] " known: " at
		} }' "$WORK/log" "$WORK/arrows")
	[ -z "$wrong" ] || fail "wrong arrows:
$(head -n 5 <<<"$wrong")"
}

operator() { jq "[.operators[] | select(.name == \"$1\") | .$2] | add // 0" "$r"; }

for how in "" "old late"; do
	TRUTH_CUPTI=$how record_known session
	r=$WORK/session.json
	assert_eq "device (${how:-13})" "Truth GPU 0 cupti" "$(jq -r '.devices[0] | .name + " " + .source' "$r")"
	assert_eq "tasks" "$tasks $rounds" "$(jq -r '.devices[0] | "\(.tasks) \(.tasks_sync)"' "$r")"
	# Functions end in tail calls: until the daemon has probed their targets, which takes longer on a busy machine,
	# ends of calls are not seen. A graph is five kernels; the driver call inside a runtime call then counts as a
	# separate launch.
	unknown=$(jq '[.api[].end_unknown // 0] | add' "$r")
	assert_between "calls whose end is not known" 0 $((rounds / 3)) "$unknown"
	assert_eq "tasks with their call and without, in doubt" "$tasks 0" \
		"$(jq -r '.join | "\(.matched + .unmatched_tasks) \(.ambiguous)"' "$r")"
	assert_between "tasks without their call" 0 $((5 * unknown)) "$(jq .join.unmatched_tasks "$r")"
	assert_between "calls without a task" 0 $((2 * unknown)) "$(jq .join.unmatched_launches "$r")"
	# Exact with CLOCK_MONOTONIC; else the test double reads two clocks for each instant, and snapshots are a second
	# apart.
	slack=0 early=0
	[ -z "$how" ] || slack=100000 early=$rounds
	assert_between "tasks before their call" 0 $early "$(jq '[.join.clock.before_enqueue // 0] | add' "$r")"
	assert_eq "kernels of a graph, and by the runtime" "$((5 * rounds)) $rounds" \
		"$(operator graph_kernel count) $(operator nameless count)"
	assert_between "their time" $((5 * rounds * 5000 + rounds * 4000 - slack)) $((5 * rounds * 5000 + rounds * 4000 + slack)) \
		$(($(operator graph_kernel total_ns) + $(operator nameless total_ns)))
	[ -n "$how" ] || [ ! -s "$ROOT/build/tools/trace-processor/trace_processor.wasm" ] || judge_arrows
	assert_eq "kernels by name" "$((2 * ROUNDS)) $ROUNDS" \
		"$(operator added count) $(operator scaled count)"
	assert_eq "copies and fills" "$rounds $rounds" "$(operator 'Memcpy HtoD' count) $(operator Memset count)"
	for stream in 7 8 9; do
		first=$(known_start $stream)
		got=$(jq ".devices[0].streams[] | select(.id == $stream or .id == \"$stream\") | .first_start_ns" "$r")
		assert_between "first start on stream $stream" $((first - slack)) $((first + slack)) "$got"
	done
done

# ---- Nothing changes for the program, whatever is missing

# run_alone NAME [VARIABLE...]: runs without a reader
run_alone() {
	local name=$1
	shift
	rm -f "$WORK/log"
	printf '\n\n' | env "$@" "$TRUTH/cupti_known" -r $ROUNDS -t $THREADS 2>"$WORK/$name.err" |
		sed 's/^ready.*/ready/' >"$WORK/$name.alone"
	[ ! -s "$WORK/$name.err" ] || fail "$name: the program says: $(cat "$WORK/$name.err")"
}

run_alone without
run_alone with CUDA_INJECTION64_PATH="$SHIM"
diff "$WORK/without.alone" "$WORK/with.alone" || fail "another outcome with the shim"
[ ! -e "$WORK/log" ] || fail "CUPTI was begun though nobody listens"
note "CUPTI is not begun while nobody listens"

# refused WHAT PATTERN [VARIABLE...]: a reader listens, but CUPTI does not work; reported only with PROFBPF_VERBOSE
refused() {
	local what=$1 pattern=$2 verbose
	shift 2
	for verbose in "" 1; do
		rm -f "$WORK/refused.in" "$WORK/refused" "$WORK/log" "$WORK/tasks.err"
		mkfifo "$WORK/refused.in"
		env ${verbose:+PROFBPF_VERBOSE=1} CUDA_INJECTION64_PATH="$SHIM" "$@" \
			"$TRUTH/cupti_known" -r $ROUNDS -t $THREADS \
			<"$WORK/refused.in" >"$WORK/refused" 2>"$WORK/refused.err" &
		known_pid=$!
		exec {REFUSED_IN}>"$WORK/refused.in"
		wait_for_line "$WORK/refused" '^ready' 20
		"$DUMP" "$(awk '/^ready/ { print $2 }' "$WORK/refused")" \
			>"$WORK/tasks" 2>"$WORK/tasks.err" </dev/null {REFUSED_IN}>&- &
		dump=$!
		wait_for_line "$WORK/tasks.err" '^listening' 20
		[ -z "$verbose" ] || wait_for_line "$WORK/refused.err" "$pattern" 20
		printf '\n\n' >&"$REFUSED_IN"
		exec {REFUSED_IN}>&-
		wait_for_end $known_pid 20 || fail "$what: the program failed: $(cat "$WORK/refused")"
		wait_for_end $dump 20
		assert_contains "$what" "$WORK/tasks" '^counts source cupti produced 0 '
		diff "$WORK/without.alone" <(sed 's/^ready.*/ready/' "$WORK/refused") || fail "$what: another outcome"
		if [ -n "$verbose" ]; then
			assert_contains "$what, said" "$WORK/refused.err" "$pattern"
		else
			[ ! -s "$WORK/refused.err" ] || fail "$what: the program says: $(cat "$WORK/refused.err")"
		fi
	done
}

refused "CUPTI of CUDA 10" '^profbpf: CUPTI: no device times: its version is 12 ' TRUTH_CUPTI=ancient
refused "another profiler" '^profbpf: CUPTI: no device times: .*another profiler' TRUTH_CUPTI=busy
mv "$WORK/cuda/libcupti.so.13" "$WORK/elsewhere.so"
[ -e /usr/local/cuda/extras/CUPTI ] || ldconfig -p | grep -q libcupti ||
	refused "no CUPTI" "^profbpf: CUPTI: no device times: cannot load libcupti" LD_LIBRARY_PATH="$WORK/cuda"
export PROFBPF_CUPTI=$WORK/elsewhere.so
run_dumped
judge_tasks "CUPTI by its path" 1
