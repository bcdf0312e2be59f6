#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every row that hosts publish arrives once over a topic of a real Kafka, by examples/kafka, although the broker and both
# ends of the bridge are killed, the ends also at each of their steps; a reader that starts again goes on where it was.
# long: a broker in Java, which starts four times; nothing of profbpf but two short scripts
# timeout: 1800
. "$(dirname "$0")/lib.sh"
need_command kcat java mvn python3

"$ROOT/tests/tools/make-venv" fleet >"$WORK/install" 2>&1 || skip "DuckDB cannot be installed: $(tail -n 1 "$WORK/install")"
PYTHON=$ROOT/build/venv-fleet/bin/python TOOLS=$ROOT/tests/tools
BRIDGES=$ROOT/examples/kafka PYTHONPATH=$ROOT/fleet
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
# Each end is in a group of its own, with its kcat, which gives a file up soon: what does not arrive stays. An end finds
# programs that kill its group before or after their work, once the test asks for it: die_at END before|after PROGRAM.
for program in head mv sync kcat rm; do
	mkdir -p "$WORK/mortal"
	cat >"$WORK/mortal/$program" <<END
#!/bin/bash
! rm "$WORK/\$BRIDGE.before.$program" 2>/dev/null || kill -KILL 0
"$(command -v $program)" "\$@"
status=\$?
! "$(command -v rm)" "$WORK/\$BRIDGE.after.$program" 2>/dev/null || kill -KILL 0
exit \$status
END
	sed -i "2s|! rm|! $(command -v rm)|" "$WORK/mortal/$program"
	chmod +x "$WORK/mortal/$program"
done
start_to() {
	BRIDGE=to PATH=$WORK/mortal:$PATH setsid "$BRIDGES/to_kafka" "$WORK/out" "$BROKER" profbpf -X message.timeout.ms=1000 >>"$WORK/to.log" 2>&1 &
	TO_PID=$!
}
start_from() {
	BRIDGE=from PATH=$WORK/mortal:$PATH setsid "$BRIDGES/from_kafka" "$BROKER" profbpf "$WORK/in" >>"$WORK/from.log" 2>&1 &
	FROM_PID=$!
}
start_ends() {
	start_to
	start_from
}
die_at() {
	local asked=$WORK/$1.$2.$3
	died() { [ ! -e "$asked" ]; }
	touch "$asked"
	wait_until 30 died || fail "$1_kafka did not come to $3: $(tail -n 5 "$WORK/$1.log")"
	case $1 in
	to) kill_group $TO_PID && start_to ;;
	from) kill_group $FROM_PID && start_from ;;
	esac
}
kill_group() { { kill -KILL -- "-$1" && wait_for_end "$1" 10; } 2>/dev/null || :; }
kill_broker() { { kill -KILL "$BROKER_PID" && wait_for_end "$BROKER_PID" 10; } 2>/dev/null || :; }
mkdir "$WORK/out" "$WORK/in"
"$PYTHON" "$TOOLS/make_lake.py" "$WORK/lake" --ranks 16 --steps 400 --seed 5
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
points=0
for point in before.head after.head before.mv after.mv before.sync after.sync; do
	die_at from "${point%.*}" "${point#*.}"
	points=$((points + 1))
done
for point in before.kcat after.kcat before.rm after.rm; do
	die_at to "${point%.*}" "${point#*.}"
	points=$((points + 1))
done
wait_for_end $publisher 60 || fail "the publisher: $(cat "$WORK/replay")"
all_sent() { [ -z "$(find "$WORK/out" -name '*.parquet')" ]; }
wait_until 60 all_sent || fail "not all was sent: $(tail -n 5 "$WORK/to.log")"
arrived() { "$PYTHON" "$TOOLS/same_rows.py" "$WORK/lake" "$WORK/in" >"$WORK/rows" 2>&1; }
wait_until 60 arrived || fail "rows: $(cat "$WORK/rows") $(tail -n 5 "$WORK/from.log")"
note "9 kills, $points between two steps of an end: $(cat "$WORK/rows")"
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

# restart_from MARK - starts the reader again; returns once it has written steps/MARK.parquet, which is sent meanwhile.
restart_from() {
	kill_group $FROM_PID
	start_from
	echo x | kcat -P -q -b "$BROKER" -t profbpf -p 0 -k "steps/$1.parquet"
	mark=$WORK/in/steps/$1.parquet
	is_there() { [ -s "$mark" ]; }
	wait_until 30 is_there || fail "a reader that starts again: $(tail -n 5 "$WORK/from.log")"
}
# It goes on behind its position: a file from before does not come back.
first=$(find "$WORK/in/collectives" -name '*.parquet' -print -quit)
rm "$first"
restart_from again
[ ! -e "$first" ] || fail "the reader read the topic from its beginning again"
"$BRIDGES/from_kafka" "$BROKER" profbpf "$WORK/in" 2>"$WORK/second" && fail "two readers write to one directory"
assert_contains "a second reader" "$WORK/second" 'another from_kafka writes profbpf'
# The position of another topic, or half of one: it reads all. The removed file lies before the stored offset, so that it
# comes back only then.
stored=$(cut -d' ' -f1 "$WORK/in/profbpf.position")
for position in "$stored steps/other.parquet" "99999999 steps/other.parquet" "99"; do
	printf '%s\n' "$position" >"$WORK/in/profbpf.position"
	rm -f "$first"
	restart_from "after-${position%% *}"
	[ -e "$first" ] || fail "position '$position': the topic was not read from its beginning"
done
kill_group $FROM_PID
