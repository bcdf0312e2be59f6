#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The daemon as a unit of Type=notify: reports ready when it listens, watchdog signals, reloading and stopping.
. "$(dirname "$0")/lib.sh"
need_root
need_command python3

cat >"$WORK/manager.py" <<'END'
import os, signal, socket, subprocess, sys, time
work, daemon = sys.argv[1:]
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(work + "/notify")
s.settimeout(300)
start = time.monotonic()
p = subprocess.Popen([daemon], env=dict(os.environ, NOTIFY_SOCKET=work + "/notify", WATCHDOG_USEC="400000"))
told = s.recv(4096).decode().split()
assert told == ["READY=1"], told
c = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
c.connect(os.environ["PROFBPF_SOCKET"])
# Signals come every half period, 0.2 s; each may be late, or be read late, but none is early.
for n in range(6):
    told = s.recv(4096).decode().split()
    assert told == ["WATCHDOG=1"], told
    assert time.monotonic() - start >= 0.2 * n, (n, time.monotonic() - start)
p.send_signal(signal.SIGHUP)
before = time.monotonic_ns() // 1000
while told == ["WATCHDOG=1"]: told = s.recv(4096).decode().split()
assert told[0] == "RELOADING=1" and before - 1000000 < int(told[1].removeprefix("MONOTONIC_USEC=")), told
told = s.recv(4096).decode().split()
assert told == ["READY=1"], told
p.send_signal(signal.SIGTERM)
told = s.recv(4096).decode().split()
while told == ["WATCHDOG=1"]: told = s.recv(4096).decode().split()
assert told == ["STOPPING=1"], told
assert p.wait(300) == 0
print("notified as it should be")
END
timeout 800 python3 "$WORK/manager.py" "$WORK" "$PROFBPFD" >"$WORK/out" 2>"$WORK/log" || fail "$(cat "$WORK/log")"
assert_contains "notifications" "$WORK/out" '^notified as it should be$'
assert_contains "what it says to the journal" "$WORK/log" "^profbpfd: version .* listening on $PROFBPF_SOCKET"
