# SPDX-License-Identifier: Apache-2.0
"""jetstream.py - messages through NATS JetStream, by nats-py.

A stream "profbpf" keeps messages until they are an hour old. A message's id (Nats-Msg-Id) is its name, so the broker
drops a message that is sent again. A durable consumer passes each message to watch, which writes it into its own lake
and then acknowledges it. A message that still comes twice, for example after more than an hour, replaces its files of
that name.

A message that is larger than the broker's max_payload is sent in parts, NAME/1 of N and so on, with the header
Profbpf-Part; watch acknowledges parts and keeps them on disk until the message is complete.
"""

import asyncio
import os
import pathlib
import re
import shutil
import ssl
import stat
import time

from profbpf_fleet.directory import DirectorySource, Waiting
from profbpf_fleet.engines import Problem
from profbpf_fleet.messages import parsed, write_file, write_to_lake

STREAM, SUBJECT, DURABLE = "profbpf", "profbpf.segments", "profbpf-fleet"
KEPT_S = 3600
WAIT_S = 5
BATCH = 64
PART = "Profbpf-Part"
HEADERS = 512  # bytes for the headers of a message, which count for max_payload, too
CREDENTIALS = "-----BEGIN NATS USER JWT-----"


def library():
    try:
        import nats as client
    except ImportError as error:
        raise Problem("the client of NATS is not installed: pip install nats-py") from error
    return client


def tls_of(options):
    """A TLS context if the options name files for one, else None: nats-py makes its own for tls://."""
    if not (options.tls_ca or options.tls_cert):
        return None
    try:
        context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH, cafile=options.tls_ca)
        if options.tls_cert:
            context.load_cert_chain(options.tls_cert, options.tls_key)
    except (OSError, ssl.SSLError) as error:
        raise Problem(f"{options.tls_ca or ''} {options.tls_cert or ''}: {error}") from error
    return context


def login_of(path):
    """nats-py's options for a credentials file: one of NATS, or lines user = NAME, password = SECRET, token =
    SECRET."""
    if not path:
        return {}
    try:
        with open(path, encoding="utf-8") as file:
            if os.fstat(file.fileno()).st_mode & stat.S_IROTH:
                raise Problem(f"{path}: all users may read it; run chmod 600 {path}")
            text = file.read()
    except (OSError, ValueError) as error:
        raise Problem(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    if CREDENTIALS in text:
        return {"user_credentials": path}
    known = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, equal, value = (word.strip() for word in line.partition("="))
        if not name or name.startswith("#"):
            continue
        if not equal or not value or name not in ("user", "password", "token"):
            raise Problem(f"{path}:{number}: neither credentials of NATS nor user = NAME, password = SECRET or token = SECRET")
        known[name] = value
    if set(known) not in ({"user", "password"}, {"token"}):
        raise Problem(f"{path}: must have either a user and a password, or a token")
    return known


def parts_of(payload, most):
    """[bytes]: the payload in parts that the broker accepts."""
    room = most - HEADERS
    if room <= 0:
        raise Waiting(f"the broker takes messages of {most} bytes only: raise its max_payload")
    return [payload[at:at + room] for at in range(0, len(payload), room)] or [payload]


class Connection:
    """A connection to the broker, made again when it is lost; call(coroutine) waits for the coroutine."""

    def __init__(self, options, name):
        self.client, self.options, self.name = library(), options, name
        self.login, self.tls = login_of(options.credentials), tls_of(options)
        self.loop, self.connection, self.stream = asyncio.new_event_loop(), None, None
        self.last_error = ""

    def call(self, coroutine):
        return self.loop.run_until_complete(coroutine)

    async def connect(self):
        async def failed(error):
            self.last_error = str(error) or type(error).__name__
        options = {"servers": [self.options.nats], "name": self.name, "allow_reconnect": False, "connect_timeout": WAIT_S, "error_cb": failed,
                   "tls": self.tls, **self.login}
        self.connection = await self.client.connect(**{name: value for name, value in options.items() if value is not None})
        self.stream = self.connection.jetstream(timeout=WAIT_S)
        await self.make_stream()

    async def make_stream(self):
        """Keeps a stream that an operator made as it is; else makes one with the limits above."""
        from nats.js import api, errors
        try:
            await self.stream.stream_info(STREAM)
        except errors.NotFoundError:
            await self.stream.add_stream(api.StreamConfig(
                name=STREAM, subjects=[f"{SUBJECT}.>"], storage=api.StorageType.FILE, max_age=KEPT_S, duplicate_window=KEPT_S,
                discard=api.DiscardPolicy.OLD))

    async def up(self):
        """Connects if necessary; raises Waiting if that fails."""
        if self.connection and self.connection.is_connected:
            return
        try:
            await self.drop()
            await self.connect()
        except ssl.SSLError as error:
            raise Waiting(f"{self.options.nats}: {error}") from error
        except (OSError, asyncio.TimeoutError, self.client.errors.Error) as error:
            raise Waiting(f"{self.options.nats}: {self.last_error or str(error) or type(error).__name__}") from error

    async def drop(self):
        connection, self.connection = self.connection, None
        if connection:
            try:
                await asyncio.wait_for(connection.close(), WAIT_S)
            except (OSError, asyncio.TimeoutError, self.client.errors.Error):
                pass

    def close(self):
        self.call(self.drop())
        self.loop.close()


class NatsDestination:
    def __init__(self, options):
        self.way = Connection(options, "profbpf-fleet publish")

    async def publish(self, name, payload):
        await self.way.up()
        parts = parts_of(payload, self.way.connection.max_payload)
        host = re.sub(r"[^A-Za-z0-9_-]", "_", parsed(name)[0].split("-")[0])
        if len(parts) == 1:
            await self.way.stream.publish(f"{SUBJECT}.{host}", payload, timeout=WAIT_S, headers={"Nats-Msg-Id": name})
            return
        for number, part in enumerate(parts, 1):
            # The ids contain the count: with another max_payload (of another broker, or changed) the parts differ.
            headers = {"Nats-Msg-Id": f"{name}/{number}/{len(parts)}", PART: f"{number}/{len(parts)}"}
            await self.way.stream.publish(f"{SUBJECT}.{host}", part, timeout=WAIT_S, headers=headers)

    def send(self, name, payload):
        try:
            self.way.call(self.publish(name, payload))
        except Waiting:
            raise
        except (OSError, asyncio.TimeoutError, self.way.client.errors.Error) as error:
            self.way.call(self.way.drop())
            raise Waiting(f"{self.way.options.nats}: not acknowledged: {str(error) or type(error).__name__}") from error

    def close(self):
        self.way.close()


class Parts:
    """Parts of incomplete messages, FOLDER/NAME/COUNT/NUMBER; forget_old() removes them after twice the stream's
    time."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def add(self, name, part, data):
        """Returns the message if this was its last missing part, else None."""
        found = re.fullmatch(r"([1-9][0-9]{0,4})/([1-9][0-9]{0,4})", part)
        if not parsed(name) or not found or int(found[1]) > int(found[2]):
            raise Problem(f"no part of a message: {name!r} {part!r}")
        folder = self.folder / name / found[2]
        folder.mkdir(parents=True, exist_ok=True)
        write_file(str(folder / found[1]), data)
        files = [folder / str(number) for number in range(1, int(found[2]) + 1)]
        return b"".join(file.read_bytes() for file in files) if all(file.exists() for file in files) else None

    def done(self, name):
        shutil.rmtree(self.folder / name, ignore_errors=True)

    def forget_old(self):
        for path in self.folder.glob("*"):
            if path.stat().st_mtime < time.time() - 2 * KEPT_S:
                self.done(path.name)


class NatsSource:
    """Writes messages into a lake in the state's folder, and reads that as DirectorySource reads any directory."""

    def __init__(self, options, lake, state, say):
        self.way, self.lake, self.say = Connection(options, "profbpf-fleet watch"), str(lake), say
        os.makedirs(self.lake, exist_ok=True)
        self.parts = Parts(f"{self.lake}.parts")
        self.parts.forget_old()
        self.directory = DirectorySource(self.lake, state, options.keep or KEPT_S)
        self.pull, self.trouble = None, None

    async def fetch(self):
        """Fetch the messages that wait at the broker; each is acknowledged once it is on disk."""
        from nats.js import api
        if not (self.way.connection and self.way.connection.is_connected):
            self.pull = None
        await self.way.up()
        if self.pull is None:
            self.pull = await self.way.stream.pull_subscribe(
                f"{SUBJECT}.>", durable=DURABLE, stream=STREAM,
                config=api.ConsumerConfig(ack_policy=api.AckPolicy.EXPLICIT, ack_wait=30, max_ack_pending=4 * BATCH))
        while True:
            try:
                found = await self.pull.fetch(BATCH, timeout=0.5)
            except asyncio.TimeoutError:
                return
            for message in found:
                headers = message.headers or {}
                self.keep(headers.get("Nats-Msg-Id", ""), message.data, headers.get(PART))
                await message.ack_sync(timeout=WAIT_S)
            if len(found) < BATCH:
                return

    def keep(self, name, payload, part=None):
        """Write a message into the lake, except an old one that was removed for its age, and one that is not ours."""
        if part:
            name = name.partition("/")[0]
        if self.directory.is_old(name):
            return
        try:
            whole = self.parts.add(name, part, payload) if part else payload
            if whole is None:
                return
            write_to_lake(self.lake, name, whole)
            if part:
                self.parts.done(name)
        except Problem as problem:
            self.say(f"left out: {problem}")

    def poll(self):
        try:
            self.way.call(self.fetch())
            if self.trouble:
                self.say("the broker answers again")
            self.trouble = None
        except (Waiting, OSError, asyncio.TimeoutError, self.way.client.errors.Error) as error:
            if not isinstance(error, Waiting):
                self.way.call(self.way.drop())
            text = str(error) or type(error).__name__
            # An error that repeats is reported once.
            if self.trouble is None:
                self.say(text)
            self.trouble = text
        return self.directory.poll()

    def floors_raised(self):
        return self.directory.floors_raised()

    def close(self):
        self.way.close()
