#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# profbpf-fleet publish and watch report the holder of a running job soon, once, and with the reason; also a hang, and
# nothing for a healthy job. With publisher, broker and consumer killed in any order every row arrives exactly once.
# longer: 60 kills and 2,000 steps, not 6 and 160
# beside others: it makes its files itself, and no time counts
. "$(dirname "$0")/lib.sh"
need_command jq python3

for name in fleet nats; do
	"$ROOT/tests/tools/make-venv" $name >"$WORK/install" 2>&1 ||
		skip "DuckDB or the client of NATS cannot be installed: $(tail -n 1 "$WORK/install")"
done
PYTHON=$ROOT/build/venv-fleet/bin/python TOOLS=$ROOT/tests/tools
PYTHONPATH=$ROOT/fleet:$("$ROOT/build/venv-nats/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1
SPEED=25 KILLS=${PROFBPF_TEST_KILLS:-6}
LONG=${PROFBPF_TEST_LONG:+1}
[ -z "$LONG" ] || KILLS=60

"$PYTHON" "$TOOLS/live_parts.py" "$WORK/parts" >"$WORK/out" 2>&1 || fail "the parts: $(tail -n 5 "$WORK/out")"
note "the parts: $(tail -n 3 "$WORK/out" | tr '\n' ' ')"

make_lake() { "$PYTHON" "$TOOLS/make_lake.py" "$WORK/$1" --ranks 16 "${@:2}"; }
# replay NAME OPTION...: publishes the lake; log: $WORK/NAME.replay
replay() {
	"$PYTHON" "$TOOLS/replay_lake.py" "$WORK/$1" --spools "$WORK/$1.spools" --log "$WORK/$1.log" --speed "$SPEED" "${@:2}" \
		>"$WORK/$1.replay" 2>&1
}
# watch NAME OPTION...: starts watch in the background; findings: $WORK/NAME.alerts. Sets WATCH_PID.
watch() {
	"$PYTHON" -m profbpf_fleet.main watch --format json --state "$WORK/$1.state" --every 400ms "${@:2}" >>"$WORK/$1.alerts" 2>>"$WORK/$1.err" &
	WATCH_PID=$!
}
# watched NAME FILES: whether watch has read that many files, by its own metrics
watched() { grep -q "^profbpf_fleet_files_total $2\$" "$WORK/$1.prom"; }
end_watch() {
	kill -TERM $WATCH_PID
	wait_for_end $WATCH_PID 20 || fail "watch ended with $?: $(cat "$WORK/$1.err")"
	assert_eq "what watch complains of" "" "$(cat "$WORK/$1.err")"
}
# followed NAME [OPTION...]: publishes a job into a directory and watches it; delays are judged loosely on a busy
# machine
followed() {
	local name=$1
	mkdir "$WORK/$name.dir"
	watch "$name" --dir "$WORK/$name.dir" --metrics "$WORK/$name.prom" --webhook "$HOOK"
	replay "$name" --dir "$WORK/$name.dir" "${@:2}" || fail "$name: $(tail -n 3 "$WORK/$name.replay")"
	wait_until 10 watched "$name" "$(find "$WORK/$name.dir" -name '*.parquet' ! -path '*/hosts/*' | wc -l)" ||
		fail "$name: not all was taken in: $(cat "$WORK/$name.err" "$WORK/$name.prom")"
}

cat >"$WORK/hook.py" <<'END'
import http.server, sys
class Hook(http.server.BaseHTTPRequestHandler):
    refused = False
    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        first, Hook.refused = not Hook.refused, True
        if not first:
            print(text, flush=True)
        self.send_response(503 if first else 204)
        self.end_headers()
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Hook)
print(server.server_port, file=sys.stderr, flush=True)
server.serve_forever()
END
python3 "$WORK/hook.py" >"$WORK/hooked" 2>"$WORK/hook.port" &
wait_for_line "$WORK/hook.port" '^[0-9]+$' 10
HOOK=http://127.0.0.1:$(cat "$WORK/hook.port")/alerts

note "$SECONDS s -- a rank that computes longer, then a hang; of a directory"
make_lake slow --steps 170 --plant compute:rank=5,ms=16,from=60
followed slow --hang 155:9
told_all() { [ "$(jq -rs '[.[] | .kind] | unique | join(" ")' "$WORK/slow.alerts")" = "hang holder" ]; }
wait_until 10 told_all || fail "not all is told: $(cat "$WORK/slow.alerts" "$WORK/slow.err")"
"$PYTHON" "$TOOLS/check_live.py" "$WORK/slow.truth.json" "$WORK/slow.log" "$WORK/slow.alerts" --hang 155:9 --within 100000 --after 100000 >"$WORK/checked" ||
	fail "$(cat "$WORK/checked" "$WORK/slow.alerts")"
note "$(cat "$WORK/checked")"
assert_contains "the sentence" "$WORK/slow.alerts" '"sentence": "Rank 5 on host001 holds the job back by 1[56]\.[0-9] ms .* since step (5[5-9]|6[0-9]|7[0-9]): it computes longer, in MatMul\."'
assert_eq "fields of a finding" true "$(jq -s '[.[] | select(.kind == "holder")][0] | [.rank, .host, .why, .since_step, .held_ms_per_step, .sentence] | all' "$WORK/slow.alerts")"
wait_until 10 grep -q '^profbpf_fleet_hang 1$' "$WORK/slow.prom" || fail "metrics: $(cat "$WORK/slow.prom")"
assert_contains "metrics" "$WORK/slow.prom" '^profbpf_fleet_alerts_total\{kind="holder"\} 1$'
! command -v promtool >/dev/null || promtool check metrics <"$WORK/slow.prom" >"$WORK/check" 2>&1 || fail "promtool: $(cat "$WORK/check")"
hooked() { [ "$(wc -l <"$WORK/hooked")" = "$(wc -l <"$WORK/slow.alerts")" ]; }
wait_until 20 hooked || fail "the webhook was told $(wc -l <"$WORK/hooked") of $(wc -l <"$WORK/slow.alerts") findings"
diff <(jq -S . "$WORK/hooked") <(jq -S . "$WORK/slow.alerts") >/dev/null || fail "the webhook was told something else"
assert_eq "begins and ends of the hang so far" '["begins"]' "$(jq -sc '[.[] | select(.kind == "hang") | .state] - ["changes"]' "$WORK/slow.alerts")"

kill -KILL $WATCH_PID
wait_for_end $WATCH_PID 10 || :
told=$(wc -l <"$WORK/slow.alerts")
rm "$WORK/slow.prom"
watch slow --dir "$WORK/slow.dir" --metrics "$WORK/slow.prom"
wait_until 10 watched slow "$(find "$WORK/slow.dir" -name '*.parquet' ! -path '*/hosts/*' | wc -l)" || fail "not taken in again: $(cat "$WORK/slow.err")"
end_watch slow
assert_eq "told again after it was killed" "$told" "$(wc -l <"$WORK/slow.alerts")"
"$PYTHON" -m profbpf_fleet.main report "$WORK/slow.dir" --format json -o "$WORK/report.json"
assert_eq "the same lake, reported" '5 16' "$(jq -r '"\(.verdict.rank) \(.ranks)"' "$WORK/report.json")"

note "$SECONDS s -- a healthy job whose steps the analyzer found: each rank counts from elsewhere"
make_lake healthy --steps 200 --seed 7
followed healthy --found
[ "$(find "$WORK/healthy.dir/steps" -name '*.parquet' | wc -l)" -ge 8 ] || fail "too little was published"
wait_until 10 grep -q '^profbpf_fleet_ranks 16$' "$WORK/healthy.prom" || fail "not all ranks are compared: $(cat "$WORK/healthy.prom")"
end_watch healthy
assert_eq "told of it" "" "$(cat "$WORK/healthy.alerts")"

# Publishes a program with a known number of turns, which the analyzer finds in overlapping snapshots.
publish_loop() {
	local turns=900 input job publisher round next
	mkfifo "$WORK/loop.in"
	RANK=3 OPENCL_LAYERS=$BUILD/libprofbpf-opencl.so "$TRUTH/opencl_loop" $turns 8 <"$WORK/loop.in" >"$WORK/loop.out" 2>&1 &
	job=$!
	exec {input}>"$WORK/loop.in"
	wait_for_line "$WORK/loop.out" '^ready' 60
	start_daemon --recorder 600s --recorder-for "pid=$job"
	probing() { "$PROFCTL" list --format json | jq -e '[.sessions[] | select(.output == "flight recorder" and .functions > 0)] | length > 0'; }
	wait_until 20 probing || fail "the recorder does not record: $("$PROFCTL" list)"
	mkdir "$WORK/host"
	local publish=("$PYTHON" -m profbpf_fleet.main publish --dir "$WORK/host" --spool "$WORK/host.spool" --interval 1s --last 60s
		--metrics "$WORK/host.prom" --profctl "$PROFCTL" --analyzer "$ANALYZER")
	"${publish[@]}" 2>"$WORK/publish.err" &
	publisher=$!
	echo go >&"$input"
	# The program runs until several messages have contained its steps.
	for ((round = 1; round <= 2; round++)); do
		sleep 0.1
		kill -STOP $job
		sent() { [ "$(find "$WORK/host/steps" -name '*.parquet' | wc -l)" -ge $round ]; }
		wait_until 20 sent || fail "nothing is published: $(cat "$WORK/host.spool/spool.json" "$WORK/publish.err")"
		kill -CONT $job
	done
	wait_for_line "$WORK/loop.out" '^done' 60
	# Waits for the current round, and a whole one.
	next=$(jq .next "$WORK/host.spool/spool.json")
	published() { [ "$(jq .next "$WORK/host.spool/spool.json")" -ge $((next + 2)) ]; }
	wait_until 20 published || fail "no more rounds: $(cat "$WORK/host.spool/spool.json" "$WORK/publish.err")"
	kill -TERM $publisher
	wait_for_end $publisher 20 || fail "publish ended with $?: $(cat "$WORK/publish.err")"
	# The next publisher sends messages that the killed one had not sent.
	"${publish[@]}" --rounds 1 2>>"$WORK/publish.err" || fail "not all was acknowledged: $(cat "$WORK/publish.err")"
	"$PROFCTL" snapshot -o "$WORK/whole.pbt" 2>/dev/null
	"$ANALYZER" lake "$WORK/whole.pbt" --rank 3 -o "$WORK/whole"
	"$PYTHON" "$TOOLS/published_steps.py" "$WORK/host" "$WORK/whole" "$WORK/host.prom" >"$WORK/out" 2>&1 || fail "$(cat "$WORK/out" "$WORK/publish.err")"
	note "$(cat "$WORK/out")"
	! command -v promtool >/dev/null || promtool check metrics <"$WORK/host.prom" >"$WORK/check" 2>&1 || fail "promtool: $(cat "$WORK/check")"
	[ -z "$(find "$WORK/host.spool" -name 'round-*' -o -name '*.message')" ] || fail "left in the spool: $(ls "$WORK/host.spool")"
	exec {input}>&-
	stop_daemon
}
note "$SECONDS s -- a real job: the steps of its flight recorder"
if [ "$(id -u)" -ne 0 ] || ! clinfo -l 2>/dev/null | grep -q 'Device #0' || [ ! -x "$TRUTH/opencl_loop" ]; then
	leave_out "needs root and an OpenCL device (./setup check installs PoCL)"
else
	publish_loop
fi

if ! command -v nats-server >/dev/null; then
	leave_out "needs nats-server (./setup check installs it)"
	exit 0
fi
note "$SECONDS s -- a broker with TLS and passwords, and one that takes small messages only"
"$PYTHON" "$TOOLS/broker_parts.py" "$WORK/broker" >"$WORK/out" 2>&1 || fail "the broker's parts: $(tail -n 20 "$WORK/out")"
note "$(tail -n 3 "$WORK/out" | tr '\n' ' ')"
note "$SECONDS s -- over a broker; publisher, broker and consumer are killed in any order"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
printf 'listen: "127.0.0.1:%d"\njetstream { store_dir: "%s" }\n' "$port" "$WORK/jetstream" >"$WORK/nats.conf"
URL=nats://127.0.0.1:$port
start_broker() {
	nats-server -c "$WORK/nats.conf" >>"$WORK/broker.log" 2>&1 &
	BROKER_PID=$!
}
start_publisher() {
	"$PYTHON" "$TOOLS/replay_lake.py" "$WORK/killed" --spools "$WORK/killed.spools" --log "$WORK/killed.log" --speed "$SPEED" \
		--nats "$URL" --began "$BEGAN" >>"$WORK/killed.replay" 2>&1 &
	PUBLISHER_PID=$!
}
# kill_one: kills one of the three at random, and restarts it at once
kill_one() {
	case $((RANDOM % 3)) in
	0) kill -KILL $BROKER_PID && wait_for_end $BROKER_PID 10 || start_broker ;;
	1) kill -KILL $PUBLISHER_PID && wait_for_end $PUBLISHER_PID 10 || start_publisher ;;
	2) kill -KILL $WATCH_PID && wait_for_end $WATCH_PID 10 || watch killed --nats "$URL" ;;
	esac
}
RANDOM=${PROFBPF_TEST_SEED:-$$} SPEED=10
make_lake killed --steps $((LONG ? 2000 : 160)) --seed 9
BEGAN=$(date +%s.%N)
start_broker
watch killed --nats "$URL"
start_publisher
for ((i = 0; i < KILLS; i++)); do
	sleep 0.$((RANDOM % 6 + 4))
	kill_one
done
wait_for_end $PUBLISHER_PID 120 || fail "the publisher: $(cat "$WORK/killed.replay")"
[ "$(find "$WORK/killed.spools" -name '*.message' | wc -l)" = 0 ] || fail "messages are left in the spools"
arrived() { "$PYTHON" "$TOOLS/same_rows.py" "$WORK/killed" "$WORK/killed.state/lake" >"$WORK/rows" 2>&1; }
wait_until 20 arrived || fail "rows: $(cat "$WORK/rows" "$WORK/killed.err")"
kill -TERM $WATCH_PID
wait_for_end $WATCH_PID 20 || fail "watch: $(cat "$WORK/killed.err")"
arrived || fail "rows: $(cat "$WORK/rows")"
note "$KILLS kills: $(cat "$WORK/rows")"
assert_eq "told of a healthy job" 0 "$(jq -s '[.[] | select(.kind == "holder")] | length' "$WORK/killed.alerts")"
note "$SECONDS s"
