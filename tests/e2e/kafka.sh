#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every row that hosts publish arrives once over a topic of a real Kafka, by examples/kafka, although the broker and both
# ends of the bridge are killed.
# long: a broker in Java, which starts four times; nothing of profbpf but two short scripts
# timeout: 1800
. "$(dirname "$0")/lib.sh"
need_command kcat java mvn python3

"$ROOT/tests/tools/make-venv" fleet >"$WORK/install" 2>&1 || skip "DuckDB cannot be installed: $(tail -n 1 "$WORK/install")"
PYTHON=$ROOT/build/venv-fleet/bin/python TOOLS=$ROOT/tests/tools
PYTHONPATH=$ROOT/fleet
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1 JAVA_TOOL_OPTIONS='-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx512m'
jars=$ROOT/build/kafka-4.1.0
if [ ! -e "$jars/.complete" ]; then
	cat >"$WORK/pom.xml" <<'END'
<project><modelVersion>4.0.0</modelVersion><groupId>none</groupId><artifactId>none</artifactId><version>1</version><dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.1.0</version></dependency></dependencies></project>
END
	mvn -q -B -f "$WORK/pom.xml" dependency:copy-dependencies -DoutputDirectory="$jars" >"$WORK/mvn" 2>&1 ||
		skip "Kafka cannot be fetched: $(tail -n 1 "$WORK/mvn")"
	touch "$jars/.complete"
fi
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
BROKER=127.0.0.1:$(free_port) controller=127.0.0.1:$(free_port)
cat >"$WORK/server.properties" <<END
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@$controller
listeners=PLAINTEXT://$BROKER,CONTROLLER://$controller
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs=$WORK/kafka
offsets.topic.replication.factor=1
num.partitions=1
END
java -cp "$jars/*" kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAQ -c "$WORK/server.properties" >"$WORK/format" 2>&1 ||
	fail "Kafka's storage: $(tail -n 3 "$WORK/format")"

# Asking for a topic makes it.
serves() { kcat -L -b "$BROKER" -t profbpf -m 2 -X allow.auto.create.topics=true 2>/dev/null | grep -q 'topic "profbpf" with 1 partition'; }
start_broker() {
	java -cp "$jars/*" kafka.Kafka "$WORK/server.properties" >>"$WORK/broker.log" 2>&1 &
	BROKER_PID=$!
	wait_until 120 serves || fail "the broker: $(tail -n 5 "$WORK/broker.log")"
}
# Each end is in a group of its own, with its kcat, which gives a file up soon: what does not arrive stays.
start_ends() {
	setsid "$ROOT/examples/kafka/to_kafka" "$WORK/out" "$BROKER" profbpf -X message.timeout.ms=1000 >>"$WORK/to.log" 2>&1 &
	TO_PID=$!
	setsid "$ROOT/examples/kafka/from_kafka" "$BROKER" profbpf "$WORK/in" >>"$WORK/from.log" 2>&1 &
	FROM_PID=$!
}
kill_group() { { kill -KILL -- "-$1" && wait_for_end "$1" 10; } 2>/dev/null || :; }
kill_broker() { { kill -KILL "$BROKER_PID" && wait_for_end "$BROKER_PID" 10; } 2>/dev/null || :; }
mkdir "$WORK/out" "$WORK/in"
"$PYTHON" "$TOOLS/make_lake.py" "$WORK/lake" --ranks 16 --steps 160 --seed 5
start_broker
start_ends
"$PYTHON" "$TOOLS/replay_lake.py" "$WORK/lake" --spools "$WORK/spools" --log "$WORK/log" --speed 2 --dir "$WORK/out" >"$WORK/replay" 2>&1 &
publisher=$!
for order in "to broker from" "broker from to" "from to broker"; do
	sleep 1
	for who in $order; do
		case $who in
		to) kill_group $TO_PID ;;
		from) kill_group $FROM_PID ;;
		broker) kill_broker && sleep 2 ;;
		esac
	done
	start_broker
	start_ends
done
wait_for_end $publisher 60 || fail "the publisher: $(cat "$WORK/replay")"
all_sent() { [ -z "$(find "$WORK/out" -name '*.parquet')" ]; }
wait_until 60 all_sent || fail "not all was sent: $(tail -n 5 "$WORK/to.log")"
arrived() { "$PYTHON" "$TOOLS/same_rows.py" "$WORK/lake" "$WORK/in" >"$WORK/rows" 2>&1; }
wait_until 60 arrived || fail "rows: $(cat "$WORK/rows") $(tail -n 5 "$WORK/from.log")"
note "9 kills: $(cat "$WORK/rows")"
# A killed reader leaves a part of a file, which no reader may take for a file.
[ -z "$(find "$WORK/in" -name '.*.parquet')" ] || fail "parts of files are named as files: $(find "$WORK/in" -name '.*.parquet')"

# The reader refuses what the other end did not send, also without a key, and goes on.
echo x | kcat -P -q -b "$BROKER" -t profbpf
echo x | kcat -P -q -b "$BROKER" -t profbpf -k ../steps.parquet
echo x | kcat -P -q -b "$BROKER" -t profbpf -k steps/last.parquet
goes_on() { [ -s "$WORK/in/steps/last.parquet" ]; }
wait_until 30 goes_on || fail "the reader: $(tail -n 5 "$WORK/from.log")"
assert_contains "a record with another key" "$WORK/from.log" 'did not send: \.\./steps\.parquet'
assert_contains "a record without a key" "$WORK/from.log" "did not send: ''\$"
[ ! -e "$WORK/steps.parquet" ] || fail "a file was written beside the folder"
kill_group $TO_PID
kill_group $FROM_PID
