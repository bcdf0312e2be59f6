#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two recordings compared: a longer sleep in each turn of a loop is found, with its root; a recording beside itself has
# no change; parts of one recording are compared, too.
. "$(dirname "$0")/lib.sh"
need_root
need_command jq python3

cat >"$WORK/loop.py" <<'END'
import sys, time
pauses = [float(p) for p in sys.argv[1:]]
for pause in pauses:
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        began = time.thread_time()
        while time.thread_time() - began < 0.01:
            pass
        time.sleep(pause)
END
for run in short:0.002 long:0.030 both:0.002,0.030; do
	IFS=, read -ra pauses <<<"${run#*:}"
	"$PROFCTL" record -o "$WORK/${run%%:*}.pbt" -- python3 "$WORK/loop.py" "${pauses[@]}" 2>"$WORK/message" ||
		fail "record: $(cat "$WORK/message")"
done

# differs ARGUMENT...: the comparison as JSON.
differs() { "$ANALYZER" diff --format json "$@" >"$WORK/diff.json" || fail "diff $*"; }
# sleeps FIELD: a field of the row for the loop's own sleep.
sleeps() { jq -r "[.changes[] | select(.what == \"root\" and .name == \"sleep python3\")][0].$1" "$WORK/diff.json"; }

differs "$WORK/short.pbt" "$WORK/long.pbt"
assert_eq "schema" profbpf.diff/1 "$(jq -r .schema "$WORK/diff.json")"
assert_eq "the sleep is a change" true "$(sleeps significant)"
assert_between "its growth in points" 20 80 "$(sleeps 'change | floor')"
assert_eq "it, or the work that it took the place of, is what the sentence names" true \
	"$(jq '.verdict.sentence | test("root (sleep|user_code) python3")' "$WORK/diff.json")"
assert_eq "before, change and after agree" 0 \
	"$(jq '[.changes[] | select((.before + .change - .after) | fabs > 1)] | length' "$WORK/diff.json")"
assert_eq "what is beyond its noise is significant" 0 \
	"$(jq '[.changes[] | . as $row | select(($row.change | fabs > $row.noise) != $row.significant)] | length' "$WORK/diff.json")"

differs "$WORK/long.pbt" "$WORK/long.pbt"
assert_eq "beside itself nothing is a change" 0 "$(jq '[.changes[] | select(.significant or .change != 0)] | length' "$WORK/diff.json")"
assert_between "figures that were compared" 3 200 "$(jq '.changes | length' "$WORK/diff.json")"

differs "$WORK/both.pbt" --before 0.3s..2.4s --after 2.7s..4.9s
assert_eq "the sleep is a change from one part to the other" true "$(sleeps significant)"
differs "$WORK/both.pbt" --before 2.7s..4.9s --after 0.3s..2.4s
assert_between "the other way round it is less" -80 -20 "$(sleeps 'change | ceil')"

# In words.
"$ANALYZER" diff "$WORK/short.pbt" "$WORK/long.pbt" >"$WORK/text" || fail "text"
assert_contains "text" "$WORK/text" "^root +sleep python3 .* [+][0-9.]+ points"
"$ANALYZER" diff "$WORK/long.pbt" "$WORK/long.pbt" >"$WORK/text" || fail "text"
assert_contains "text" "$WORK/text" "^Nothing differs: all figures that can be compared are equal on both sides"

# Recordings that cannot be compared are reported.
assert_fails() { # MESSAGE STATUS ARGUMENT...
	local message=$1 status=$2 got=0
	shift 2
	"$ANALYZER" diff "$@" >"$WORK/out" 2>"$WORK/message" || got=$?
	assert_eq "status of diff $*" "$status" "$got"
	assert_contains "message" "$WORK/message" "$message"
}
assert_fails "give a second one" 2 "$WORK/long.pbt"
assert_fails "two times, as" 2 "$WORK/long.pbt" --before 3s --after 1s..2s
assert_fails "ends before it begins" 2 "$WORK/long.pbt" --before 3s..1s --after 1s..2s
assert_fails "that part has nothing to compare" 1 "$WORK/long.pbt" --before 1s..2s --after 1h..2h
assert_fails "No such file" 1 "$WORK/long.pbt" "$WORK/none.pbt"
