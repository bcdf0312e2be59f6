#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""broker_parts.py FOLDER: tests profbpf-fleet with a real nats-server: TLS, logins, and messages above its
max_payload."""

import contextlib
import os
import pathlib
import socket
import subprocess
import sys
import time
import types
import unittest

from profbpf_fleet import jetstream, messages
from profbpf_fleet.directory import Waiting
from profbpf_fleet.engines import Problem

FOLDER = pathlib.Path(sys.argv.pop(1))
SOURCE = "host1-00000000-11111111"


def make_certificates():
    """Makes ca.pem with certificates for the broker and for us; other.pem signs no certificate."""
    def run(*words):
        subprocess.run(["openssl", *words], check=True, cwd=FOLDER, capture_output=True)
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    for name in ("ca", "other"):
        run("req", "-x509", *key, "-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj", f"/CN={name}", "-days", "2")
    for name, use in (("broker", "serverAuth"), ("us", "clientAuth")):
        run("req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        (FOLDER / "ext").write_text(f"subjectAltName=IP:127.0.0.1\nextendedKeyUsage={use}\n", encoding="ascii")
        run("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-out", f"{name}.pem", "-days", "2", "-extfile", "ext")


@contextlib.contextmanager
def broker(more):
    """Runs a broker; yields its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    number = len(list(FOLDER.glob("broker*.conf")))
    conf = FOLDER / f"broker{number}.conf"
    conf.write_text(f'listen: "127.0.0.1:{port}"\njetstream {{ store_dir: "{FOLDER}/store{number}" }}\n{more}', encoding="ascii")
    with open(f"{conf}.log", "wb") as log, subprocess.Popen(["nats-server", "-c", conf], stdout=log, stderr=log) as server:
        try:
            for _ in range(400):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                time.sleep(0.05)
            yield port
        finally:
            server.kill()


def options(port, scheme="nats", **more):
    known = {"nats": f"{scheme}://127.0.0.1:{port}", "credentials": None, "tls_ca": None, "tls_cert": None, "tls_key": None, "keep": None}
    return types.SimpleNamespace(**{**known, **{name: str(value) for name, value in more.items()}})


def payload_of(size):
    return messages.pack({"steps": os.urandom(size)})


def sent(given, number=1, size=1000):
    destination = jetstream.NatsDestination(given)
    try:
        destination.send(messages.name_of(SOURCE, number), payload_of(size))
    finally:
        destination.close()


def secret(name, text, mode=0o600):
    path = FOLDER / name
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


class Tls(unittest.TestCase):
    def test_both_sides_want_to_know(self):
        conf = (f'tls {{ cert_file: "{FOLDER}/broker.pem", key_file: "{FOLDER}/broker.key", ca_file: "{FOLDER}/ca.pem", verify: true }}\n')
        with broker(conf) as port:
            us = {"tls_cert": FOLDER / "us.pem", "tls_key": FOLDER / "us.key"}
            sent(options(port, "tls", tls_ca=FOLDER / "ca.pem", **us))
            for wrong in ({"tls_ca": FOLDER / "other.pem", **us}, us, {"tls_ca": FOLDER / "ca.pem"}):
                with self.assertRaises(Waiting):
                    sent(options(port, "tls", **wrong))
            with self.assertRaisesRegex(Problem, "none.pem"):
                sent(options(port, "tls", tls_ca=FOLDER / "none.pem"))


class Login(unittest.TestCase):
    def test_a_user_with_a_password(self):
        with broker("authorization { users: [ { user: rank, password: hidden } ] }\n") as port:
            sent(options(port, credentials=secret("right", "# for the broker\nuser = rank\npassword = hidden\n")))
            with self.assertRaisesRegex(Waiting, "(?i)authorization"):
                sent(options(port, credentials=secret("wrong", "user = rank\npassword = seen\n")))
            with self.assertRaises(Waiting):
                sent(options(port))

    def test_a_token(self):
        with broker("authorization { token: hidden }\n") as port:
            sent(options(port, credentials=secret("token", "token = hidden\n")))

    def test_files_that_are_none(self):
        for name, text, why in (("a", "user = rank\n", "a user and a password"), ("b", "rank:hidden\n", "b:1"), ("c", "", "a user"),
                                ("d", "user = rank\npassword = hidden\ntoken = x\n", "a user")):
            with self.assertRaisesRegex(Problem, why):
                jetstream.login_of(str(secret(name, text)))
        with self.assertRaisesRegex(Problem, "chmod 600"):
            jetstream.login_of(str(secret("open", "token = hidden\n", 0o644)))
        with self.assertRaisesRegex(Problem, "No such file"):
            jetstream.login_of(str(FOLDER / "nowhere"))
        path = str(secret("creds", "-----BEGIN NATS USER JWT-----\n..."))
        self.assertEqual(jetstream.login_of(path), {"user_credentials": path})


class Large(unittest.TestCase):
    def test_more_than_the_broker_takes(self):
        """Sends messages in parts, some twice as after a broken connection, and restarts the consumer in the middle."""
        given, state, said = None, {}, []
        payloads = {messages.name_of(SOURCE, number): payload_of(size) for number, size in ((1, 100_000), (2, 10), (3, 30_000))}
        with broker("max_payload: 16KB\n") as port:
            given = options(port)
            destination = jetstream.NatsDestination(given)
            for name, payload in payloads.items():
                destination.send(name, payload)
            destination.send(*list(payloads.items())[0])
            destination.close()
            lake = FOLDER / "large"
            source = jetstream.NatsSource(given, lake, state, said.append)
            first = messages.name_of(SOURCE, 1)
            # A part that a killed consumer had stored.
            source.keep(f"{first}/2/7", jetstream.parts_of(payloads[first], 16384)[1], "2/7")
            source.close()
            source = jetstream.NatsSource(given, lake, state, said.append)
            found = source.poll()
            source.close()
        self.assertEqual(sorted(os.path.basename(path) for _, path in found), [f"{name}.parquet" for name in payloads])
        for name, payload in payloads.items():
            self.assertEqual((lake / "steps" / f"{name}.parquet").read_bytes(), dict(messages.unpack(name, payload))["steps"])
        self.assertEqual(said, [])
        self.assertEqual(list(pathlib.Path(f"{lake}.parts").glob("*")), [])

    def test_what_is_no_part(self):
        parts = jetstream.Parts(FOLDER / "parts")
        for name, part in ((messages.name_of(SOURCE, 1), "0/3"), (messages.name_of(SOURCE, 1), "4/3"), (messages.name_of(SOURCE, 1), "1"),
                           ("../x", "1/2")):
            with self.assertRaises(Problem):
                parts.add(name, part, b"")
        with self.assertRaisesRegex(Waiting, "max_payload"):
            jetstream.parts_of(b"x", 512)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    make_certificates()
    unittest.main()
