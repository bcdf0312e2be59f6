#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stacks of code that runs as soon as it is mapped, as constructors of libraries do, soon reach the program's start: a walk
# that ends in it makes the daemon read its tables.
# beside others: the process that is looked at waits as the daemon does
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"

need_root
need_command jq
need_command g++

g++ -O2 -fomit-frame-pointer -g -o "$WORK/loading" "$ROOT/tests/truth/languages/cpp/loading.cc" -ldl
libraries=()
for i in {1..50}; do
	libraries+=("$WORK/libloaded$i.so")
	[ "$i" = 1 ] || cp "${libraries[0]}" "$WORK/libloaded$i.so"
	[ "$i" != 1 ] || g++ -O2 -fomit-frame-pointer -g -fPIC -shared -DLIBRARY -Wl,--build-id=none \
		-o "${libraries[0]}" "$ROOT/tests/truth/languages/cpp/loading.cc"
done

if ! "$PROFCTL" status --format json | jq -e '.features[] | select(.name == "unwind tables") | .available' >/dev/null; then
	skip "this kernel cannot walk stacks by tables"
fi

# below PATTERN: the number of samples whose stack, outermost frame first, matches
below() {
	awk -v pattern="$1" '$0 ~ pattern { n += $NF } END { print n + 0 }' "$WORK/loading.folded"
}

TRUTH=$WORK start_truth loading "${libraries[@]}"
attach_truth "$WORK/loading.pbt" --stack-rate 250 --topics api,sched,stack
truth_go 60
stop_attach
truth_end
report_json "$WORK/loading.pbt" "$WORK/loading.json"
assert_loss_accounted "$WORK/loading.json"
"$ANALYZER" export "$WORK/loading.pbt" --to folded -o "$WORK/loading.folded"

# 50 libraries of 40 ms at 250 a second: 500.
all=$(below ';spin')
assert_between "samples in constructors" 250 2000 "$all"
assert_between "of these, to the program's start" $((all * 80 / 100)) "$all" \
	"$(below '^loading;_start;([^;]*;)*main;([^;]*;)*work;loaded_chain;loaded_chain;loaded_chain;spin')"
