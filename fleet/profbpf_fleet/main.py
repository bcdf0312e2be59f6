# SPDX-License-Identifier: Apache-2.0
"""main.py - the command line of profbpf-fleet."""

import argparse
import json
import os
import sys

from profbpf_fleet import engines
from profbpf_fleet.judge import answer
from profbpf_fleet.page import page_of
from profbpf_fleet.text import text_of


def step(text):
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("a step is not negative")
    return number


def arguments(args):
    parser = argparse.ArgumentParser(prog="profbpf-fleet", description="Say who holds a distributed job back, in which steps, by how much, and why.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    report = commands.add_parser("report", help="judge a lake", description="Judge a lake: a directory that analyzer lake wrote.")
    report.add_argument("lake", metavar="LAKE", help="the directory")
    report.add_argument("--format", choices=["text", "json", "html"], default="text", help="text (default), JSON, or a page with a map of ranks and steps")
    report.add_argument("-o", "--output", metavar="FILE", help="write there instead of to standard output")
    report.add_argument("--from-step", type=step, metavar="N", help="only steps from N")
    report.add_argument("--to-step", type=step, metavar="M", help="only steps to M, which is included")
    report.add_argument("--engine", choices=["duckdb", "spark"], default="duckdb", help="what runs the SQL (default: duckdb, in this process)")
    report.add_argument("--master", metavar="URL", help="of Spark: spark://HOST:PORT (default: local[*])")
    report.add_argument("--memory", metavar="SIZE", default="800MB", help="what DuckDB may use before it writes to disk (default: 800MB)")
    options = parser.parse_args(args)
    if options.master and options.engine != "spark":
        parser.error("--master is for --engine spark")
    if options.from_step is not None and options.to_step is not None and options.from_step > options.to_step:
        parser.error("--from-step is after --to-step")
    return options


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


def report(options):
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


def main(args=None):
    """Exits with 0, 1 (told why on standard error) or 2 (wrong usage)."""
    options = arguments(args)
    try:
        report(options)
    except (engines.Problem, OSError) as error:
        print(f"profbpf-fleet: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
