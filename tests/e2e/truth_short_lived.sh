#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Children that end before their mappings are read: the report says for each that its calls were not seen.
. "$(dirname "$0")/lib.sh"
need_root
need_command jq python3

# Other processes map the C library, too, so it is probed in each child separately, if there is time.
cat >"$WORK/parent.py" <<'END'
import os
import sys

print("ready", flush=True)
sys.stdin.readline()
for _ in range(200):
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    print("child", child, flush=True)
END
mkfifo "$WORK/go"
python3 "$WORK/parent.py" <>"$WORK/go" >"$WORK/children" &
parent=$!
wait_for_line "$WORK/children" ready 30
attach_in_background "$parent" "$WORK/run.pbt"
echo >"$WORK/go"
wait_for_end "$parent" 60 || fail "the parent failed"
wait_for_end "$PROFCTL_PID" 60 || fail "profctl failed: $(cat "$WORK/profctl.err")"
report_json "$WORK/run.pbt" "$WORK/run.json"
assert_loss_accounted "$WORK/run.json"

sed -n 's/^child //p' "$WORK/children" | sort >"$WORK/ended"
jq '.capture.not_covered[].pid' "$WORK/run.json" | sort -u >"$WORK/told"
assert_eq "children that the report says nothing of" "" "$(comm -23 "$WORK/ended" "$WORK/told" | paste -sd ' ')"
late=$(jq '[.capture.not_covered[] | select(has("file") | not)] | length' "$WORK/run.json")
note "of 200, $late ended before they could be looked at"
"$ANALYZER" report "$WORK/run.pbt" --section capture --top 0 >"$WORK/run.txt"
assert_eq "and in words" "$((late > 0))" "$(grep -c "^processes that ended before their mapped files were examined.*: $late; process" "$WORK/run.txt" || :)"
