#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The examples of CONTRIBUTING.md are followed literally: their files and changes go into a copy of the tree, which
# builds without a warning and then has one more record, interpreter, format, analysis, section, exporter and runtime,
# each with the right result.
# timeout: 900
# beside others: it builds a copy of its own, and no time counts
. "$(dirname "$0")/lib.sh"
need_root
need_command git jq make patch python3
[ "$BUILD" = build ] || [ "$BUILD" = "$ROOT/build" ] || skip "the plain build is the one that is copied"
git rev-parse --git-dir >/dev/null 2>&1 || skip "needs a clone of the repository"

# ---- A copy of the tree with its build results, which are newer than the sources

tree=$WORK/tree
mkdir -p "$tree/build"
git ls-files -coz --exclude-standard | while IFS= read -rd '' name; do
	[ ! -f "$name" ] || printf '%s\0' "$name"
done | xargs -0 cp --parents -t "$tree"
cp -r build/obj build/gen build/bpf build/profbpfd build/profctl build/analyzer "$tree/build/"
find "$tree/build" -type f -exec touch {} +
(cd "$tree" && tests/tools/typed.py tree CONTRIBUTING.md && tests/tools/typed.py files CONTRIBUTING.md) >"$WORK/patched" 2>&1 ||
	fail "the examples of CONTRIBUTING.md do not fit any more: $(cat "$WORK/patched")"
grep '^new ' "$WORK/patched"
# Without optimization and debug information, which takes a third of the time. Objects are compatible with the existing
# ones.
make -s -j "$(nproc)" -C "$tree" build/analyzer build/profbpfd build/profctl \
	CFLAGS='-O0 -g0' CPPFLAGS='-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=0' >"$WORK/made" 2>&1 || fail "$(tail -n 30 "$WORK/made")"
assert_lacks "warnings" "$WORK/made" 'warning:'

PROFBPFD=$tree/build/profbpfd PROFCTL=$tree/build/profctl ANALYZER=$tree/build/analyzer

# ---- Records of the daemon: signals, and functions of the interpreter Toy

cat >"$WORK/toy.c" <<'END'
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

extern char toy_function[32];
char toy_function[32];
static volatile int taken;

static void take(int number)
{
	taken++;
}

int main(void)
{
	char text[1000] = "", small[2000];
	unsigned long size = sizeof(small);

	signal(SIGUSR1, take);
	for (int i = 0; i < 25; i++)
		raise(SIGUSR1);
	for (int i = 0; i < 7; i++, size = sizeof(small))
		compress2((unsigned char *)small, &size, (unsigned char *)text, sizeof(text), 1);
	strcpy(toy_function, "pump");
	sleep(3);
	printf("%d\n", taken);
	return 0;
}
END
gcc -o "$WORK/toy" "$WORK/toy.c" -lz
mkdir "$WORK/catalogs"
mv "$tree/zlib.catalog" "$WORK/catalogs/"
start_daemon
"$PROFCTL" record --catalog "$WORK/catalogs" -o "$WORK/run.pbt" -- "$WORK/toy" >"$WORK/out" 2>"$WORK/err"
stop_daemon
assert_eq "signals that Toy took" 25 "$(cat "$WORK/out")"

query() { "$ANALYZER" query "$WORK/run.pbt" --format csv "$1" | tail -n +2; }

assert_eq "record: signals by number" 10,25 "$(query 'select number, count(*) from signals group by number having number = 10')"
assert_eq "interpreter: functions of Toy" pump "$(query 'select name from python_functions')"
assert_between "interpreter: times that it was seen there" 1 100 "$(query 'select samples from python_functions')"
assert_eq "runtime: zlib's calls" 7 \
	"$(query "select count(*) from calls, functions on functions.rowid - 1 = calls.function where name = 'compress2'")"
report_json "$WORK/run.pbt" "$WORK/run.json"
assert_loss_accounted "$WORK/run.json"

# ---- Output of the analyzer: analysis, table, section, exporter

assert_eq "section: who began with what" "toy compress2" "$(jq -r '.startup[] | "\(.name) \(.function)"' "$WORK/run.json")"
first=$(query 'select calls.start_ns - processes.start_ns from calls, threads on threads.rowid - 1 = calls.thread,
	processes on processes.rowid - 1 = threads.process order by 1 limit 1')
assert_eq "analysis: when" "$first" "$(query 'select took_ns from startup')"
assert_eq "section: the same" "$first" "$(jq '.startup[0].took_ns' "$WORK/run.json")"
"$ANALYZER" report "$WORK/run.pbt" --section startup >"$WORK/out"
assert_contains "section: in text" "$WORK/out" 'toy +compress2 +[0-9.]+$'
"$ANALYZER" export "$WORK/run.pbt" --to plain -o "$WORK/calls.txt"
assert_eq "exporter: lines" "$(query 'select count(*) from calls')" "$(wc -l <"$WORK/calls.txt")"
assert_contains "exporter: a call" "$WORK/calls.txt" '^[0-9]+ [0-9]+ [0-9]+ compress2$'

# ---- Files of another profiler

printf 'device,stream,name,start_ns,end_ns\n0,7,gemm,1000,5000\n0,7,add,6000,6500\n0,7,torn,9,1\n1,3,gemm,1000,2000\n' >"$WORK/tasks.csv"
"$ANALYZER" query --device "$WORK/tasks.csv" --format csv \
	'select device, stream, name, end_ns - start_ns from tasks order by 1, start_ns' >"$WORK/out"
assert_eq "importer: tasks" '0,7,gemm,4000 0,7,add,500 1,3,gemm,1000' "$(tail -n +2 "$WORK/out" | tr '\n' ' ' | sed 's/ $//')"
"$ANALYZER" info --device "$WORK/tasks.csv" >"$WORK/out"
assert_contains "importer: what makes no sense" "$WORK/out" 'rows without a task \(torn\)'
