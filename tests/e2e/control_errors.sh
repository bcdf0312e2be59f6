#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each error has its own message, exit status 1 (2 for wrong usage), and leaves no file behind.
# beside others: its daemon is its own, and no time counts
. "$(dirname "$0")/lib.sh"
need_root
need_command setpriv python3 script

# refused WHAT STATUS PATTERN COMMAND...: the command fails like this and does not touch $WORK/out.pbt.
refused() {
	local what=$1 status=$2 pattern=$3
	shift 3
	rm -f "$WORK/out.pbt"
	assert_status "$what" "$status" "$@"
	assert_contains "$what" "$WORK/err" "$pattern"
	[ ! -e "$WORK/out.pbt" ] || fail "$what: it left a file behind"
}

attach() { "$PROFCTL" attach -o "$WORK/out.pbt" "$@"; }
record() { "$PROFCTL" record -o "$WORK/out.pbt" "$@"; }

sleep 1000 &
target=$!

# ---- Wrong usage: status 2, and the wrong word

refused "no command" 2 'usage:' "$PROFCTL"
refused "unknown command" 2 "unknown command 'atach'" "$PROFCTL" atach
refused "unknown option" 2 "unrecognized option '--pids'" attach --pids 1
refused "no process given" 2 'no process is given: use --pid PID' attach
refused "a name for a pid" 2 "'ffmpeg' is not a process id" attach --pid ffmpeg
refused "an empty pid in a list" 2 "'' is not a process id" attach --pid "$target,"
refused "negative pid" 2 "'-1' is not a process id" attach --pid=-1
printf '17 x\n' >"$WORK/list"
refused "a list without a file" 2 "$WORK/none: No such file" attach --pid "@$WORK/none"
refused "a list with a name in it" 2 "$WORK/list:1: 'x' is not a process id" attach --pid "@$WORK/list"
refused "an empty list" 2 "standard input contains no process id" attach --pid @-
refused "a number too large" 2 "'4294967297' is not a process id" attach --pid 4294967297
refused "half a duration" 2 "--duration: '1m30' has a number without a unit" attach --pid "$target" --duration 1m30
refused "duration of nothing" 2 '--duration: must be more than 0' attach --pid "$target" --duration 0s
refused "unknown topic" 2 "unknown topic 'shed'; topics are api" attach --pid "$target" --topics api,shed
refused "unknown size" 2 "unknown unit 'MB'" attach --pid "$target" --buffer 64MB
refused "argument too many" 2 "unexpected argument '17'" attach --pid "$target" 17
refused "no command to record" 2 'no command is given' record
refused "trace and command on one output" 2 'the command also writes to standard output' "$PROFCTL" record -o - -- true
refused "stop without session" 2 'no session is given' "$PROFCTL" stop
refused "stop of a word" 2 "'x' is not a session number" "$PROFCTL" stop x
refused "unknown format" 2 "'xml' is neither text nor json" "$PROFCTL" list --format xml
refused "catalog without a word" 2 'list, check or match' "$PROFCTL" catalog
refused "daemon option" 2 "unrecognized option '--sockt'" "$PROFBPFD" --sockt x

# ---- Without privilege and without a daemon

refused "no privilege" 1 'needs root .*use sudo, or start the daemon' \
	as_nobody "$PROFCTL" attach --pid "$target" -o "$WORK/out.pbt"
refused "no privilege for the daemon" 1 'needs root, or CAP_BPF' as_nobody "$PROFBPFD"
refused "stop without daemon" 1 "no profbpfd is listening on $PROFBPF_SOCKET: start it" "$PROFCTL" stop 1
assert_status "list without daemon" 0 "$PROFCTL" list
assert_contains "list without daemon" "$WORK/out" '^no sessions$'

# ---- Processes that cannot be traced

python3 -c '
import os, sys, time
child = os.fork()
if child == 0: os._exit(0)
print(child, flush=True)
time.sleep(1000)' >"$WORK/zombie" &
parent=$!
wait_for_line "$WORK/zombie" '^[0-9]+$' 10
zombie=$(<"$WORK/zombie")
wait_until 10 grep -q '^State:[[:space:]]*Z' "/proc/$zombie/status" || fail "no zombie came to be"
python3 -c '
import threading, time
t = threading.Thread(target=time.sleep, args=(1000,))
t.start()
print(t.native_id, flush=True)' >"$WORK/thread" &
threaded=$!
wait_for_line "$WORK/thread" '^[0-9]+$' 10
thread=$(<"$WORK/thread")
absent=$(($(</proc/sys/kernel/pid_max) - 1))
[ ! -e "/proc/$absent" ] || skip "process $absent exists"

start_daemon
for how in "" --standalone; do
	refused "no such process $how" 1 "^profctl: no process $absent\$" attach $how --pid "$absent"
	refused "zombie $how" 1 "process $zombie \\(.*\\) is a zombie: it has exited and waits for its parent $parent" \
		attach $how --pid "$zombie"
	refused "one bad of two $how" 1 "no process $absent" attach $how --pid "$target,$absent"
done
refused "a thread" 1 "$thread \\(.*\\) is a thread of process $threaded; give --pid $threaded" attach --pid "$thread"
if grep -qs '^kthreadd$' /proc/2/comm; then
	refused "a kernel thread" 1 '2 \(kthreadd\) is a kernel thread' attach --pid 2
fi

# ---- Outputs that cannot be written

refused "output in no folder" 1 "cannot write to $WORK/none/out.pbt: No such file" \
	"$PROFCTL" attach --pid "$target" -o "$WORK/none/out.pbt"
refused "output is a folder" 1 "cannot write to $WORK: Is a directory" "$PROFCTL" attach --pid "$target" -o "$WORK"
setpriv --reuid=65534 --regid=65534 --clear-groups sleep 1000 &
theirs=$!
wait_until 10 grep -q '^Uid:[[:space:]]*65534' "/proc/$theirs/status" || fail "setpriv did not change the user"
chmod 700 "$WORK/public" && mkdir "$WORK/locked" && chmod 755 "$WORK/public"
refused "output by the user's own rights" 1 "cannot write to $WORK/locked/x: Permission denied" \
	as_nobody "$PROFCTL" attach --pid "$theirs" -o "$WORK/locked/x"
status=0
script -qec "$PROFCTL attach --pid $target -o -" /dev/null >"$WORK/terminal" 2>&1 </dev/null || status=$?
assert_eq "status of writing to a terminal" 1 "$status"
assert_contains "a trace to a terminal" "$WORK/terminal" 'standard output is a terminal, but a trace is binary'

# ---- Ordinary users: their own processes, nothing else

mkdir -m 777 "$WORK/theirs"
echo "an earlier trace" >"$WORK/theirs/kept.pbt" && chmod 666 "$WORK/theirs/kept.pbt"
refused "another user's process, over an earlier trace" 1 'belongs to user 0' \
	as_nobody "$PROFCTL" attach --pid "$target" -o "$WORK/theirs/kept.pbt"
assert_eq "the earlier trace" "an earlier trace" "$(<"$WORK/theirs/kept.pbt")"
refused "another user's process" 1 "process $target \\(sleep\\) belongs to user 0, you are user 65534" \
	as_nobody "$PROFCTL" attach --pid "$target" -o "$WORK/theirs/a.pbt"
[ ! -e "$WORK/theirs/a.pbt" ] || fail "the refused session left a file behind"
refused "the whole machine" 1 'only root and members of the group profbpf' \
	as_nobody "$PROFCTL" record --system -o "$WORK/theirs/b.pbt"
refused "much memory" 1 'use a smaller --buffer' \
	as_nobody "$PROFCTL" attach --pid "$theirs" --buffer 1G -o "$WORK/theirs/c.pbt"
assert_status "one's own process" 0 \
	as_nobody "$PROFCTL" attach --pid "$theirs" --duration 300ms -o "$WORK/theirs/d.pbt"
assert_contains "one's own process" "$WORK/err" "^tracing $theirs \\(sleep\\)"
assert_eq "owner of the file" 65534 "$(stat -c %u "$WORK/theirs/d.pbt")"

# ---- Catalogs with a typo: every error with its line and column

mkdir "$WORK/catalogs"
printf 'runtime mine\nmine_launch lunch 1\nmine_copy copy 1 bytes=99\n' >"$WORK/catalogs/mine.catalog"
refused "a catalog with typos" 1 "$WORK/catalogs/mine.catalog:2:13: " attach --pid "$target" --catalog "$WORK/catalogs"
assert_contains "its second typo" "$WORK/err" "$WORK/catalogs/mine.catalog:3:[0-9]+: "
assert_status "catalog check" 1 "$PROFCTL" catalog check "$WORK/catalogs/mine.catalog"
assert_contains "catalog check" "$WORK/err" "^$WORK/catalogs/mine.catalog:2:13: "
refused "a folder without catalogs" 1 "no \*.catalog file in $WORK/theirs" \
	attach --pid "$target" --catalog "$WORK/theirs"
refused "no such folder of catalogs" 1 "cannot read the catalogs of $WORK/none: No such file" \
	attach --pid "$target" --catalog "$WORK/none"
head -c 3000 /dev/urandom >"$WORK/catalogs/mine.catalog"
printf '\0' >>"$WORK/catalogs/mine.catalog"
refused "a catalog that is no text" 1 'it is not a text file' attach --pid "$target" --catalog "$WORK/catalogs"
# shellcheck disable=SC2046
assert_status "the catalogs that come with profbpf" 0 "$PROFCTL" catalog check $(ls "$ROOT"/catalog/*.catalog)
assert_contains "one function is no functions" "$WORK/out" 'mindspore_tasks.catalog: runtime minddata, 1 function: no errors'

# ---- The daemon disconnects a peer that sends invalid packets, and continues

python3 - <<'END'
import os, socket, array
path = os.environ["PROFBPF_SOCKET"]
def connect():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(120)
    s.connect(path)
    return s
null = os.open("/dev/null", os.O_RDONLY)
for packet, fds in [(b"\x0f\xff\xff", 0), (os.urandom(4096), 3), (b"\x08\x01", 253), (b"\x08\x01\x12\x00", 0),
                    (b"\x08\x01\x12\x02\x0a\x00", 250), (b"\x08\x01\x12\x04\x10\x01\x48\x01", 1)]:
    s = connect()
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [null] * fds))] if fds else []
    s.sendmsg([packet], ancillary)
    assert s.recv(1 << 20), packet
    s.close()
# Endless requests from a client that never reads.
s = connect()
s.setblocking(False)
try:
    for _ in range(100000): s.send(b"\x08\x01\x22\x00")
except (BlockingIOError, ConnectionError): pass
# More connections than allowed.
crowd = []
for _ in range(300):
    try: crowd.append(connect())
    except OSError: break
END
descriptors() { find "/proc/$DAEMON_PID/fd" -type l | wc -l; }
wait_until 10 "$PROFCTL" list || fail "the daemon does not answer any more"
few_descriptors() { [ "$(descriptors)" -le 20 ]; }
wait_until 20 few_descriptors || fail "the daemon keeps $(descriptors) descriptors open"

# ---- One daemon per socket; a killed daemon does not block the next one

refused "a second daemon" 1 "another profbpfd is listening on $PROFBPF_SOCKET" "$PROFBPFD"
kill -KILL "$DAEMON_PID"
wait "$DAEMON_PID" || :
refused "the socket of a dead daemon" 1 "no profbpfd is listening" "$PROFCTL" stop 1
start_daemon
answers() { [[ $("$PROFCTL" stop 1 2>&1) == *"no session 1;"* ]]; }
wait_until 20 answers || fail "the new daemon does not answer on the old socket"
stop_daemon
[ ! -e "$PROFBPF_SOCKET" ] || fail "the daemon left its socket behind"
: >"$WORK/file"
refused "a socket path that is a file" 1 "$WORK/file exists and is not a socket" "$PROFBPFD" --socket "$WORK/file"
