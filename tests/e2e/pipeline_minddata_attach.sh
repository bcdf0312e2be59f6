#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Attached in the middle of a job, MindData's operators, threads and rows are known at once; CPU use agrees with the kernel and MindSpore.
# timeout: 1800
# longer: beside the kernel and MindSpore's own sampler, a training of 20 s
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/minddata_lib.sh"
need_root
need_command jq
need_mindspore

AGREE=("$MINDSPORE_PYTHON" "$ROOT/tests/truth/minddata_agree.py")
TICK_NS=10000000 # no kernel ticks more slowly than 100 times a second

start_job middle --middle --rows 320 --epochs 2 --batch 16 --workers 2
start_job two --rows 320 --batch 16 --workers 2 --second sleep --map-ms 5

# ---- In the middle: all queues are full, and the first batch is fetched
run_traced middle
assert_eq "the operators, from the trainer down" \
	"EpochCtrl(ID:0) Batch(ID:1) Map(ID:2) Map(ID:3) Shuffle(ID:4) Generator(ID:5)" \
	"$(jq -r '[.pipeline[0].operators[].name] | join(" ")' "$WORK/middle.json")"
assert_eq "who hands to whom" "[[],[0],[1],[2],[3],[4]]" \
	"$(jq -c '[.pipeline[0].operators[].parents]' "$WORK/middle.json")"
assert_eq "threads of the Python map" "collector main worker worker" \
	"$(operator middle 2 'threads | map(.role) | sort | join(" ")')"
assert_eq "threads of Batch" "collector main worker" \
	"$(operator middle 1 'threads | map(.role) | sort | join(" ")')"
batches=$(job_value middle batches)
assert_eq "batches fetched since" $((batches - 1)) "$(json "$WORK/middle.json" .pipeline[0].fetches.count)"
assert_eq "ends of epochs" 2 "$(json "$WORK/middle.json" .pipeline[0].fetches.ends_of_data)"
assert_eq "rows of the generator since" $(($(job_value middle asked) - $(job_value middle asked_before))) \
	"$(operator middle 5 elements)"
for id in 1 2 3 5; do
	pushes=$(operator middle $id queue.pushes) pops=$(operator middle $id queue.pops)
	# The elements in the queue at attach come out: at most its capacity and one that waited outside.
	assert_between "operator $id: popped more than pushed, by what was there" 0 \
		$(($(operator middle $id queue.capacity) + 1)) $((pops - pushes))
done

# ---- Two equal pipelines from before the attach, used in turn; one of them is slow
run_traced two 2
# Before the attach, two batches of the first and one of the second were fetched; an end counts as a fetch, too.
assert_eq "batches of each since, and ends" "$(job_value two 'batches | tojson' | jq -c '[[.[0] - 2, 1], [.[1] - 1, 1]]')" \
	"$(jq -c '[.pipeline[].fetches | [.count, .ends_of_data]]' "$WORK/two.json")"
assert_eq "the operators of each" "$(jq -c '[.pipeline[0], .pipeline[0]] | map([.operators[].name])' "$WORK/two.json")" \
	"$(jq -c '.pipeline | map([.operators[].name])' "$WORK/two.json")"
assert_eq "threads of the second's Python map" "collector main worker worker" \
	"$(jq -r '[.pipeline[1].operators[] | select(.id == 1) | .threads[].role] | sort | join(" ")' "$WORK/two.json")"
assert_eq "the slow one" "Map(ID:1) sleeps" "$(jq -r '.pipeline[1].bottleneck | "\(.name) \(.kind)"' "$WORK/two.json")"
assert_eq "the other's map sleeps, too" false "$(jq '.pipeline[0].bottleneck.kind == "sleeps"' "$WORK/two.json")"

# ---- Compared with the kernel and MindSpore's own sampler, on a real training
[ -n "${PROFBPF_TEST_LONG:-}" ] || exit 0
"$MINDSPORE_PYTHON" "$WORKLOADS/train.py" --map burn --map-ms 1.5 --map-workers 1 --epochs 15 \
	--own-profile "$WORK/own" --own-interval 1000 >"$WORK/train.out" 2>"$WORK/train.err" &
pid=$!
wait_until "$IMPORT_SECONDS" grep -q '"ready"' "$WORK/train.out" || fail "no pipeline: $(tail "$WORK/train.err")"
# If many switches are missing, the kernel's sums are used, read at this interval.
attach_in_background "$pid" "$WORK/train.pbt" --interval 20ms
python3 "$ROOT/tests/truth/thread_times.py" "$pid" >"$WORK/before.json"
grep '^cpu ' /proc/stat >"$WORK/stat.before"
# Ten of MindSpore's windows, and more than a tick of every thread.
sleep 12
python3 "$ROOT/tests/truth/thread_times.py" "$pid" >"$WORK/after.json"
grep '^cpu ' /proc/stat >"$WORK/stat.after"
wait_for_end "$pid" 120 || fail "the training failed: $(tail "$WORK/train.err")"
wait_for_end "$PROFCTL_PID" 30 || fail "profctl failed: $(cat "$WORK/profctl.err")"
note "$(tail -n 1 "$WORK/train.out")"

session=$("$ANALYZER" report "$WORK/train.pbt" --section trace --format json | jq .trace.start_ns)
note "the kernel's figures were read in $(jq .took_ns "$WORK/before.json" "$WORK/after.json" | paste -sd ' ') ns"
before=$(jq .ns "$WORK/before.json") after=$(jq .ns "$WORK/after.json")
report_json "$WORK/train.pbt" "$WORK/kernel.json" --section pipeline,processes,host --top 0 \
	--from $((before - session))ns --to $((after - session))ns
"${AGREE[@]}" schedstat "$WORK/kernel.json" "$WORK/before.json" "$WORK/after.json" "$TICK_NS" ||
	fail "run times are not the kernel's"
read -r from to windows from_ns to_ns <<<"$("${AGREE[@]}" windows "$WORK/own/minddata_cpu_utilization_0.json" "$before" "$session")"
assert_between "windows of MindSpore's sampler" 10 1000 "$windows"
report_json "$WORK/train.pbt" "$WORK/windows.json" --section pipeline,host --from "${from}ns" --to "${to}ns"
assert_series_add_up "$WORK/windows.json"
# MindSpore's sampler reads times of threads and of CPUs one after the other, and ignores stolen time: its figures
# differ if it had to wait for a CPU itself, or a hypervisor took one.
disturbed=$(awk 'FNR == NR { for (i = 2; i <= 9; i++) before[i] = $i; next }
	{ for (i = 2; i <= 9; i++) all += $i - before[i]; idle = $5 - before[5]; steal = $9 - before[9]
	print (idle * 100 < all * 5 || steal * 100 > all) ? "yes" : "no" }' "$WORK/stat.before" "$WORK/stat.after")
"${AGREE[@]}" sampler "$WORK/windows.json" "$WORK/own/minddata_cpu_utilization_0.json" "$from_ns" "$to_ns" ||
	{ [ "$disturbed" = yes ] && note "CPUs were lacking: MindSpore's sampler is not judged by"; } ||
	fail "CPU use is not that of MindSpore's sampler"

# ---- MindSpore's own files as the input of a report: their errors are corrected, and reported
"$ANALYZER" info --device "$WORK/own" >"$WORK/info.txt"
assert_contains "what was wrong in them" "$WORK/info.txt" "the host's figures are there twice.* put right"
"$ANALYZER" report --device "$WORK/own" --format json -o "$WORK/own.json"
assert_eq "operators of its files" "$(jq -c '[.pipeline[0].operators[].name]' "$WORK/windows.json")" \
	"$(jq -c '[.pipeline[0].operators[].name]' "$WORK/own.json")"
assert_eq "batches in its files" "$(tail -n 1 "$WORK/train.out" | jq .steps)" "$(jq .pipeline[0].fetches.count "$WORK/own.json")"
# If they were read twice, the sum would be half. Interrupts and stolen time are not in them.
assert_between "its host's user, system, I/O and idle time, percent of all CPUs" 70 110 \
	"$(jq '.host | (.user_ns + .system_ns + .iowait_ns + .idle_ns) * 100 / (.duration_ns * '"$(nproc --all)"') | floor' "$WORK/own.json")"
