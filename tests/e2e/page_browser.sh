#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The report's page in a real browser: its first screen, figures, charts and console messages.
# beside others: it makes its files itself, and no time counts
. "$(dirname "$0")/lib.sh"
need_command jq
need_command node
need_command chromium

[ -s "$BUILD/gen/page_library.txt" ] || skip "built without ECharts: ./setup fetches it"

# look NAME INPUT...: checks the page in the browser and notes its size.
look() {
	local name=$1
	shift
	mkdir -p "$WORK/$name"
	"$ANALYZER" report "$@" --format json >"$WORK/report.json" 2>/dev/null
	"$ANALYZER" report "$@" --format html >"$WORK/report.html" 2>/dev/null
	node "$ROOT/tests/tools/page_browser.mjs" "$WORK/report.html" "$WORK/report.json" "$WORK/$name" >"$WORK/looked" 2>&1 ||
		fail "the page of $name: $(cut -c 1-300 "$WORK/looked")"
	note "$name: $(tail -n 1 "$WORK/looked"), $(stat -c %s "$WORK/report.html") bytes"
}

look every tests/data/traces/every.pbt
sed -i 's|\(id="library">\)[^<]*<|\1<|' "$WORK/report.html"
node "$ROOT/tests/tools/page_browser.mjs" "$WORK/report.html" "$WORK/report.json" >"$WORK/looked" 2>&1 ||
	fail "the page of a build without ECharts: $(cut -c 1-300 "$WORK/looked")"
note "without ECharts: $(tail -n 1 "$WORK/looked")"
look sleeps tests/data/traces/sleeps.pbt
look pytorch --device tests/data/devices/pytorch
look cluster --device tests/data/devices/mindspore-cluster
python3 "$ROOT/tests/tools/make_kineto_ranks.py" "$WORK/ranks" 10 4 3 8
look ranks --device "$WORK/ranks"
look memory --device tests/data/devices/mindspore-memory

note "-- a comparison"
mkdir -p "$WORK/diff"
for format in json html; do
	"$ANALYZER" diff tests/data/traces/faults.pbt tests/data/traces/launched-2.pbt --format $format >"$WORK/diff.$format"
done
node "$ROOT/tests/tools/diff_browser.mjs" "$WORK/diff.html" "$WORK/diff.json" "$WORK/diff" >"$WORK/looked" 2>&1 ||
	fail "the page of a comparison: $(cut -c 1-300 "$WORK/looked")"
note "diff: $(tail -n 1 "$WORK/looked"), $(stat -c %s "$WORK/diff.html") bytes"
