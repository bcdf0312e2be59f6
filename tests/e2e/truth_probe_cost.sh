#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The cost of probes on empty calls can be subtracted from their durations, and from those of calls around them.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

start_truth small_calls
attach_truth "$WORK/cost.pbt" --topics api
truth_go
stop_attach
truth_end
report_json "$WORK/cost.pbt" "$WORK/as_recorded.json"
"$ANALYZER" report "$WORK/cost.pbt" --format json --subtract-probe-cost -o "$WORK/without.json"
r=$WORK/as_recorded.json w=$WORK/without.json
assert_loss_accounted "$r"
assert_eq "recorded durations are as recorded" false "$(jq .trace.probes.subtracted "$r")"
assert_eq "the option is told" true "$(jq .trace.probes.subtracted "$w")"
assert_eq "calls whose probes cost" $((301 * 41)) "$(jq .trace.probes.calls "$w")"
note "measured: $(jq -c .trace.probes.costs "$w")"
assert_eq "every class has its costs, the whole more than what is inside" true \
	"$(jq '[.trace.probes.costs[] | .inside_ns > 0 and .whole_ns > .inside_ns] | length > 0 and all' "$w")"

# closer FUNCTION WHAT: the corrected value is nearer to the untraced median than the recorded value
closer() {
	local untraced recorded left
	untraced=$(truth_value "$2") recorded=$(api_count "$r" "$1" p50_ns) left=$(api_count "$w" "$1" p50_ns)
	note "$1: $untraced ns untraced, $(truth_value "traced_$2") traced, $recorded recorded, $left without the probes' cost"
	# The cost is measured once, at the begin of the session: CPUs may be faster or slower later.
	assert_eq "$1: at least a fifth of what tracing added is gone" true \
		"$(jq -n --argjson u "$untraced" --argjson r "$recorded" --argjson l "$left" \
			'$l < $r and (($l - $u) | fabs) * 5 < ($r - $u) * 4')"
}
closer truth_outer outer_ns
closer truth_noop noop_ns
