#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs in other languages with a linked runtime: Go through cgo, and Rust. Every call is counted,
# and the program behaves as without tracing.
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq gcc
export PATH="$PATH:/usr/local/go/bin:${CARGO_HOME:-${HOME:-/root}/.cargo}/bin"

missing=()
# run_traced NAME PROGRAM ARG...: leaves $WORK/NAME.json
run_traced() {
	local name=$1
	shift
	mkfifo "$WORK/$name.in"
	"$@" <"$WORK/$name.in" >"$WORK/$name.out" 2>"$WORK/$name.err" &
	local pid=$!
	exec {input}>"$WORK/$name.in"
	wait_for_line "$WORK/$name.out" '^ready' 20
	attach_in_background "$pid" "$WORK/$name.pbt" --catalog "$ROOT/tests/catalog"
	echo >&"$input"
	wait_for_line "$WORK/$name.out" '^done' 30
	stop_attach
	echo >&"$input"
	wait_for_end "$pid" 10 || fail "$name failed: $(cat "$WORK/$name.err")"
	exec {input}>&-
	report_json "$WORK/$name.pbt" "$WORK/$name.json"
	assert_loss_accounted "$WORK/$name.json"
	assert_eq "capture of $name is complete" true "$(jq .capture.complete "$WORK/$name.json")"
}

# trace_go NAME LDFLAGS
trace_go() {
	(cd "$ROOT/tests/truth/languages/cgo" &&
		HOME=$WORK GOCACHE=$BUILD/go-cache GOFLAGS=-mod=mod GO111MODULE=off CGO_ENABLED=1 \
			go build -ldflags "$2" -o "$WORK/$1" main.go)
	run_traced "$1.run" "$WORK/$1" 8 250
	assert_eq "C functions called by $1" 2000 "$(api_count "$WORK/$1.run.json" binary_cgo)"
	assert_eq "functions of Go itself in $1" 0 "$(api_count "$WORK/$1.run.json" main.binary_work)"
	assert_contains "and it is said" "$WORK/profctl.err" "$1: main.binary_work is not probed: it is compiled by Go"
}

if command -v go >/dev/null; then
	trace_go go_dynamic ''
	trace_go go_static '-linkmode external -extldflags -static'
else
	missing+=(Go)
fi
if command -v rustc >/dev/null; then
	rustc -O -o "$WORK/rust" "$ROOT/tests/truth/languages/rust/main.rs"
	run_traced rust.run "$WORK/rust" 700 40
	assert_eq "functions with C's names" 1400 "$(api_count "$WORK/rust.run.json" binary_rust)"
	assert_eq "functions with mangled names" 80 \
		"$(jq '[.api[] | select(.function | test("binary_mangled")) | .count] | add // 0' "$WORK/rust.run.json")"
else
	missing+=(Rust)
fi
[ ${#missing[@]} -lt 2 ] || skip "needs the compiler of Go or of Rust"
[ ${#missing[@]} -eq 0 ] || leave_out "there is no compiler of ${missing[*]} (./setup check installs it)"
