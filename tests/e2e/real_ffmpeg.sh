#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Attach to a running ffmpeg with OpenCL filters: every launch that the device layer saw is a call
# in the trace, joined to its task; idle causes add up; the export can be loaded.
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
need_root
need_command jq ffmpeg python3
need_opencl_device

FILTERS=format=yuv420p,hwupload,unsharp_opencl=lx=9:ly=9,avgblur_opencl=3,hwdownload,format=yuv420p

frames() { sed -n 's/^frame=//p' "$WORK/progress" | tail -n 1; }
has_made() { [ "$(frames)" -ge "$1" ]; }

OPENCL_LAYERS=$BUILD/libprofbpf-opencl.so ffmpeg -nostdin -hide_banner -loglevel error -progress "$WORK/progress" \
	-init_hw_device opencl=gpu:0.0 -filter_hw_device gpu -f lavfi -i testsrc2=size=320x180:rate=30:duration=3600 \
	-vf "$FILTERS" -c:v libx264 -preset ultrafast -f null - 2>"$WORK/ffmpeg.err" &
JOB=$!
wait_until 90 has_made 20 || fail "ffmpeg does not get going: $(cat "$WORK/ffmpeg.err")"
attach_in_background "$JOB" "$WORK/ffmpeg.pbt"
wait_until 90 has_made $(($(frames) + 100)) || fail "ffmpeg does not get on: $(cat "$WORK/ffmpeg.err")"
stop_attach
kill -0 "$JOB" || fail "ffmpeg did not survive"
report_json "$WORK/ffmpeg.pbt" "$WORK/ffmpeg.json" --top 0
r=$WORK/ffmpeg.json
assert_loss_accounted "$r"
assert_complete "$r"
launches=$(jq '[.api[] | select(.function == "clEnqueueNDRangeKernel") | .count] | add' "$r")
kernels=$(jq '[.operators[] | select(.type == "kernel") | .count] | add' "$r")
# At least one launch by each filter for each frame.
assert_between "kernel launches in the trace" 300 100000000 "$launches"
assert_between "kernels the device ran" $((launches / 10)) "$launches" "$kernels"
# The loader's functions tail-call the driver's: the end of a call is not seen the first time.
assert_between "tasks without a call, of calls whose end is not known" 0 "$(jq '[.api[].end_unknown // 0] | add' "$r")" \
	"$(jq .join.unmatched_tasks "$r")"
assert_eq "ambiguous tasks" 0 "$(jq .join.ambiguous "$r")"
"$ANALYZER" export "$WORK/ffmpeg.pbt" --to sqlite -o "$WORK/ffmpeg.db"
ends=$(tests/tools/unjoined_launches.py "$WORK/ffmpeg.db" argument1) ||
	fail "launches without a task between others that have one: $ends"
note "launches: $ends"
read -r _ before _ _ _ after _ joined <<<"$ends"
assert_eq "launches without a task" $((before + after)) "$(jq .join.unmatched_launches "$r")"
assert_eq "launches with a task" "$joined" "$(jq .join.matched "$r")"
assert_eq "the device's clock" CLOCK_MONOTONIC_RAW "$(jq -r '.join.clock.clock' "$r")"
assert_eq "operators" "ReadImage WriteImage avgblur_horiz avgblur_vert unsharp_local" \
	"$(jq -r '[.operators[].name] | unique | sort | join(" ")' "$r")"
assert_eq "causes add up to the idle time" "$(jq .idle.total_ns "$r")" "$(jq '[.idle.causes[].ns] | add' "$r")"
assert_eq "gaps whose parts do not add up" 0 \
	"$(jq '[.idle.gaps[] | select(.duration_ns != ([.parts[].ns] | add))] | length' "$r")"
assert_eq "busy and idle make up the window" "$(jq '.devices[0].window_ns' "$r")" \
	"$(jq '.devices[0] | .busy_ns + .idle_ns' "$r")"
unknown=$(jq '[.idle.causes[] | select(.cause == "unknown") | .ns] | add // 0' "$r")
assert_between "percent of idle time without a cause" 0 5 "$(jq "100 * $unknown / ([.idle.total_ns, 1] | max) | floor" "$r")"

need_trace_processor
"$ANALYZER" export "$WORK/ffmpeg.pbt" --to perfetto -o "$WORK/ffmpeg.pftrace"
assert_trace_clean "$WORK/ffmpeg.pftrace"
# A task that began before the recording ended is in the tables and in the timeline, with an arrow if its call is known.
assert_eq "arrows from launch to task" "$(jq '([.operators[].count] | add) - .join.unmatched_tasks' "$r")" \
	"$(trace_query "$WORK/ffmpeg.pftrace" "select count(*) from flow f join slice s on s.id = f.slice_out
		where s.category in ('launch', 'copy')" | tail -n 1)"
