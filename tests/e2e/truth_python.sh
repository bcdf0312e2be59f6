#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CPython without any cooperation: the current functions of threads, and their waits for
# the interpreter's lock; for each installed version from 3.7 to 3.14 (python3, pyenv's, make-venv's).
# longer: every version, not the oldest and the newest alone
# beside others: what others take of the CPUs is told apart from what it judges
. "$(dirname "$0")/lib.sh"
need_root
need_command python3

cat >"$WORK/gil.py" <<'SCRIPT'
import sys, threading, time

class Loader:
    def burn_here(self, seconds):
        end = time.thread_time() + seconds
        n = 0
        while time.thread_time() < end:
            for i in range(1000):
                n += i * i
        return n

def work(seconds):
    Loader().burn_here(seconds)

threads = [threading.Thread(target=work, args=(float(sys.argv[2]),)) for _ in range(int(sys.argv[1]))]
for t in threads:
    t.start()
for t in threads:
    t.join()
SCRIPT

# record PYTHON THREADS SECONDS: traces the script; its report is $WORK/gil.json
record() {
	"$PROFCTL" record --standalone --topics sched,stack -o "$WORK/gil.pbt" -- "$1" "$WORK/gil.py" "$2" "$3" \
		2>"$WORK/record.err"
	report_json "$WORK/gil.pbt" "$WORK/gil.json" --section capture,python
	assert_loss_accounted "$WORK/gil.json"
}

# burner FIELD: sum over the threads that burn
burner() {
	jq "[.python[0].threads[] | select(.function // \"\" | endswith(\"burn_here\")) | .$1] | add // 0" "$WORK/gil.json"
}

seen=' '
while read -r version python; do
	[[ $version =~ ^3\.([789]|1[0-4])$ ]] || continue
	seen+="$version "
	note "$python: Python $version"
	record "$python" 2 1
	assert_eq "version" "$version" "$(json "$WORK/gil.json" '.python[0].version')"
	# 20 samples a second of two threads that use a second of CPU time each; fewer on a busy machine.
	assert_between "looks at the function" 2 1000000 "$(burner samples)"
	jq -c '.python[0].functions[] | select(.name | endswith("burn_here"))' "$WORK/gil.json" >"$WORK/function"
	assert_eq "its file" "$WORK/gil.py" "$(json "$WORK/function" .file)"
	assert_between "its line" 5 10 "$(json "$WORK/function" .line)"
	# Of two burning threads one always waits, and gets the lock after 5 ms: 2 s and 400 times in all. But with too few
	# CPUs the threads wait for CPUs instead, and waits before the interpreter was found are not seen.
	assert_between "waits for the lock, ns" 50000000 2000000000000 "$(burner gil_wait_ns)"
	assert_between "waits" 10 1000000 "$(burner gil_waits)"
	two=$(burner gil_waits)
	# Each thread holds up the other.
	assert_between "threads held up by a known one" 1 2 \
		"$(jq '[.python[0].threads[] | select(.gil_holder_tid and (.function // "" | endswith("burn_here")))] | length' "$WORK/gil.json")"
done < <(pythons)
[ "$seen" != ' ' ] || skip "needs a CPython from 3.7 to 3.14"
for version in 3.7 3.8 3.9 3.10 3.11 3.12 3.13 3.14; do
	[[ $seen = *" $version "* ]] || note "skipped: no Python $version here"
done

record python3 1 1.5
if jq -e '.python' "$WORK/gil.json" >/dev/null; then
	# A single thread waits only for the main thread, which starts it and sleeps.
	assert_between "waits of one thread, less than half of two threads'" 0 $((two / 2)) "$(burner gil_waits)"
fi
"$ANALYZER" report "$WORK/gil.pbt" --section python >"$WORK/text"
assert_contains "text" "$WORK/text" "burn_here \(gil.py:[0-9]+\)"
