#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Launches are reported by name, once across all layers, and the phases of two-phase operators are joined.
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

start_truth launch_names
attach_in_background "$TRUTH_PID" "$WORK/launched.pbt" --topics api,sched
truth_go
stop_attach
truth_end
report_json "$WORK/launched.pbt" "$WORK/launched.json"
r=$WORK/launched.json
assert_loss_accounted "$r"

# launched NAME [FIELD]: sum over the rows with this name; "" = without a name
launched() {
	jq "[.launched[] | select((.name // \"\") == \"$1\") | .${2:-count}] | add // 0" "$r"
}
named_by() {
	jq -r "[.launched[] | select((.name // \"\") == \"$1\") | .named_by] | join(\" \")" "$r"
}

assert_eq "by the host function's symbol" "11 symbol" "$(launched kernel_by_symbol) $(named_by kernel_by_symbol)"
assert_eq "by a stub's symbol" "12 symbol" "$(launched stub_named) $(named_by stub_named)"
assert_eq "by registration, and by a handle got for the registered function" "27 handle handle" \
	"$(launched registered) $(named_by registered)"
assert_eq "by a module's function" "15 handle" "$(launched scaled) $(named_by scaled)"
assert_eq "by a library's kernel, launched as a function" "16 handle" \
	"$(launched triton_kernel) $(named_by triton_kernel)"
assert_eq "by nothing" "3 unknown" "$(launched "") $(named_by "")"
assert_eq "a graph" "4 function" "$(launched Graph) $(named_by Graph)"
assert_eq "by a binary's function" "8 handle" "$(launched own_kernel) $(named_by own_kernel)"
assert_eq "by a string argument" "9 argument" "$(launched MatMul) $(named_by MatMul)"
assert_eq "a collective" "10 function" "$(launched AllReduce) $(named_by AllReduce)"

assert_eq "aclnnAdd, counted once" "13 function" "$(launched Add) $(named_by Add)"
assert_eq "prepared for this launch" 5 "$(launched Add prepared)"
assert_eq "launched again" 7 "$(launched Add reused)"
assert_eq "prepared before the recording" 1 "$(launched Add unprepared)"
assert_eq "first phases" 5 "$(launched Add prepare_count)"
assert_eq "an executor beyond the registers, with floating-point arguments between" "6 6 0 0" \
	"$(launched FlashAttentionScore) $(launched FlashAttentionScore prepared) $(
		launched FlashAttentionScore reused) $(launched FlashAttentionScore unprepared)"

# Each layer is in the table and on the timeline, but a launch counts once.
through_cudart=$((11 + 12 + 13 + 16 + 3)) by_driver=$((14 + 15))
assert_eq "cudaLaunchKernel" $through_cudart "$(api_count "$r" cudaLaunchKernel)"
assert_eq "cuLaunchKernel, below it and by itself" $((through_cudart + by_driver)) "$(api_count "$r" cuLaunchKernel)"
assert_eq "cuLaunchKernel, below it" $through_cudart "$(api_count "$r" cuLaunchKernel inner)"
assert_eq "launches by CUDA" $((through_cudart + by_driver + 4)) \
	"$(jq '[.launched[] | select(.runtime | startswith("cuda")) | .count] | add' "$r")"
assert_eq "aclrtLaunchKernel" $((13 + 6 + 8)) "$(api_count "$r" aclrtLaunchKernel)"
assert_eq "rtKernelLaunch" $((13 + 6 + 8 + 20)) "$(api_count "$r" rtKernelLaunch)"
assert_eq "launches by CANN" $((13 + 6 + 8 + 9 + 10)) \
	"$(jq '[.launched[] | select(.runtime == "acl" or .runtime == "hccl" or .runtime == "cann_runtime") | .count] | add' "$r")"
# Three calls give names to CUDA handles and one to an address, one to a handle of CANN; 11 are first phases.
assert_eq "outermost calls of CUDA" $((through_cudart + by_driver + 4 + 4)) \
	"$(jq '[.api_totals[] | select(.family == "cuda") | .count] | add' "$r")"
assert_eq "outermost calls of CANN" $((13 + 6 + 8 + 9 + 10 + 1 + 11)) \
	"$(jq '[.api_totals[] | select(.family == "acl") | .count] | add' "$r")"
"$ANALYZER" export "$WORK/launched.pbt" --to chrome -o "$WORK/launched.trace.json"
c=$WORK/launched.trace.json
assert_eq "cuLaunchKernel on the timeline" $((through_cudart + by_driver)) \
	"$(jq '[.[] | select(.ph == "X" and .name == "cuLaunchKernel")] | length' "$c")"
assert_eq "names on the timeline" 12 "$(jq '[.[] | select(.args.launched == "stub_named")] | length' "$c")"
assert_eq "elements of the collectives" 10045 \
	"$(jq '[.[] | select(.name == "HcclAllReduce") | .args.count] | add' "$c")"

assert_eq "a name too long for the kernel is refused" 34 "$(truth_value self.error)"
tid=$(truth_value self.tid)
assert_eq "but known here" a_thread_with_a_name_of_its_own "$(thread_field "$r" "$tid" name)"
tid=$(truth_value other.tid)
assert_eq "a thread that another one named" named_by_the_main_thread "$(thread_field "$r" "$tid" name)"

# Very short calls are only counted, but calls that give names are recorded.
rm "$WORK/launch_names.in"
start_truth launch_names
attach_in_background "$TRUTH_PID" "$WORK/short.pbt" --topics api --min-duration 1s
truth_go
stop_attach
truth_end
report_json "$WORK/short.pbt" "$WORK/short.json"
assert_eq "a call that names a handle" 0 "$(api_count "$WORK/short.json" cuModuleGetFunction unrecorded)"
assert_eq "calls that launch" $((through_cudart + by_driver)) "$(api_count "$WORK/short.json" cuLaunchKernel unrecorded)"
"$ANALYZER" report "$WORK/launched.pbt" --section api >"$WORK/text"
assert_contains "the table of what was launched" "$WORK/text" '^cuda +stub_named +symbol +12 '
