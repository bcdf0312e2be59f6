#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The OpenCL layer reports every command once, to whoever listens, and changes nothing for the program.
# timeout: 1800
# beside others: what programs do and return is the same however busy the machine
. "$(dirname "$0")/lib.sh"
need_opencl_device
need_command clinfo ffmpeg

LAYER=$BUILD/libprofbpf-opencl.so
KNOWN=$TRUTH/opencl_known
DUMP=$BUILD/tests/tools/stream_dump
ROUNDS=40 THREADS=3

# Thread ids and the process id differ from run to run; nothing else may.
comparable() { sed -E 's/^(ready|thread) [0-9]+/\1/; s/^count [0-9]+/count/' "$1"; }

# run_known NAME [ARG...]: a run that nobody listens to; its output: $WORK/NAME
run_known() {
	local name=$1
	shift
	echo go | "$KNOWN" -r $ROUNDS -t $THREADS "$@" >"$WORK/$name" 2>"$WORK/$name.err" ||
		fail "opencl_known $*: $(cat "$WORK/$name.err")"
	[ ! -s "$WORK/$name.err" ] || fail "opencl_known $* says: $(cat "$WORK/$name.err")"
}

# listen PID NAME: starts a reader; its tasks: $WORK/NAME. Sets DUMP_PID.
listen() {
	rm -f "$WORK/$2.err"
	"$DUMP" "$1" >"$WORK/$2" 2>"$WORK/$2.err" </dev/null &
	DUMP_PID=$!
	wait_for_line "$WORK/$2.err" '^listening' 20
}

# run_listened [ARG...]: the reader comes after the warm-up. Output: $WORK/out, tasks: $WORK/tasks
run_listened() {
	local known
	rm -f "$WORK/go" "$WORK/out"
	mkfifo "$WORK/go"
	OPENCL_LAYERS=$LAYER "$KNOWN" -r $ROUNDS -t $THREADS "$@" <"$WORK/go" >"$WORK/out" 2>"$WORK/out.err" &
	known=$!
	exec 9>"$WORK/go"
	wait_for_line "$WORK/out" '^ready' 60
	listen "$(awk '/^ready/ { print $2 }' "$WORK/out")" tasks
	echo go >&9
	exec 9>&-
	wait_for_end $known 60 || fail "opencl_known $* with a listener: $(cat "$WORK/out.err")"
	wait_for_end $DUMP_PID 20 || fail "stream_dump: $(cat "$WORK/tasks.err")"
	[ ! -s "$WORK/out.err" ] || fail "opencl_known $* says: $(cat "$WORK/out.err")"
}

# Counts per thread and name, sizes, kinds, times: all of it known beforehand.
judge_tasks() {
	local what=$1 wrong
	awk '/^count/ { print $2, $3, $4 }' "$WORK/out" | sort >"$WORK/want"
	awk '/^task/ { n[$6 " " $3]++ } END { for (k in n) print k, n[k] }' "$WORK/tasks" | sort >"$WORK/got"
	diff "$WORK/want" "$WORK/got" || fail "$what: the layer saw other commands than the program made"
	assert_eq "$what: threads and commands" $((10 * THREADS)) "$(wc -l <"$WORK/got")"
	assert_contains "$what: nothing lost" "$WORK/tasks" \
		"^counts source opencl-layer produced $((13 * ROUNDS * THREADS)) delivered $((13 * ROUNDS * THREADS)) lost 0 untimed 0 in_flight 0\$"
	wrong=$(awk -v known="known_add:1:0 known_double:1:0 FillBuffer:3:16384 CopyBuffer:2:16384 ReadBuffer:2:16384 \
		WriteBuffer:2:4 MapBuffer:4:16384 UnmapMemObject:4:0 MarkerWithWaitList:5:0 BarrierWithWaitList:5:0" '
		BEGIN { split(known, list); for (i in list) right[list[i]] = 1 }
		/^task/ && (!(($3 ":" $4 ":" $8) in right) || $9 != 0) { print }
		/^task/ && !($10 > 0 && $11 >= $10 && $12 >= $11 && $13 >= $12) { print "times: " $0 }
		/^task/ && seen[$2]++ { print "twice: " $0 }' "$WORK/tasks")
	[ -z "$wrong" ] || fail "$what: wrong tasks:
$(head -n 5 <<<"$wrong")"
}

# Of the clock declared: one offset must put every "queued" inside its enqueue call.
judge_clock() {
	local what=$1 spread
	if clinfo -l | grep -q 'Portable Computing Language'; then
		assert_contains "$what: PoCL's clock is MONOTONIC_RAW" "$WORK/tasks" '^device 0 cpu clock 2 '
	fi
	# The clocks may run apart by 500 ppm.
	read -r spread elapsed <<<"$(awk '/^task/ {
		early = $10 - $14; late = $10 - $14 - $15
		if (!n++ || early < least) least = early
		if (n == 1 || late > most) most = late
		if (n == 1 || $14 < first) first = $14
		if (n == 1 || $14 > last) last = $14
	} END { printf "%.0f %.0f", most - least, last - first }' "$WORK/tasks")"
	# Rounded doubles cost a microsecond; a hundred is still far below a wrong clock's error.
	assert_between "$what: ns by which enqueue and device times disagree" -1000000000000 $((100000 + elapsed / 2000)) "$spread"
}

# ---- Nothing changes for programs

clinfo >"$WORK/clinfo.without" 2>&1
OPENCL_LAYERS=$LAYER clinfo >"$WORK/clinfo.with" 2>&1
cmp "$WORK/clinfo.without" "$WORK/clinfo.with" || fail "clinfo says something else with the layer"
note "clinfo says the same with the layer"

# Plain, with own profiling, events without profiling, out of order, after fork, without descriptors.
for options in "" -p -e -o "-p -o" -f "-f -p" -c "-c -e -o"; do
	# shellcheck disable=SC2086 # options are words
	{
		run_known without $options
		OPENCL_LAYERS=$LAYER run_known with $options
		run_listened $options
	}
	for run in with out; do
		diff <(comparable "$WORK/without") <(comparable "$WORK/$run") ||
			fail "opencl_known $options: another outcome with the layer ($run)"
	done
	judge_tasks "opencl_known $options"
	judge_clock "opencl_known $options"
done

# Where no file may grow to the size of the stream the layer does without; trying would be fatal.
(ulimit -f 1024 && OPENCL_LAYERS=$LAYER run_known limited -c -e -o)
diff <(comparable "$WORK/without") <(comparable "$WORK/limited") || fail "under ulimit -f: another outcome"
note "the outcome under ulimit -f is the same"

# ---- A real program, of which a listener dies

frames=100
# filter FILE: the frames come from there
filter() {
	ffmpeg -hide_banner -loglevel error -init_hw_device opencl=gpu:0.0 -filter_hw_device gpu \
		-f rawvideo -video_size 640x360 -pixel_format yuv420p -framerate 25 -i "$1" \
		-vf format=yuv420p,hwupload,unsharp_opencl=lx=9:ly=9,avgblur_opencl=3,hwdownload,format=yuv420p \
		-f md5 - 2>&1
}
ffmpeg -nostdin -hide_banner -loglevel error -f lavfi -i "testsrc2=size=640x360:rate=25:duration=$((frames / 25))" \
	-f rawvideo -pix_fmt yuv420p "$WORK/frames"
without=$(filter "$WORK/frames")
mkfifo "$WORK/feed"
# A quarter at once, and one each time that the next file is there.
feed() {
	local file
	for file in frames listening both killed; do
		until [ -e "$WORK/$file" ]; do sleep 0.05; done
		dd bs=$((640 * 360 * 3 / 2)) count=$((frames / 4)) iflag=fullblock status=none
	done
}
feed <"$WORK/frames" >"$WORK/feed" &
OPENCL_LAYERS=$LAYER filter "$WORK/feed" >"$WORK/md5" &
wrapper=$!
ffmpeg_pid=
has_stream() {
	ffmpeg_pid=$(pgrep -P $wrapper -x ffmpeg) && grep -q memfd:profbpf-device-stream "/proc/$ffmpeg_pid/maps"
}
wait_until 20 has_stream || fail "ffmpeg has no device stream"
listen "$ffmpeg_pid" first
: >"$WORK/listening"
killed=$DUMP_PID
listen "$ffmpeg_pid" second
: >"$WORK/both"
kill -KILL "$killed"
: >"$WORK/killed"
wait_for_end $wrapper 60 || fail "ffmpeg failed with the layer: $(cat "$WORK/md5")"
wait_for_end $DUMP_PID 20
assert_eq "ffmpeg's frames" "$without" "$(cat "$WORK/md5")"
assert_contains "ffmpeg: nothing lost" "$WORK/second" '^counts .* lost 0 untimed 0 in_flight 0$'
for kernel in unsharp_local avgblur_horiz avgblur_vert; do
	assert_between "ffmpeg: $kernel" 1 $((3 * frames)) "$(grep -c "^task [0-9]* $kernel 1 " "$WORK/second")"
done
