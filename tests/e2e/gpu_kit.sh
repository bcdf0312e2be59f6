#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The kit for a machine with a GPU needs only a C library, its comparisons find errors, and all of it runs with test
# doubles.
# timeout: 600
. "$(dirname "$0")/lib.sh"
need_root
need_command python3
KIT=$BUILD/gpu-kit
[ -e "$KIT/complete" ] || skip "needs $KIT (x86-64; make cuda-headers, or CUDA_INCLUDE, before make)"

# ---- Comparisons

python3 -B tests/gpu/test_compare.py "$KIT/bin/analyzer" 2>"$WORK/compare.log" || fail "comparisons: $(cat "$WORK/compare.log")"
note "comparisons: $(grep '^Ran' "$WORK/compare.log")"

# ---- Programs, in a root with only the C library

ROOT_OF=$WORK/root
mkdir -p "$ROOT_OF/kit" "$ROOT_OF/lib64" "$ROOT_OF/lib"
cp -r "$KIT/bin" "$KIT/lib" "$ROOT_OF/kit/"
for library in ld-linux-x86-64.so.2 libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1; do
	for folder in /lib64 /lib/x86_64-linux-gnu /usr/lib64; do
		[ ! -e "$folder/$library" ] || { cp -L "$folder/$library" "$ROOT_OF/lib64/" && break; }
	done
done
for program in profbpfd profctl analyzer; do
	chroot "$ROOT_OF" /lib64/ld-linux-x86-64.so.2 --library-path /lib64 "/kit/bin/$program" --version >"$WORK/version" 2>&1 ||
		fail "$program beside a C library: $(cat "$WORK/version")"
	assert_contains "$program" "$WORK/version" '[0-9]+\.[0-9]+\.[0-9]+'
done
assert_between "size, KiB" 1000 $((55 * 1024)) "$(du -sk "$KIT" | cut -f 1)"
newest=$(objdump -T "$KIT"/bin/* "$KIT"/lib/* "$KIT/libprofbpf-cupti.so" 2>/dev/null | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
note "the newest C library that it asks for: $newest"

# ---- Without a GPU

if ! command -v nvidia-smi >/dev/null; then
	status=0
	tests/gpu/run --kit "$KIT" --out "$WORK/none" >"$WORK/none.log" 2>&1 || status=$?
	assert_eq "status without a GPU" 77 "$status"
	assert_contains "what is missing" "$WORK/none.log" '^missing: nvidia-smi'
	[ ! -e "$WORK/none" ] || fail "results where nothing was run"
fi

# ---- A dry run

export STUBS=$BUILD/tests/gpu
tests/gpu/run --dry-run --kit "$KIT" --out "$WORK/dry" >"$WORK/dry.log" 2>&1 ||
	fail "the dry run: $(grep -E '^fail|^  .*status' "$WORK/dry.log" | head -n 10)
$(tail -n 20 "$WORK/dry.log")"
assert_contains "summary" "$WORK/dry/summary.txt" '^DRY RUN, NO GPU'
assert_between "lines of the summary" 10 66 "$(wc -l <"$WORK/dry/summary.txt")"
[ "$(awk -F'\t' '$1 == "cuda" && $2 == "pass"' "$WORK/dry/results.tsv" | wc -l)" -ge 70 ] || fail "few checks were made:
$(cat "$WORK/dry/results.tsv")"
tar -tzf "$WORK/dry.tar.gz" >"$WORK/packed"
for file in summary.txt results.tsv environment/status.txt cuda/counts.pbt cuda/counts.json attach/first.pbt plants/verdicts.txt; do
	assert_contains "in the archive" "$WORK/packed" "^$file\$"
done

# A part that hangs is killed and reported, and the other parts run.
cp -r tests/gpu "$WORK/kit"
printf '#!/bin/bash\nsleep 600\n' >"$WORK/kit/parts/attach.sh"
status=0
"$WORK/kit/run" --dry-run --kit "$KIT" --out "$WORK/hangs" --seconds 23 attach cost >"$WORK/hangs.log" 2>&1 || status=$?
assert_eq "status with a part that hangs" 1 "$status"
assert_contains "the part that hangs" "$WORK/hangs/results.tsv" '^attach.fail.the part as a whole.took longer'
assert_contains "the next part" "$WORK/hangs/results.tsv" '^cost.(skip.the part as a whole.no time|note)'
