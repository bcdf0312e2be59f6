#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `catalog match` predicts for functions with known instructions: place of the probe, cost, or why there is none.
# beside others: stand-ins and folders are its own, and no time counts
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq gcc
[ "$(uname -m)" = x86_64 ] || skip "knows the instructions of x86-64 only"

gcc -shared -nostdlib -Wl,--build-id=0x0123456789abcdef -o "$WORK/prologues.so" "$ROOT/tests/truth/binary/prologues.S"
gcc -O2 -fPIC -shared -Wl,--version-script="$ROOT/tests/truth/binary/symbols.map" -o "$WORK/symbols.so" \
	"$ROOT/tests/truth/binary/versioned.c"
match() { "$PROFCTL" catalog match --catalog "$ROOT/tests/catalog" "$@"; }

# Before a daemon runs, and without privilege: the kernel's features are queried all the same.
assert_status "of files, as JSON" 0 match --format json "$WORK/prologues.so" "$WORK/symbols.so"
cp "$WORK/out" "$WORK/match.json"
m=$WORK/match.json
assert_eq "schema" profbpf.match/1 "$(json "$m" .schema)"
assert_eq "the files" "prologues.so symbols.so" "$(jq -r '[.files[].path | split("/") | last] | join(" ")' "$m")"
assert_eq "the build id" 0123456789abcdef "$(json "$m" '.files[0].build_id')"

# of FUNCTION FIELD
of() { json "$m" "[.files[].functions[] | select(.function == \"$1\") | $2] | first"; }
delta='(.instruction_offset - .offset)'
if [ "$(json "$m" '.kernel.optimized_nop | tostring')" = true ]; then
	assert_eq "a 5-byte nop" "nop5 0" "$(of binary_nop5 "\"\\(.instruction) \\($delta)\"")"
	assert_between "its price, less than that of an emulated one" 1 "$(($(of binary_push .expected_ns) - 1))" \
		"$(of binary_nop5 .expected_ns)"
fi
assert_eq "a push" "emulated 0" "$(of binary_push "\"\\(.instruction) \\($delta)\"")"
assert_eq "a push after endbr64" "emulated 4" "$(of binary_endbr "\"\\(.instruction) \\($delta)\"")"
assert_eq "an argument is changed first" "stepped 0" "$(of binary_argument "\"\\(.instruction) \\($delta)\"")"
assert_eq "why" "nothing cheaper within reach" "$(of binary_argument .reason)"
assert_eq "a loop begins there" "stepped 0" "$(of binary_loop "\"\\(.instruction) \\($delta)\"")"
assert_eq "why" "it may jump to the cheaper instruction" "$(of binary_loop .reason)"
assert_eq "without a size" "stepped 0" "$(of binary_sizeless "\"\\(.instruction) \\($delta)\"")"
assert_eq "why" "of unknown size, or too large" "$(of binary_sizeless .reason)"
# The return is single-stepped, too, and costs the same again.
assert_between "the price of a stepped entry, more than that of a push" 2 1000000 \
	"$(($(of binary_loop .expected_ns) - $(of binary_push .expected_ns)))"
assert_eq "where its calls end" "exits" "$(of binary_push .ends_by)"
assert_eq "why" "no catalog vouches that it is plain" "$(of binary_push .ends_by_reason)"
# Addresses are those of the linker.
address=$(nm -D "$WORK/prologues.so" | sed -n 's/^0*\([0-9a-f]*\) T binary_push$/\1/p')
segment=$(readelf -lW "$WORK/prologues.so" | awk '$1 == "LOAD" && /R E/ { print $2, $3 }')
assert_eq "the offset in the file" $((0x$address - ${segment#* } + ${segment% *})) "$(of binary_push .offset)"
assert_eq "an IFUNC" "binary_chosen: chosen when the library is loaded (IFUNC)" \
	"$(json "$m" '.files[1].not_probed[0] | "\(.function): \(.reason)"')"
assert_eq "two versions, one alias" "binary_alias binary_version binary_version" \
	"$(jq -r '[.files[1].functions[].function] | sort | join(" ")' "$m")"
assert_eq "totals" "2 1 9" "$(jq -r '.totals | "\(.files) \(.not_probed) \(.nop5 + .emulated + .stepped)"' "$m")"

# A process, as text, by an ordinary user, who may not inspect processes of other users.
start_truth binaries "open:$WORK/prologues.so:binary_push:50"

assert_status "of a process" 0 match --pid "$TRUTH_PID"
assert_contains "the file" "$WORK/out" "^$WORK/prologues.so$"
assert_contains "a function" "$WORK/out" '^binary_endbr +binary +other +1 +0x[0-9a-f]+ +emulated at \+4 +[0-9]+'
assert_contains "the sum" "$WORK/out" '^[0-9]+ functions in [0-9]+ files?: [0-9]+ nop5, [0-9]+ emulated, [0-9]+ stepped'
assert_contains "no session has measured it" "$WORK/out" 'as measured on a virtual machine'
cp -r "$ROOT/tests/catalog" "$WORK/catalogs"
as_nobody "$PROFBPFD" --version >/dev/null
export PROFBPF_CATALOG_DIR=$WORK/catalogs
assert_status "by an ordinary user" 0 as_nobody "$PROFCTL" catalog match "$WORK/prologues.so"
assert_contains "by an ordinary user" "$WORK/out" '^binary_push '
assert_status "of another's process" 1 as_nobody "$PROFCTL" catalog match --pid "$TRUTH_PID"
assert_contains "of another's process" "$WORK/err" 'cannot read the mapped files of process .*only root and the owner of the process may'
unset PROFBPF_CATALOG_DIR

# A session measures the cost of a call here.
truth_end
start_daemon
rm "$WORK/binaries.in"
start_truth binaries "open:$WORK/prologues.so:binary_endbr:50"
attach_truth "$WORK/calls.pbt"
truth_go
stop_attach
assert_status "after a session" 0 match --pid "$TRUTH_PID"
assert_contains "after a session" "$WORK/out" 'as the last session measured on this machine'
report_json "$WORK/calls.pbt" "$WORK/calls.json"
assert_eq "calls through a probe that is not at the entry" 50 "$(api_count "$WORK/calls.json" binary_endbr)"
truth_end

# Which functions are "plain", and why: each reason once.
mkdir "$WORK/plain"
{
	echo 'runtime vouched'
	echo 'vouch asm assembly that returns'
	echo 'binary_push other 1 plain=asm'
	echo 'binary_loop other 1 plain=asm'
	echo 'binary_endbr other 1'
} >"$WORK/plain/vouched.catalog"
assert_status "check" 0 "$PROFCTL" catalog check "$WORK/plain/vouched.catalog"
assert_contains "how many are plain" "$WORK/out" '^  2 plain by asm: assembly that returns$'
assert_status "plain functions" 0 match --catalog "$WORK/plain" "$WORK/prologues.so"
assert_contains "the name of the reason" "$WORK/out" '^binary_push +vouched +other +1 +0x[0-9a-f]+ +emulated +[0-9]+ +return probe +asm'
assert_eq "the reason" "plain by asm of vouched: assembly that returns" "$(grep '^plain by' "$WORK/out")"
assert_status "plain functions, as JSON" 0 match --catalog "$WORK/plain" --format json "$WORK/prologues.so"
assert_eq "the reason, as JSON" "binary_loop asm assembly that returns binary_push asm assembly that returns" \
	"$(jq -r '[.files[].functions[] | select(.plain) | "\(.function) \(.plain_name) \(.plain)"] | sort | join(" ")' "$WORK/out")"

# Unreadable files are reported.
head -c 40 "$WORK/prologues.so" >"$WORK/cut.so"
assert_status "a file cut short" 1 match "$WORK/cut.so" "$WORK/prologues.so"
assert_contains "a file cut short" "$WORK/err" "$WORK/cut.so: "
assert_contains "the other file" "$WORK/out" '^binary_push '
assert_status "no such file" 1 match "$WORK/none.so"
assert_contains "no such file" "$WORK/err" "$WORK/none.so: cannot open: No such file"
assert_status "no ELF file" 1 match --format json "$0"
assert_contains "no ELF file" "$WORK/err" 'not an ELF file'
assert_eq "its error, as JSON" true "$(jq '.files[0].error | contains("not an ELF file")' "$WORK/out")"
assert_status "--format is for match" 2 "$PROFCTL" catalog list --format json
stop_daemon
