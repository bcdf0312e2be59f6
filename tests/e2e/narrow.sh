#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A 32-bit program and its file are refused with a clear message; everything that can be traced of it is traced.
# beside others: it compares files, and no time counts
. "$(dirname "$0")/lib.sh"
need_root
need_command as ld jq
[ "$(uname -m)" = x86_64 ] || skip "32-bit programs of x86 only"

as --32 -o "$WORK/narrow.o" "$ROOT/tests/truth/narrow.S"
ld -m elf_i386 -o "$WORK/narrow" "$WORK/narrow.o"
mkfifo "$WORK/in"
"$WORK/narrow" <"$WORK/in" >"$WORK/out.narrow" 2>/dev/null &
pid=$!
exec {input}>"$WORK/in"
wait_until 10 test -s "$WORK/out.narrow" || skip "this kernel runs no 32-bit programs (CONFIG_IA32_EMULATION)"

options=(--catalog "$ROOT/tests/catalog" -o "$WORK/narrow.pbt" --duration 200ms)
assert_status "its calls alone" 1 "$PROFCTL" attach --pid "$pid" "${options[@]}" --topics api
assert_contains "its calls alone" "$WORK/err" "process $pid \(narrow\) is a 32-bit program, whose API calls cannot be traced"
[ ! -e "$WORK/narrow.pbt" ] || fail "a refused session left a file behind"
assert_status "everything of it" 0 "$PROFCTL" attach --pid "$pid" "${options[@]}"
assert_contains "everything of it" "$WORK/err" "process $pid \(narrow\) is a 32-bit program: its API calls are not traced"
report_json "$WORK/narrow.pbt" "$WORK/narrow.json"
assert_eq "functions of it that are traced" 0 "$(jq '.api | length' "$WORK/narrow.json")"
assert_status "its file" 1 "$PROFCTL" catalog match --catalog "$ROOT/tests/catalog" "$WORK/narrow"
assert_contains "its file" "$WORK/err" "$WORK/narrow: a 32-bit ELF file; only 64-bit programs can be traced"
assert_status "its mappings" 0 "$PROFCTL" catalog match --catalog "$ROOT/tests/catalog" --pid "$pid"
echo >&"$input"
wait_for_end "$pid" 10 || fail "the program ended with status $?"
