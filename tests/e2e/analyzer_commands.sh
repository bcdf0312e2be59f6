#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# analyzer's command line: output files, which are complete or absent, exit status, windows, several traces.
# beside others: it compares files, and no time counts
. "$(dirname "$0")/lib.sh"
need_command jq

MAKE_TRACE=$BUILD/tests/tools/make_trace
[ -x "$MAKE_TRACE" ] || fail "$MAKE_TRACE is not built"
eval "$("$MAKE_TRACE" "$WORK/run.pbt" 1000)"

# ---- Output files

assert_status "report to standard output" 0 "$ANALYZER" report "$WORK/run.pbt"
assert_contains "an overview" "$WORK/out" '^recorded '
assert_lacks "sections of an overview" "$WORK/out" '^Trace$'
assert_between "lines of an overview" 5 50 "$(wc -l <"$WORK/out")"
assert_status "all of the report" 0 "$ANALYZER" report "$WORK/run.pbt" --full
assert_contains "first section" "$WORK/out" '^Trace$'
assert_status "one section" 0 "$ANALYZER" report "$WORK/run.pbt" --section capture
assert_contains "that section" "$WORK/out" '^Capture$'
assert_lacks "others" "$WORK/out" '^Trace$'
assert_status "report to standard output" 0 "$ANALYZER" report "$WORK/run.pbt"
lines=$(wc -l <"$WORK/out")
assert_status "report to a file" 0 "$ANALYZER" report "$WORK/run.pbt" -o "$WORK/report.txt"
assert_eq "bytes on standard output" 0 "$(stat -c %s "$WORK/out")"
assert_eq "lines in the file" "$lines" "$(wc -l <"$WORK/report.txt")"
assert_eq "mode of the file" "$(printf '%o' $((0666 & ~$(umask))))" "$(stat -c %a "$WORK/report.txt")"
assert_status "from a pipe" 0 sh -c "cat '$WORK/run.pbt' | '$ANALYZER' report -"
assert_eq "lines from a pipe" "$lines" "$(wc -l <"$WORK/out")"
assert_lacks "escape sequences outside a terminal" "$WORK/out" $'\033'
assert_status "report to a device" 0 "$ANALYZER" report "$WORK/run.pbt" -o /dev/null
assert_eq "/dev/null is still one" "character special file" "$(stat -c %F /dev/null)"
# Not an overview, all of which a pipe has room for.
"$ANALYZER" query "$WORK/run.pbt" --format csv "select * from calls" 2>"$WORK/err" | head -n 3 >"$WORK/head" || :
assert_eq "lines read of it" 3 "$(wc -l <"$WORK/head")"
assert_eq "complaints of a closed pipe" 0 "$(stat -c %s "$WORK/err")"

# ---- Complete or absent output

echo precious >"$WORK/old.txt"
assert_status "a trace that is none" 1 "$ANALYZER" report "$WORK/old.txt" -o "$WORK/old.txt"
assert_eq "the file that was there" precious "$(cat "$WORK/old.txt")"
assert_status "a folder that is not there" 1 "$ANALYZER" report "$WORK/run.pbt" -o "$WORK/none/x"
assert_contains "message" "$WORK/err" 'cannot write .*/none/x: No such file'
assert_status "a full device" 1 "$ANALYZER" report "$WORK/run.pbt" -o /dev/full
assert_contains "message" "$WORK/err" 'cannot write /dev/full: No space left'
assert_status "a full standard output" 1 sh -c "'$ANALYZER' report '$WORK/run.pbt' >/dev/full"
assert_contains "message" "$WORK/err" 'cannot write to standard output: No space left'
assert_status "a folder as output" 1 "$ANALYZER" export "$WORK/run.pbt" --to perfetto -o "$WORK"
mkdir "$WORK/exports"
for format in perfetto chrome csv sqlite; do
	assert_status "export to $format" 0 "$ANALYZER" export "$WORK/run.pbt" --to $format -o "$WORK/exports/$format"
done
(
	# A limit of the file size simulates a full disk: no file may remain.
	ulimit -f 8
	trap '' XFSZ
	for format in chrome csv sqlite; do
		assert_status "$format that does not fit" 1 "$ANALYZER" export "$WORK/run.pbt" --to $format -o "$WORK/exports/big"
	done
)
assert_eq "files of exports" "chrome csv perfetto sqlite" "$(cd "$WORK/exports" && echo *)"

# Killed by a signal while it writes; a fast machine may have finished, so larger traces follow.
for rounds in 20000 100000 500000; do
	"$MAKE_TRACE" "$WORK/long.pbt" $rounds >/dev/null
	rm -f "$WORK/exports/long"
	"$ANALYZER" export "$WORK/long.pbt" --to chrome -o "$WORK/exports/long" 2>/dev/null &
	victim=$!
	# The output has a longer, temporary name until it is complete.
	until [ -n "$(compgen -G "$WORK/exports/long*")" ]; do kill -0 "$victim" || fail "the export ended early"; done
	kill -TERM "$victim" 2>/dev/null || :
	status=0
	wait_for_end "$victim" 20 || status=$?
	[ "$status" -eq 0 ] || break
done
assert_eq "status after SIGTERM" 143 "$status"
assert_eq "files after SIGTERM" "chrome csv perfetto sqlite" "$(cd "$WORK/exports" && echo *)"

# ---- Usage

assert_status "help" 0 "$ANALYZER" --help
assert_status "help of a command" 0 "$ANALYZER" report --help
assert_status "version" 0 "$ANALYZER" --version
for wrong in "" "frob" "report" "report --top x T" "report --from 2s --to 1s T" "report --from soon T" \
	"report --section nosuch T" "report --pid 1,x T" "export T" "export T --to perfetto" \
	"export T --to nosuch -o X" "report --step x T" "report --step 3..1 T" "report --step 1 --from 1s T" \
	"report --aggregate median T" "report --order-by size T" "report --min-time long T" "info" "info --nosuch T"; do
	# shellcheck disable=SC2086 # words wanted
	assert_status "analyzer $wrong" 2 "$ANALYZER" $wrong
	[ -s "$WORK/err" ] || fail "no message"
done

assert_status "a trace without a command" 2 "$ANALYZER" "$WORK/run.pbt"
assert_contains "what to type" "$WORK/err" "type: analyzer report $WORK/run.pbt"
assert_status "a part beyond the end" 2 "$ANALYZER" report "$WORK/run.pbt" --from 1h
assert_contains "how long it is" "$WORK/err" '--from 1 h 0 min is beyond the end: the recording lasted'
assert_status "an empty part" 2 "$ANALYZER" report "$WORK/run.pbt" --to 0
assert_contains "that it is empty" "$WORK/err" '--to 0 selects nothing: times count from the beginning, and the recording lasted'

for command in "report" "export --to csv -o $WORK/of_nobody" "query --format csv"; do
	query=()
	[ "${command%% *}" != query ] || query=("select count(*) from calls")
	# shellcheck disable=SC2086 # words wanted
	assert_status "$command of a process that is not there" 2 "$ANALYZER" $command "$WORK/run.pbt" "${query[@]}" --pid 4000000
	assert_contains "that it is not" "$WORK/err" '--pid: process 4000000 does not exist'
done
assert_status "a page on a full disk" 1 "$ANALYZER" report "$WORK/run.pbt" --format html -o /dev/full
assert_contains "why" "$WORK/err" 'No space left on device'
"$ANALYZER" report "$WORK/run.pbt" --format html 2>"$WORK/err" | head -c 1 >/dev/null || true
assert_eq "to who has read enough of a page" "" "$(cat "$WORK/err")"

# ---- Messages

assert_status "JSON" 0 "$ANALYZER" report "$WORK/run.pbt" --format json
cp "$WORK/out" "$WORK/run.json"
assert_eq "schema" profbpf.report/1 "$(json "$WORK/run.json" .schema)"
# shellcheck disable=SC2154 # set by eval
{
	assert_eq "calls" "$calls" "$(json "$WORK/run.json" '[.api[].count] | add')"
	assert_eq "time in calls" "$call_ns" "$(json "$WORK/run.json" '[.api[] | .total_ns + (.open_ns // 0)] | add')"
	assert_eq "ioctls" "$ioctls" "$(json "$WORK/run.json" '[.ioctl[].count] | add')"
	assert_eq "errors" "$errors" "$(json "$WORK/run.json" '[.api[].errors] | add')"
}
assert_eq "rows of calls.csv" $((calls + 1)) "$(wc -l <"$WORK/exports/csv/calls.csv")"
assert_eq "calls and their time in SQLite" "$calls $(json "$WORK/run.json" '[.api[].total_ns] | add')" "$(python3 -c '
import sqlite3, sys
print(*sqlite3.connect(sys.argv[1]).execute("SELECT count(*), sum((end_ns - start_ns) * (1 - open)) FROM calls").fetchone())
' "$WORK/exports/sqlite")"
assert_eq "threads' times add up" true "$(jq '[.processes[] | select(.target) | .threads[]
	| .run_ns + .runnable_ns + .blocked_ns + (.unknown_ns // 0) + (.stolen_ns // 0) == .alive_ns] | length > 0 and all' "$WORK/run.json")"
assert_status "a part" 0 "$ANALYZER" report "$WORK/run.pbt" --format json --from 10ms --to 30ms --section trace,api
assert_eq "its length" 20000000 "$(json "$WORK/out" .trace.window.duration_ns)"
assert_eq "its sections" "schema trace api api_totals launched api_statistics" "$(json "$WORK/out" 'keys_unsorted | join(" ")')"
assert_eq "its calls" 800 "$(json "$WORK/out" '[.api[] | select(.function == "cudaLaunchKernel" or .function == "cuLaunchKernel").count] | add / 2')"
assert_status "info" 0 "$ANALYZER" info "$WORK/run.pbt" --format json
assert_eq "calls in it" "$calls" "$(json "$WORK/out" .contents.calls)"

# ---- Damage

cp "$WORK/run.pbt" "$WORK/hurt.pbt"
printf '\xa5\xa5\xa5' | dd of="$WORK/hurt.pbt" bs=1 seek=$(($(stat -c %s "$WORK/run.pbt") / 2)) conv=notrunc status=none
assert_status "a damaged trace" 0 "$ANALYZER" report "$WORK/hurt.pbt" --format json
assert_contains "warning" "$WORK/err" 'hurt.pbt: byte [0-9]+: .*skipped.*--strict'
assert_eq "complete" false "$(jq .capture.complete "$WORK/out")"
assert_status "a damaged trace, strictly" 1 "$ANALYZER" report "$WORK/hurt.pbt" --strict
assert_eq "a report of it" 0 "$(stat -c %s "$WORK/out")"
