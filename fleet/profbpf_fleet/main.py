# SPDX-License-Identifier: Apache-2.0
"""main.py - the command line of profbpf-fleet."""

import argparse
import json
import os
import re
import shutil
import sys

from profbpf_fleet import directory, engines
from profbpf_fleet.judge import answer
from profbpf_fleet.page import page_of
from profbpf_fleet.text import text_of

SIZES = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
TIMES = {"ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400}


def step(text):
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("a step must not be negative")
    return number


def amount(units, what):
    """An argument like 5s or 1GB."""
    def parse(text):
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([A-Za-z]+)", text)
        if not found or found[2] not in units or not float(found[1]):
            raise argparse.ArgumentTypeError(f"{text!r} is not a {what}: give a number with {', '.join(units)}, as 10{list(units)[1]}")
        return float(found[1]) * units[found[2]]
    return parse


def seconds(text):
    return amount(TIMES, "time")(text)


def web_address(text):
    if not text.startswith(("http://", "https://")):
        raise argparse.ArgumentTypeError("the address of a webhook must begin with http:// or https://")
    return text


def add_report(commands):
    report = commands.add_parser("report", help="judge a lake", description="Judge a lake: a directory that analyzer lake wrote.")
    report.add_argument("lake", metavar="LAKE", help="the directory")
    report.add_argument("--format", choices=["text", "json", "html"], default="text", help="text (default), JSON, or a page with a map of ranks and steps")
    report.add_argument("-o", "--output", metavar="FILE", help="write to FILE instead of standard output")
    report.add_argument("--from-step", type=step, metavar="N", help="only steps from N")
    report.add_argument("--to-step", type=step, metavar="M", help="only steps up to M, inclusive")
    report.add_argument("--engine", choices=["duckdb", "spark"], default="duckdb", help="engine that runs the SQL (default: duckdb, in this process)")
    report.add_argument("--master", metavar="URL", help="master of Spark: spark://HOST:PORT (default: local[*])")
    report.add_argument("--memory", metavar="SIZE", default="800MB", help="memory that DuckDB may use before it writes to disk (default: 800MB)")
    report.set_defaults(run=report_lake)


def add_way(command, required):
    way = command.add_mutually_exclusive_group(required=required)
    way.add_argument("--dir", metavar="DIR", help="a directory shared by all hosts: a lake that grows")
    way.add_argument("--nats", metavar="URL", help="a broker, NATS with JetStream: nats://HOST:4222, tls://HOST:4222")
    command.add_argument("--credentials", "--nats-creds", dest="credentials", metavar="FILE",
                         help="credentials for the broker: a file of NATS, or lines user = NAME, password = SECRET, token = SECRET")
    command.add_argument("--tls-ca", metavar="FILE", help="certificates of authorities for the broker's certificate (default: the system's)")
    command.add_argument("--tls-cert", metavar="FILE", help="the client's certificate, if the broker requires one")
    command.add_argument("--tls-key", metavar="FILE", help="key of the client's certificate")


def add_publish(commands):
    publish = commands.add_parser("publish", help="on a host: send the work of its ranks, every few seconds",
                                  description="On a host: send the work of its ranks, every few seconds, to the program that watches the job.")
    add_way(publish, False)
    publish.add_argument("--interval", type=seconds, default=5.0, metavar="TIME", help="time between two messages (default: 5s)")
    publish.add_argument("--last", type=seconds, metavar="TIME", help="length of the flight recorder's data to examine (default: three intervals)")
    publish.add_argument("--spool", metavar="DIR", default="/var/lib/profbpf/spool", help="directory of waiting messages (default: /var/lib/profbpf/spool)")
    publish.add_argument("--spool-limit", type=amount(SIZES, "size"), default=1e9, metavar="SIZE",
                         help="limit of their size, beyond which the oldest are dropped (default: 1GB)")
    publish.add_argument("--metrics", metavar="FILE",
                         help="write metrics of steps for the textfile collector of Prometheus' node exporter; without --dir and --nats nothing else is done")
    publish.add_argument("--profctl", default="profctl", metavar="FILE", help="path of profctl (default: profctl in PATH)")
    publish.add_argument("--analyzer", default="analyzer", metavar="FILE", help="path of analyzer (default: analyzer in PATH)")
    publish.add_argument("--rounds", type=int, metavar="N", help="end after N intervals; status 1 if a message was not acknowledged")
    publish.set_defaults(run=publish_host)


def add_watch(commands):
    watch = commands.add_parser("watch", help="judge a job while it runs", description="Judge a job while it runs, over its last steps, and report what is new.")
    add_way(watch, True)
    watch.add_argument("--format", choices=["text", "json"], default="text", help="a line of text (default) or a JSON object for each finding")
    watch.add_argument("--window", type=int, default=80, metavar="STEPS", help="number of steps to judge (default: 80)")
    watch.add_argument("--every", type=seconds, default=2.0, metavar="TIME", help="minimal time between two judgements (default: 2s)")
    watch.add_argument("--hang-after", type=seconds, default=5.0, metavar="TIME",
                       help="a job hangs if no step ends for TIME and for ten usual steps (default: 5s)")
    watch.add_argument("--silent-after", type=seconds, default=30.0, metavar="TIME", help="a host is silent if no message arrives for TIME (default: 30s)")
    watch.add_argument("--keep", type=seconds, metavar="TIME", help="remove files of the lake that are older than TIME")
    watch.add_argument("--state", metavar="DIR", help="directory of data that must survive a restart (default: $STATE_DIRECTORY or ~/.local/state/profbpf-fleet)")
    watch.add_argument("--metrics", metavar="FILE", help="write metrics for the textfile collector of Prometheus' node exporter")
    watch.add_argument("--webhook", type=web_address, metavar="URL", help="POST each finding there as JSON")
    watch.add_argument("--memory", metavar="SIZE", default="800MB", help="memory that DuckDB may use before it writes to disk (default: 800MB)")
    watch.add_argument("--once", action="store_true", help="judge the present data, and exit")
    watch.set_defaults(run=watch_job)


def arguments(args):
    parser = argparse.ArgumentParser(prog="profbpf-fleet", description="Report which rank or host holds a distributed job back, in which steps, by how much, and why.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add_report(commands)
    add_watch(commands)
    add_publish(commands)
    options = parser.parse_args(args)
    check(parser, options)
    return options


def check(parser, options):
    if getattr(options, "nats", None) and "@" in options.nats:
        parser.error("user and password must not be on the command line, which all users can read: use --credentials FILE")
    if getattr(options, "tls_key", None) and not options.tls_cert:
        parser.error("--tls-key needs --tls-cert")
    if options.command == "publish" and not (options.dir or options.nats or options.metrics):
        parser.error("no destination is given: use --dir DIR, --nats URL or --metrics FILE")
    if options.command == "watch" and options.window < 12:
        parser.error("--window must be at least 12 steps: fewer are not enough for a judgement")
    if options.command != "report":
        return
    if options.master and options.engine != "spark":
        parser.error("--master is for --engine spark only")
    if options.from_step is not None and options.to_step is not None and options.from_step > options.to_step:
        parser.error("--from-step is after --to-step")


def open_engine(options):
    if options.engine == "spark":
        return engines.Spark(options.lake, options.master or "local[*]")
    if not os.path.isdir(options.lake):
        raise engines.Problem(f"{options.lake}: no such directory")
    return engines.DuckDB(options.lake, options.memory)


def render(options, result):
    if options.format == "html":
        return page_of(result)
    if options.format == "json":
        return json.dumps(result, indent=1) + "\n"
    return text_of(result)


def report_lake(options):
    engine = open_engine(options)
    try:
        result = answer(engine, options.from_step, options.to_step, with_map=options.format == "html")
    finally:
        engine.close()
    text = render(options, result)
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        sys.stdout.write(text)
    return 0


def publish_host(options):
    from profbpf_fleet import publish
    from profbpf_fleet.spool import Spool
    if options.nats:
        from profbpf_fleet import jetstream
        destination = jetstream.NatsDestination(options)
    else:
        destination = directory.DirectoryDestination(options.dir) if options.dir else directory.Nowhere()
    spool = Spool(options.spool, options.spool_limit)
    try:
        recorder = publish.Recorder(round(options.last or 3 * options.interval), options.profctl, options.analyzer)
        return 0 if publish.publish(spool, destination, recorder, options.interval, options.rounds, options.metrics) else 1
    finally:
        destination.close()
        spool.close()


def watch_job(options):
    from profbpf_fleet import alerts, watch
    folder = watch.state_folder(options.state)
    state = watch.State(folder, options.nats or os.path.abspath(options.dir))
    if options.nats:
        from profbpf_fleet import jetstream
        if state.is_new:
            # The old lake came from another broker, so from another job. The state is written before any message
            # arrives.
            shutil.rmtree(folder / "lake", ignore_errors=True)
            shutil.rmtree(folder / "lake.parts", ignore_errors=True)
            state.write()
        source = jetstream.NatsSource(options, folder / "lake", state, watch.say)
    else:
        source = directory.DirectorySource(options.dir, state, options.keep)
    outputs = [alerts.printer(options.format)] + ([alerts.Webhook(options.webhook, state, watch.say)] if options.webhook else [])
    watch.Watch(source, state, options, outputs).run()
    return 0


def main(args=None):
    """Returns 0, or 1 after it has printed the error on standard error; exits with 2 on wrong usage."""
    options = arguments(args)
    try:
        return options.run(options)
    except (engines.Problem, OSError) as error:
        print(f"profbpf-fleet: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
