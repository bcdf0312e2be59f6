#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A daemon without CAP_SYSLOG, which sees no addresses in /proc/kallsyms, still gives kernel frames their names.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq
need_command setpriv

without=(setpriv "--bounding-set=-syslog" "--inh-caps=-syslog")
# shellcheck disable=SC2016 # for awk
[ -z "$("${without[@]}" awk '$1 !~ /^0+$/ { print; exit }' /proc/kallsyms)" ] || skip "this kernel shows its addresses to all"

printf '#!/bin/sh\nexec %s %s "$@"\n' "${without[*]}" "$PROFBPFD" >"$WORK/profbpfd"
chmod +x "$WORK/profbpfd"
PROFBPFD=$WORK/profbpfd
start_daemon
"$PROFCTL" status >"$WORK/status"
grep -Eq '^ *yes +kernel symbols' "$WORK/status" || skip "this kernel tells nobody else its functions (before Linux 6.0)"

start_truth kernel_places
attach_truth "$WORK/places.pbt" --topics sched,stack --stack-block 2ms
assert_lacks "what the daemon warns of" "$WORK/profctl.err" "hides the addresses"
truth_go 60
stop_attach
truth_end
report_json "$WORK/places.pbt" "$WORK/places.json"
found=$(jq '[.stacks.blocking[] | select(.frames | any(.name == "block_in_nanosleep") and
	any(.kind == "kernel" and .name == "hrtimer_nanosleep")) | .count] | add // 0' "$WORK/places.json")
assert_between "sleeps in hrtimer_nanosleep" 1 "$(truth_value sleeps)" "$found"
stop_daemon
