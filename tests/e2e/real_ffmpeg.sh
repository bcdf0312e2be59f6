#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ffmpeg with OpenCL filters, already running when it is attached to: every launch that the
# device layer saw is a call in the trace, joined to its task; idle causes add up; the export loads.
. "$(dirname "$0")/lib.sh"
need_root
need_command jq ffmpeg
need_opencl_device

FILTERS=format=yuv420p,hwupload,unsharp_opencl=lx=9:ly=9,avgblur_opencl=3,hwdownload,format=yuv420p

frames() { [ "$(sed -n 's/^frame=//p' "$WORK/progress" | tail -n 1)" -ge 20 ]; }

OPENCL_LAYERS=$BUILD/libprofbpf-opencl.so ffmpeg -nostdin -hide_banner -loglevel error -progress "$WORK/progress" \
	-init_hw_device opencl=gpu:0.0 -filter_hw_device gpu -f lavfi -i testsrc2=size=320x180:rate=30:duration=3600 \
	-vf "$FILTERS" -c:v libx264 -preset ultrafast -f null - 2>"$WORK/ffmpeg.err" &
JOB=$!
wait_until 90 frames || fail "ffmpeg does not get going: $(cat "$WORK/ffmpeg.err")"
"$PROFCTL" attach --pid "$JOB" --duration 3s -o "$WORK/ffmpeg.pbt" 2>"$WORK/profctl.err"
kill -0 "$JOB" || fail "ffmpeg did not survive"
report_json "$WORK/ffmpeg.pbt" "$WORK/ffmpeg.json" --top 0
r=$WORK/ffmpeg.json
assert_loss_accounted "$r"
assert_eq "capture is complete" true "$(jq .capture.complete "$r")"
launches=$(jq '[.api[] | select(.function == "clEnqueueNDRangeKernel") | .count] | add' "$r")
kernels=$(jq '[.operators[] | select(.type == "kernel") | .count] | add' "$r")
assert_between "kernel launches in the trace" 30 100000 "$launches"
# What was still queued when the recording ended has no task yet.
assert_between "kernels the device ran" $((launches - 20)) "$launches" "$kernels"
assert_eq "tasks without a call" 0 "$(jq .join.unmatched_tasks "$r")"
assert_eq "ambiguous tasks" 0 "$(jq .join.ambiguous "$r")"
assert_between "calls without a task" 0 20 "$(jq .join.unmatched_launches "$r")"
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
# A task that began before the recording ended is in the tables and in the timeline.
assert_eq "arrows from launch to task" "$(jq '[.operators[].count] | add' "$r")" \
	"$(trace_query "$WORK/ffmpeg.pftrace" 'select count(*) from flow' | tail -n 1)"
