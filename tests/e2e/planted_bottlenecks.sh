#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Trainings with one planted bottleneck each: the verdict names the right operator and reason, also where MindSpore's
# own analysis does not.
# timeout: 2400
# longer: all trainings, not those alone that differ most
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/minddata_lib.sh"
need_root
need_command jq
need_mindspore

# Name, operator ("any": any, or none), right kinds, and the plant. Python that burns has both the interpreter's
# lock and a CPU: with few CPUs the trainer's other threads lack a CPU. Rows and epochs are chosen so that each case
# runs a second or two: steps of 32 rows, the first two of which are not judged. A small network that takes no
# longer than its rows shares the CPUs with them, or leaves one idle; it has one epoch, because the change of an epoch
# takes as long as many of its steps.
CASES=(
	"baseline           -            none           --rows 640 --epochs 2"
	"burn_2_threads     Map(ID:2)    lock,takes_cpu --rows 640 --epochs 2 --map burn --map-ms 2"
	"burn_2_processes   Map(ID:2)    busy,takes_cpu --rows 320 --epochs 2 --map burn --map-ms 2 --processes --network none"
	"sleep_2_workers    Map(ID:2)    sleeps         --rows 640 --epochs 2 --map sleep --map-ms 5 --network none"
	"heavy_2_workers    Map(ID:2)    busy,takes_cpu --rows 640 --epochs 2 --map none --image 384 --blurs 12 --own-interval 200 --own-profile $WORK/own"
	"source_2_threads   Generator(ID:5) sleeps      --rows 640 --epochs 2 --source-ms 5 --workers 2 --network none"
)
MORE_CASES=(
	"small_network      any          none,takes_cpu,lock,busy --rows 2560 --epochs 1 --network perceptron"
	"pynative           -            none           --rows 320 --epochs 1 --pynative"
	"no_python_map      -            none           --rows 640 --epochs 2 --map none"
	"burn_1_worker      Map(ID:2)    lock,takes_cpu --rows 640 --epochs 2 --map burn --map-ms 2 --map-workers 1"
	"burn_5_ms          Map(ID:2)    lock,takes_cpu,busy --rows 320 --epochs 2 --map burn --map-ms 5"
	"sleep_1_worker     Map(ID:2)    sleeps         --rows 640 --epochs 2 --map sleep --map-ms 2.5 --map-workers 1 --network none"
	"heavy_1_worker     Map(ID:2)    busy,takes_cpu --rows 320 --epochs 2 --map none --image 384 --blurs 12 --workers 1"
	"source_1_worker    Generator(ID:5) sleeps      --rows 640 --epochs 2 --source-ms 2.5 --workers 1 --network none"
	"source_processes   Generator(ID:5) sleeps      --rows 640 --epochs 2 --source-ms 5 --processes --network none"
)

readonly OTHERS_PERCENT=20
# Images, and bytes a second. Each file has 32 KB, mostly after the end of the image, so that the time of the disk is
# independent of the CPU. More images than a shuffle buffers, because it releases those at once at the end.
SLOW_DISKS=("4MB 320 4000000")
if [ -n "${PROFBPF_TEST_LONG:-}" ]; then
	CASES+=("${MORE_CASES[@]}")
	SLOW_DISKS+=("1MB 192 1000000")
fi
readonly SLOW_DISK="ImageFolder(ID:4) storage --batch 16 --epochs 1 --network none"

# ---- Disks with a limited rate

# make_disk: makes a file system with a folder for each number of images; returns false if that is not possible.
make_disk() {
	command -v losetup >/dev/null && command -v mkfs.ext4 >/dev/null || return 1
	mkdir "$WORK/mnt"
	truncate -s 64M "$WORK/disk"
	mkfs.ext4 -q -F "$WORK/disk" && mount_disk rw || return 1
	"$MINDSPORE_PYTHON" - "$WORK/mnt" 192 320 <<-'END'
		import os, sys
		import numpy as np
		from PIL import Image
		rng = np.random.default_rng(0)
		for images in sys.argv[2:]:
		    for i in range(int(images)):
		        name = f"{sys.argv[1]}/{images}/{i % 4}/{i}.jpg"
		        os.makedirs(os.path.dirname(name), exist_ok=True)
		        Image.fromarray(rng.integers(0, 255, (32, 32, 3), np.uint8)).save(name, quality=95)
		        with open(name, "ab") as file:
		            file.write(bytes(32768 - file.tell()))
	END
	unmount_disk
}

unmount_disk() {
	umount "$WORK/mnt"
	MOUNTS_MADE=()
}

# mount_disk OPTION: mounts it with no page in memory. Sets DEVICE.
mount_disk() {
	local loop
	MOUNTS_MADE=("$WORK/mnt")
	mount -o "loop,$1" "$WORK/disk" "$WORK/mnt" || return 1
	loop=$(losetup -j "$WORK/disk" | cut -d: -f1)
	blockdev --flushbufs "$loop"
	DEVICE=$(stat -c '%Hr:%Lr' "$loop")
}

# ---- The trainings, one after another, all children of one traced process

coproc JOBS { exec "$MINDSPORE_PYTHON" "$ROOT/tests/truth/mindspore_jobs.py" 2>"$WORK/jobs.err"; }
JOBS_PID=$!
disk=true DEVICE='' SLOW_GROUP=''
make_disk || disk=false
read -r -t $((IMPORT_SECONDS * PATIENCE)) line <&"${JOBS[0]}" || fail "MindSpore was not imported: $(cat "$WORK/jobs.err")"
attach_in_background "$JOBS_PID" "$WORK/run.pbt"

# train GROUP NAME OPERATOR KINDS OPTION...: runs it; the expected result is EXPECTED[process id]
declare -A EXPECTED
train() {
	local group=$1 name=$2 operator=$3 kinds=$4 reply pid status
	shift 4
	jq -cn --arg out "$WORK/$name.out" --arg group "$group" --arg job "$WORKLOADS/train.py" \
		'[$out, $group, $job] + $ARGS.positional' --args -- "$@" >&"${JOBS[1]}"
	read -r -t $((200 * PATIENCE)) reply <&"${JOBS[0]}" || fail "$name does not end: $(tail "$WORK/$name.out")"
	pid=$(jq .pid <<<"$reply") status=$(jq .status <<<"$reply")
	[ "$status" = 0 ] || fail "$name ended with status $status: $(tail "$WORK/$name.out")"
	EXPECTED[$pid]="$name $operator $kinds"
}

for line in "${CASES[@]}"; do
	# shellcheck disable=SC2086 # words
	train "" $line
done
for line in "${SLOW_DISKS[@]}"; do
	read -r name images rate <<<"$line"
	if $disk && mount_disk ro && make_slow_group "profbpf-$name" "$DEVICE" "$rate"; then
		# shellcheck disable=SC2086
		train "$SLOW_GROUP/cgroup.procs" "slow_disk_$name" $SLOW_DISK --rows "$images" --folder "$WORK/mnt/$images"
		unmount_disk
	else
		leave_out "no disk of $name/s can be made here (losetup, mkfs.ext4, a cgroup controller of block devices)"
	fi
done
stop_attach
report_json "$WORK/run.pbt" "$WORK/run.json"
assert_eq "all that was recorded is there" true "$(jq .capture.complete "$WORK/run.json")"

# ---- Verdicts

# The reason of a slow operator can only be judged on an idle machine: on a busy one all operators lack CPUs, and the
# one that the steps wait for most is random. Then only a verdict that names another operator with another reason
# is wrong.
others=$(jq '([.processes[] | select(.target | not) | .run_ns] | add) * 100 / .trace.duration_ns | floor' "$WORK/run.json")
steal=$(jq '.host.steal_ns * 100 / .trace.duration_ns | floor' "$WORK/run.json")
note "processes other than the trainings had $others % of a CPU, a hypervisor took $steal %"
others=$((others + steal))

# excused: whether the load of the machine explains the verdict. Then a training may also wait without a plant, by
# its own clock, and hardly wait with one: this happens on a slow machine, too, where its steps take longer.
excused() {
	local waits
	waits=$(tail -n 1 "$WORK/$name.out" | jq '.wait_ms_p50 * 100 / ([.step_ms_p50, 0.001] | max) | floor')
	if [ "$found" = - ] && [ "$waits" -lt 20 ]; then return; fi
	[ "$others" -gt "$OTHERS_PERCENT" ] &&
		[[ $found == "$operator" || $found == - || $kind == starved || ($operator == - && $waits -ge 20) ]]
}

# Read once for all trainings, because the report is large.
jq -r '.pipeline[] | (.bottleneck // {name: "-", kind: "none", percent: 0}) as $b | "\(.pid) \($b.name) \($b.kind) \($b.percent)"' \
	"$WORK/run.json" >"$WORK/verdicts"
jq -r '.capture.not_covered[] | "\(.pid) \(.start_ns + .duration_ns)"' "$WORK/run.json" >"$WORK/uncovered"

# verdict PID NAME: "OPERATOR KIND PERCENT"; "nothing" without a pipeline, but "-" if the report says that the training
# began before it was probed.
verdict() {
	local begin
	if grep -q "^$1 " "$WORK/verdicts"; then
		sed -n "s/^$1 //p" "$WORK/verdicts" | head -n 1
		return
	fi
	begin=$(tail -n 1 "$WORK/$2.out" | jq .t_begin_mono)
	if awk -v pid="$1" -v begin="$begin" '$1 == pid && $2 > begin { late = 1 } END { exit !late }' "$WORK/uncovered"; then
		echo "- unprobed 0"
	else
		echo "nothing none 0"
	fi
}

printf '%-17s %-17s %-15s %-9s %6s %7s %7s  %s\n' case planted verdict kind percent "step ms" "wait ms" right
wrong=0
for pid in $(printf '%s\n' "${!EXPECTED[@]}" | sort -n); do
	read -r name operator kinds <<<"${EXPECTED[$pid]}"
	read -r found kind percent <<<"$(verdict "$pid" "$name")"
	right=no
	if [[ ($found == "$operator" || $operator == any) && ",$kinds," == *",$kind,"* ]]; then
		right=yes
	elif excused; then
		right="as this machine is"
	else
		wrong=$((wrong + 1))
	fi
	printf '%-17s %-17s %-15s %-9s %6.1f %7.1f %7.1f  %s\n' "$name" "$operator" "$found" "$kind" "$percent" \
		"$(tail -n 1 "$WORK/$name.out" | jq .step_ms_p50)" "$(tail -n 1 "$WORK/$name.out" | jq .wait_ms_p50)" "$right"
done

# ---- MindSpore's own analysis of one of them

jq -cn --arg out "$WORK/reference.out" --arg job "$WORKLOADS/own_analysis.py" '[$out, "", $job, $own, $own]' \
	--arg own "$WORK/own" >&"${JOBS[1]}"
read -r -t $((100 * PATIENCE)) line <&"${JOBS[0]}" || fail "MindSpore's analysis does not end"
note "heavy_2_workers by MindSpore's own analysis: $(jq -c '.bottleneck_warning' "$WORK/own/minddata_pipeline_summary_0.json")"
exec {JOBS[1]}>&-
wait_for_end "$JOBS_PID" 20 || :
[ "$wrong" -eq 0 ] || fail "$wrong verdicts are wrong"
