#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The Python package: its wheel, its tables compared with the report, and its example as run by a notebook.
# beside others: it reads a stored trace, and no time counts
. "$(dirname "$0")/lib.sh"
need_command jq

"$ROOT/tests/tools/make-venv" notebook >"$WORK/install" 2>&1 ||
	skip "pandas and nbclient cannot be installed: $(tail -n 1 "$WORK/install")"
VENV=$ROOT/build/venv-notebook/bin
TRACE=$ROOT/tests/data/traces/launched.pbt

make -s -C "$ROOT" wheel B="$WORK/build" PYTHON="$VENV/python" WHEEL_FLAGS=--no-build-isolation >"$WORK/wheel" 2>&1 ||
	fail "no wheel: $(tail -n 3 "$WORK/wheel")"
"$VENV/python" -m venv --system-site-packages "$WORK/venv"
"$WORK/venv/bin/python" -m pip install -q --no-deps --no-index "$WORK"/build/wheel/profbpf-*.whl
export PROFBPF_ANALYZER=$ANALYZER PROFBPF_TRACE=$TRACE
# The packages of the virtual environment from which the new one was made.
PYTHONPATH=$("$VENV/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
export PYTHONPATH
"$ANALYZER" report "$TRACE" --format json --top 0 >"$WORK/report.json"
"$WORK/venv/bin/python" "$ROOT/tests/tools/check_package.py" "$TRACE" "$WORK/report.json" ||
	fail "the package says something else than the report"

note "-- the example, executed"
"$WORK/venv/bin/python" - "$ROOT/python/examples/idle.ipynb" "$WORK/done.ipynb" <<-'P' >"$WORK/log" 2>&1 || fail "the notebook fails: $(tail -n 5 "$WORK/log")"
	import sys

	import nbclient
	import nbformat

	notebook = nbformat.read(sys.argv[1], as_version=4)
	nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
	nbformat.write(notebook, sys.argv[2])
P
assert_eq "the verdict in it" "$(jq -r .verdict.sentence "$WORK/report.json")" \
	"$(jq -r '[.cells[] | select(.cell_type == "code")][1].outputs[0].text | if type == "array" then join("") else . end' \
		"$WORK/done.ipynb" | head -n 1)"
assert_eq "cells without output" 1 "$(jq '[.cells[] | select(.cell_type == "code" and .outputs == [])] | length' "$WORK/done.ipynb")"
