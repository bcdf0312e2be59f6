#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One user's storm of heavy requests delays only that user, who gets an error when there are too many.
. "$(dirname "$0")/lib.sh"
need_root
need_command python3

start_daemon --user-catalog 1M
python3 - "$PROFBPF_SOCKET" <<'END' || fail "see above"
import ctypes, mmap, os, select, signal, socket, struct, sys, time

CONNECTIONS, FUNCTIONS, LIMIT, ASKED = 30, 38000, 8, 20
STORMING_USER, ANOTHER_USER = 65534, 65533

def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])

def field(number, value):
    if isinstance(value, int): return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value

def check(pid, functions):
    """Can a session of this process be started, with a catalog of so many functions?"""
    text = "runtime storm\n" + "".join("storm_%06d other 1\n" % i for i in range(functions))
    catalog = field(1, b"storm.catalog") + field(2, text.encode())
    return field(1, 1) + field(2, field(1, pid) + field(8, catalog) + field(11, 1))

LIST, STATUS = field(1, 1) + field(4, b""), field(1, 1) + field(5, b"")

def connect():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(300)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
    s.connect(sys.argv[1])
    return s

libc = ctypes.CDLL(None)

# Shared counters: answers to the storm that were checks, and that were refusals for too many requests;
# requests of the storm without an answer; "stop"; answers to another user.
CHECKED, BUSY, OPEN, STOP, OTHERS = range(5)
shared = mmap.mmap(-1, 4096)
def get(i): return struct.unpack_from("q", shared, 8 * i)[0]
def put(i, value): struct.pack_into("q", shared, 8 * i, value)

def as_user(user, function):
    pid = os.fork()
    if pid: return pid
    try:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        # A process that changes its ids cannot be traced until it allows it again.
        libc.prctl(4, 1, 0, 0, 0)
        function()
    except BaseException as error:
        print("user %d: %r" % (user, error), flush=True)
        os._exit(1)
    os._exit(0)

def storm():
    request = check(os.getpid(), FUNCTIONS)
    sockets = [connect() for _ in range(CONNECTIONS)]
    for s in sockets:
        s.send(request)
        put(OPEN, get(OPEN) + 1)
    poll = select.poll()
    by_fd = {s.fileno(): s for s in sockets}
    for fd in by_fd: poll.register(fd, select.POLLIN)
    while by_fd:
        for fd, _ in poll.poll():
            answer = by_fd[fd].recv(1 << 20)
            if b"is processing %d of your requests" % LIMIT in answer:
                put(BUSY, get(BUSY) + 1)
            elif answer[:4] == field(1, 1) + field(3, b""):
                put(CHECKED, get(CHECKED) + 1)
                # The maximum number of requests waits all the time.
                if not get(STOP):
                    by_fd[fd].send(request)
                    continue
            else:
                raise AssertionError("answer %r" % answer[:200])
            put(OPEN, get(OPEN) - 1)
            poll.unregister(fd)
            by_fd.pop(fd).close()

def another():
    """Small requests, one after the other: each is served after one of the storm's."""
    request = check(os.getpid(), 1)
    s = connect()
    for _ in range(ASKED):
        before = get(CHECKED)
        s.send(request)
        assert s.recv(1 << 20)[:4] == field(1, 1) + field(3, b"")
        assert get(OPEN) >= LIMIT // 2, "the storm was over"
        assert get(CHECKED) - before < LIMIT, "the other user waited for %d" % (get(CHECKED) - before)
        put(OTHERS, get(OTHERS) + 1)

def wait(what, condition):
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline, what
        assert os.waitpid(storming, os.WNOHANG) == (0, 0), "the storm failed"
        time.sleep(0.001)

def ask(what, request):
    slowest = most = 0
    for _ in range(ASKED):
        assert get(OPEN) >= LIMIT // 2, "the storm was over"
        before, begin = get(CHECKED), time.monotonic()
        s = connect()
        s.send(request)
        answer = s.recv(1 << 20)
        slowest = max(slowest, time.monotonic() - begin)
        most = max(most, get(CHECKED) - before)
        assert answer[:2] == field(1, 1), answer
        assert b"busy" not in answer, answer
        s.close()
    print("# %s: %d times, the slowest took %.0f ms, in which %d of the storm's were answered" %
          (what, ASKED, slowest * 1000, most))
    # A request that queued behind the storm would see all earlier requests answered first.
    assert most < LIMIT, "%s waited for %d requests of the storm" % (what, most)

storming = as_user(STORMING_USER, storm)
try:
    wait("no request was refused", lambda: get(BUSY) > 0)
    wait("requests that may not wait are not refused", lambda: get(OPEN) <= LIMIT)
    ask("root's list", LIST)
    ask("root's status", STATUS)
    ask("root's check", check(os.getpid(), 1))
    other = as_user(ANOTHER_USER, another)
    _, status = os.waitpid(other, 0)
    assert status == 0, "the other user failed"
    assert get(OTHERS) == ASKED
    put(STOP, 1)
    _, status = os.waitpid(storming, 0)
    storming = 0
    assert status == 0, "the storm failed"
    assert get(OPEN) == 0 and get(BUSY) >= 1 and get(CHECKED) > 0
    print("# the storm: %d checked, %d of %d connections told that it is too much" %
          (get(CHECKED), get(BUSY), CONNECTIONS))
finally:
    if storming: os.kill(storming, signal.SIGKILL)
END

# ---- Clients that disconnect while their request runs, and a daemon that ends meanwhile

python3 - "$PROFBPF_SOCKET" <<'END'
import os, socket, sys
text = b"runtime storm\n" + b"".join(b"storm_%05d other 1\n" % i for i in range(30000))
def varint(n): return bytes([n & 127 | 128]) + varint(n >> 7) if n > 127 else bytes([n])
def field(number, value):
    if isinstance(value, int): return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value
request = field(1, 1) + field(2, field(1, os.getpid()) + field(8, field(1, b"x") + field(2, text)) + field(11, 1))
kept = []
for i in range(20):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
    s.connect(sys.argv[1])
    s.send(request)
    if i % 2: s.close()
    else: kept.append(s)
END
assert_status "list afterwards" 0 "$PROFCTL" list
stop_daemon
