# SPDX-License-Identifier: Apache-2.0
"""network.py [recv|epoll|poll|select]: a client that waits for a server on this host, its child, which burns CPU for
each answer.

With epoll, poll and select it waits like an event loop for any of several connections; the other connections are
silent.

Prints main.tid, server.tid, port, all_ns, wait_ns of the client and cpu_ns of the server.
"""
import asyncio
import os
import select
import socket
import sys
import time

SECONDS, BURN = 1.5, 0.008
SILENT = 3


def say(text):
    os.write(1, (text + "\n").encode())


def serve(listener, out):
    connection, _ = listener.accept()
    listener.close()
    start = time.process_time()
    while connection.recv(1):
        end = time.thread_time() + BURN
        while time.thread_time() < end:
            pass
        connection.send(b"x")
    os.write(out, b"cpu_ns=%d\n" % ((time.process_time() - start) * 1e9))
    os._exit(0)


def ask_by_socket(client, silent, wait):
    waited, start = 0.0, time.monotonic()
    while time.monotonic() < start + SECONDS:
        client.send(b"x")
        before = time.monotonic()
        wait([client, *silent])
        client.recv(1)
        waited += time.monotonic() - before
    return start, waited


def poll(connections):
    waiting = select.poll()
    for connection in connections:
        waiting.register(connection, select.POLLIN)
    waiting.poll()


WAITS = {"recv": lambda connections: None, "poll": poll, "select": lambda connections: select.select(connections, [], [])}


async def ask_by_loop(client, silent):
    loop = asyncio.get_running_loop()
    for other in [client, *silent]:
        other.setblocking(False)
    waiting = [asyncio.create_task(loop.sock_recv(other, 1)) for other in silent]
    waited, start = 0.0, time.monotonic()
    while time.monotonic() < start + SECONDS:
        await loop.sock_sendall(client, b"x")
        before = time.monotonic()
        await loop.sock_recv(client, 1)
        waited += time.monotonic() - before
    for task in waiting:
        task.cancel()
    return start, waited


def main():
    say("ready %d" % os.getpid())
    sys.stdin.readline()
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    pid = os.fork()
    if not pid:
        serve(listener, 1)
    listener.close()
    mute = socket.create_server(("127.0.0.1", 0))
    silent = [socket.create_connection(mute.getsockname()) for _ in range(SILENT)]
    client = socket.create_connection(("127.0.0.1", port))
    say("main.tid=%d\nserver.tid=%d\nport=%d" % (os.getpid(), pid, port))
    way = sys.argv[1] if len(sys.argv) > 1 else "recv"
    start, waited = asyncio.run(ask_by_loop(client, silent)) if way == "epoll" else ask_by_socket(client, silent, WAITS[way])
    say("all_ns=%d\nwait_ns=%d" % ((time.monotonic() - start) * 1e9, waited * 1e9))
    client.close()
    os.waitpid(pid, 0)
    say("done")
    sys.stdin.readline()


main()
