#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Metrics report a program's activity exactly, to permitted users only; Prometheus accepts them and each dashboard
# query.
# beside others: its daemon is its own, and no time counts
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command /usr/bin/python3 jq setpriv

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
start_daemon --metrics "$WORK/metrics.sock" --metrics "127.0.0.1:$port"
! grep -q 'built without libmicrohttpd' "$WORK/profbpfd.log" || skip "needs libmicrohttpd (./setup installs it)"
cat >"$WORK/get.py" <<'END'
import http.client, socket, sys
where, path, accept = sys.argv[1:]
c = http.client.HTTPConnection("localhost", timeout=60)
if where[0] == "/":
    c.sock = socket.socket(socket.AF_UNIX)
    c.sock.connect(where)
else:
    c.sock = socket.create_connection(where.rsplit(":", 1))
c.request("GET", path, headers={"Accept": accept})
r = c.getresponse()
sys.stderr.write("%d %s\n" % (r.status, r.getheader("Content-Type")))
sys.stdout.write(r.read().decode())
END
# get FILE WHERE [ACCEPT] [AS...]
get() { "${@:4}" /usr/bin/python3 "$WORK/get.py" "$2" /metrics "${3:-*/*}" >"$1" 2>"$1.head"; }
# metric FILE NAME [PID]: the metric's single value for the program
metric() { sed -n "s/^$2{.*pid=\"${3:-$TRUTH_PID}\".*} //p" "$1"; }
# start_other NAME COMMAND...: starts a program that reports when it is ready; sets OTHER_PID and OTHER_IN
start_other() {
	mkfifo "$WORK/$1.in"
	"${@:2}" <"$WORK/$1.in" >"$WORK/$1.out" 2>&1 &
	OTHER_PID=$!
	exec {OTHER_IN}>"$WORK/$1.in"
	wait_for_line "$WORK/$1.out" '^ready' 60
}

# Programs that start first do not inherit pipes of programs that end first.
start_other trainer env RANK=4 "$TRUTH/trainer" 100
trainer=$OTHER_PID trainer_in=$OTHER_IN loop='' loop_in=''
if clinfo -l 2>/dev/null | grep -q 'Device #0' && [ -x "$TRUTH/opencl_loop" ]; then
	start_other loop env OPENCL_LAYERS="$BUILD/libprofbpf-opencl.so" "$TRUTH/opencl_loop" 200 8
	loop=$OTHER_PID loop_in=$OTHER_IN
else
	leave_out "needs an OpenCL device (./setup check installs PoCL): no device is looked at"
fi
export RANK=3 LOCAL_RANK=1 OMPI_COMM_WORLD_RANK=5
start_truth calls
attach_in_background "$TRUTH_PID,$trainer${loop:+,$loop}" "$WORK/calls.pbt" --catalog "$ROOT/tests/catalog"
echo >&"$trainer_in"
[ -z "$loop" ] || echo >&"$loop_in"
truth_go
expected=$(($(truth_value noops) + 10))
all_told() { get "$WORK/m" "$WORK/metrics.sock" && [ "$(metric "$WORK/m" profbpf_process_launches_total)" = "$expected" ]; }
wait_until 10 all_told || fail "launches: $(metric "$WORK/m" profbpf_process_launches_total), not $expected"
note "launches, those within another left out: $expected"
# Accounts of a thread come at intervals: the last one has its 20 sleeps of 5 ms, and only sleep.
accounts_told() {
	get "$WORK/m" "$WORK/metrics.sock" &&
		awk -v s="$(metric "$WORK/m" profbpf_process_blocked_seconds_total)" 'BEGIN { exit !(s >= 0.1) }'
}
wait_until 10 accounts_told || fail "seconds asleep: $(metric "$WORK/m" profbpf_process_blocked_seconds_total), not 0.1 or more"
assert_contains "labels" "$WORK/m" \
	"^profbpf_process_launches_total\{session=\"1\",pid=\"$TRUTH_PID\",process=\"calls\",rank=\"3\",local_rank=\"1\"[,}]"
assert_between "CPU seconds" 0 60 "$(metric "$WORK/m" profbpf_process_cpu_seconds_total)"
assert_contains "others" "$WORK/m" '^profbpf_processes_in_other\{session="1"\} 0$'

# The trainer measures its waits, without and with the calls of its marks.
wait_for_line "$WORK/trainer.out" '^done' 60
trainer_says() { sed -n "s/^$1=//p" "$WORK/trainer.out"; }
waits_told() {
	get "$WORK/m" "$WORK/metrics.sock" &&
		awk -v s="$(metric "$WORK/m" profbpf_process_data_wait_seconds_total "$trainer")" -v least="$(trainer_says inner_ns)" \
			-v most="$(trainer_says outer_ns)" 'BEGIN { exit !(s * 1e9 >= least && s * 1e9 <= most) }'
}
wait_until 10 waits_told || fail "the trainer waited $(metric "$WORK/m" profbpf_process_data_wait_seconds_total "$trainer") s, and says $(cat "$WORK/trainer.out")"
note "the trainer waited $(metric "$WORK/m" profbpf_process_data_wait_seconds_total "$trainer") s: $(trainer_says inner_ns) to $(trainer_says outer_ns) ns"
assert_contains "rows of its workers" "$WORK/m" \
	"^profbpf_operator_rows_total\{session=\"1\",pid=\"$trainer\",process=\"trainer\",rank=\"4\".*,operator=\"torch workers, tensors\"\} $(trainer_says turns)\$"
if [ -n "$loop" ]; then
	wait_for_line "$WORK/loop.out" '^done' 60
	tasks_told() { get "$WORK/m" "$WORK/metrics.sock" && [ "$(metric "$WORK/m" profbpf_device_tasks_total "$loop")" = $((200 * 10)) ]; }
	wait_until 10 tasks_told || fail "tasks of the device: $(metric "$WORK/m" profbpf_device_tasks_total "$loop"), not $((200 * 10))"
	assert_eq "it was busy, and no longer than there was time" 1 \
		"$(awk -v s="$(metric "$WORK/m" profbpf_device_busy_seconds_total "$loop")" -v most=$SECONDS 'BEGIN { print (s > 0 && s < most) }')"
fi

# Both formats; access by the kernel's credentials of the client.
assert_contains "format" "$WORK/m.head" '^200 text/plain; version=0.0.4'
get "$WORK/open" "127.0.0.1:$port" 'application/openmetrics-text;version=1.0.0'
assert_contains "OpenMetrics" "$WORK/open.head" '^200 application/openmetrics-text; version=1.0.0'
assert_eq "its last line" "# EOF" "$(tail -n 1 "$WORK/open")"
# OpenMetrics: the unit is the end of the family's name.
families() { awk '$2 == "TYPE" && $3 ~ /_(seconds|bytes|ratio)$/ { n = split($3, part, "_"); print $3, part[n] }' "$WORK/open"; }
assert_between "families with a unit" 7 100 "$(families | wc -l)"
assert_eq "units" "$(families)" "$(sed -n 's/^# UNIT //p' "$WORK/open")"
assert_lacks "the older format" "$WORK/m" '^# UNIT'
assert_eq "metrics that docs/metrics.md lacks" "" \
	"$(awk '$2 == "TYPE" { print "`" $3 "`" }' "$WORK/m" | grep -vFf <(grep -oE '`profbpf[a-z_]+`' docs/metrics.md))"
get "$WORK/theirs" "$WORK/metrics.sock" '*/*' setpriv --reuid=12345 --regid=12345 --clear-groups
assert_lacks "what another user sees" "$WORK/theirs" 'session='
assert_contains "what another user sees" "$WORK/theirs" '^profbpfd_sessions 0$'
assert_status "another path" 0 python3 "$WORK/get.py" "127.0.0.1:$port" /other '*/*'
assert_contains "another path" "$WORK/err" '^404 '

if command -v promtool >/dev/null; then
	promtool check metrics <"$WORK/m" >"$WORK/check" 2>&1 || fail "promtool: $(cat "$WORK/check")"
	assert_eq "what promtool finds" "" "$(cat "$WORK/check")"
	assert_status "the rules' own tests" 0 promtool test rules packaging/prometheus/profbpf.test.yml
else
	leave_out "needs promtool (./setup check installs it)"
fi
if command -v prometheus >/dev/null; then
	# Metrics of steps come through a file from profbpf-fleet publish (live.sh).
	PYTHONPATH=$ROOT/fleet PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - "$WORK/steps/metrics.txt" <<'END'
import os, sys
from profbpf_fleet import step_metrics
os.mkdir(os.path.dirname(sys.argv[1]))
sums = step_metrics.kept({}, {3: {"pid": 1}})
step_metrics.count_steps(sums, [(3, 75000000, 25000000, None)])
step_metrics.count_idle(sums, [(3, "data_wait", 25000000)])
step_metrics.exposition_of({"ranks": {3: {"step": 8}}, "sums": sums}, "host").write(sys.argv[1])
END
	steps=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	/usr/bin/python3 -m http.server --bind 127.0.0.1 --directory "$WORK/steps" "$steps" >"$WORK/steps.log" 2>&1 {TRUTH_IN}>&- {trainer_in}>&- &
	cat >"$WORK/prometheus.yml" <<END
global: { scrape_interval: 500ms, evaluation_interval: 500ms }
rule_files: [$ROOT/packaging/prometheus/profbpf.rules.yml]
scrape_configs:
  - { job_name: profbpf, static_configs: [{ targets: ["127.0.0.1:$port"] }] }
  - { job_name: steps, metrics_path: /metrics.txt, static_configs: [{ targets: ["127.0.0.1:$steps"] }] }
END
	web=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	# Prometheus must not inherit the pipe to the program, which waits for the end of its input.
	prometheus --config.file="$WORK/prometheus.yml" --storage.tsdb.path="$WORK/tsdb" \
		--web.listen-address="127.0.0.1:$web" >"$WORK/prometheus.log" 2>&1 {TRUTH_IN}>&- {trainer_in}>&- &
	cat >"$WORK/ask.py" <<'END'
import json, sys, time, urllib.parse, urllib.request
base, patience = sys.argv[1], float(sys.argv[2])
end = time.monotonic() + patience
def found(query):
    url = base + "/api/v1/query?" + urllib.parse.urlencode({"query": query})
    try:
        return json.load(urllib.request.urlopen(url, timeout=60))["data"]["result"]
    except OSError:
        return []
queries = sys.stdin.read().splitlines()
for query in queries:
    while not found(query):
        if time.monotonic() > end:
            sys.exit("no data for " + query)
        time.sleep(0.05)
print(len(queries))
END
	{
		jq -r '.panels[].targets[].expr' packaging/grafana/profbpf.json | { [ -n "$loop" ] && cat || grep -v profbpf_device_; }
		echo "profbpf_process_launches_total{rank=\"3\"} == $expected"
		echo 'profbpf:process_cpus:rate1m'
		echo 'profbpf:process_data_wait:ratio1m{rank="4"}'
		echo 'profbpf:rank_step_seconds:median5m{rank="3"}'
	} >"$WORK/queries"
	queries=$(/usr/bin/python3 "$WORK/ask.py" "http://127.0.0.1:$web" $((20 * PATIENCE)) <"$WORK/queries") ||
		fail "$(tail -n 5 "$WORK/prometheus.log")"
	assert_between "queries with data" 25 100 "$queries"
else
	leave_out "needs prometheus (./setup check installs it)"
fi

stop_attach
truth_end
exec {trainer_in}>&-
[ -z "$loop" ] || exec {loop_in}>&-
stop_daemon
[ ! -e "$WORK/metrics.sock" ] || fail "the socket was left"
assert_status "an address that is none" 2 "$PROFBPFD" --metrics somewhere
assert_contains "an address that is none" "$WORK/err" 'somewhere: it is neither a path'
