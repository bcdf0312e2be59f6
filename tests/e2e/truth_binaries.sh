#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Libraries in unusual places and files with unusual symbols: every call is counted, once.
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq gcc strip unshare

# library NAME FUNCTION: builds a library without a build id, so that only the file itself identifies it
library() {
	gcc -O2 -g -fPIC -shared -Wl,--build-id=none -DFUNCTION="$2" -o "$WORK/$1.so" "$ROOT/tests/truth/binary/library.c"
}

for name in plain linked again memory deleted replaced stripped inner; do
	library $name "binary_$name"
done
ln -s plain.so "$WORK/other_path.so"
ln "$WORK/linked.so" "$WORK/hard_link.so"
strip --strip-all "$WORK/stripped.so"
if nm "$WORK/stripped.so" 2>&1 | grep -q binary_; then fail "stripped.so has a .symtab"; fi
gcc -O2 -g -fPIC -shared -Wl,--version-script="$ROOT/tests/truth/binary/symbols.map" \
	-o "$WORK/symbols.so" "$ROOT/tests/truth/binary/versioned.c"
gcc -O2 -g -fPIC -shared -o "$WORK/picked.so" "$ROOT/tests/truth/binary/picked.c"
gcc -O2 -g -fPIC -shared -DIMPORTER -Wl,-z,now -Wl,-rpath,"$WORK" -o "$WORK/importer.so" \
	"$ROOT/tests/truth/binary/picked.c" "$WORK/picked.so"
gcc -O2 -g -static -D_GNU_SOURCE -I"$ROOT" -DFUNCTION=binary_static -o "$WORK/static" \
	"$ROOT/tests/truth/binary/static.c" "$ROOT/tests/truth/binary/library.c"

# A program that sees a library at a path where no other process sees it.
mkdir "$WORK/hidden"
cat >"$WORK/inside" <<END
mount -t tmpfs none "$WORK/hidden"
cp "$WORK/inner.so" "$WORK/hidden/inner.so"
exec "$TRUTH/binaries" "open:$WORK/hidden/inner.so:binary_inner:57"
END

pids=() inputs=()
# start NAME COMMAND...
start() {
	local name=$1 fd
	shift
	mkfifo "$WORK/$name.in"
	"$@" <"$WORK/$name.in" >"$WORK/$name.out" &
	pids+=($!)
	exec {fd}>"$WORK/$name.in"
	inputs+=("$fd")
	wait_for_line "$WORK/$name.out" '^ready' 20
}

start mappings "$TRUTH/binaries" "open:$WORK/plain.so:binary_plain:11" "again:$WORK/other_path.so:binary_plain:7" \
	"open:$WORK/linked.so:binary_linked:20" "again:$WORK/hard_link.so:binary_linked:3" \
	"open:$WORK/again.so:binary_again:31" "again:$WORK/again.so:binary_again:10" "again:$WORK/again.so:binary_again:1" \
	"memory:$WORK/memory.so:binary_memory:43" "deleted:$WORK/deleted.so:binary_deleted:47" \
	"replaced:$WORK/replaced.so:binary_replaced:49" "open:$WORK/stripped.so:binary_stripped:53" \
	"open:$WORK/symbols.so:binary_version@V1:5" "open:$WORK/symbols.so:binary_version@V2:6" \
	"open:$WORK/symbols.so:binary_a_name:8" "open:$WORK/symbols.so:binary_alias:9" \
	"open:$WORK/symbols.so:binary_chosen:100" "open:$WORK/importer.so:call_picked:21"
start hidden unshare --mount bash -e "$WORK/inside"
[ ! -e "$WORK/hidden/inner.so" ] || fail "the hidden library can be seen from outside"
start static "$WORK/static" 61

"$PROFCTL" catalog match --catalog "$ROOT/tests/catalog" --pid "${pids[0]}" >"$WORK/match" 2>/dev/null
attach_in_background "$(IFS=, && echo "${pids[*]}")" "$WORK/binaries.pbt" --catalog "$ROOT/tests/catalog"
for i in "${!pids[@]}"; do echo >&"${inputs[i]}"; done
for name in mappings hidden static; do wait_for_line "$WORK/$name.out" '^done' 30; done
stop_attach
for i in "${!pids[@]}"; do
	echo >&"${inputs[i]}"
	wait_for_end "${pids[i]}" 10 || fail "process ${pids[i]} failed"
done

report_json "$WORK/binaries.pbt" "$WORK/binaries.json"
r=$WORK/binaries.json
assert_loss_accounted "$r"
assert_complete "$r"
assert_eq "one file, two paths, two mappings" 18 "$(api_count "$r" binary_plain)"
assert_eq "one file, a hard link" 23 "$(api_count "$r" binary_linked)"
assert_eq "one file, three copies in the process" 42 "$(api_count "$r" binary_again)"
assert_eq "a memory file" 43 "$(api_count "$r" binary_memory)"
assert_eq "a deleted file" 47 "$(api_count "$r" binary_deleted)"
assert_eq "a replaced file" 49 "$(api_count "$r" binary_replaced)"
assert_eq "a stripped file" 53 "$(api_count "$r" binary_stripped)"
assert_eq "a library of another mount namespace" 57 "$(api_count "$r" binary_inner)"
assert_eq "a static program" 61 "$(api_count "$r" binary_static)"
assert_eq "two versions of one name" 11 "$(api_count "$r" binary_version)"
assert_eq "two names of one function, by the exact one" 17 "$(api_count "$r" binary_alias)"
assert_eq "the other name" 0 "$(api_count "$r" binary_a_name)"
assert_eq "an IFUNC that a library imports" 21 "$(api_count "$r" binary_picked)"
assert_contains "what it stands for can be looked up" "$WORK/match" '^binary_picked +binary +other +1 +0x'
assert_eq "an IFUNC that nobody imports is not counted" 0 "$(api_count "$r" binary_chosen)"
assert_contains "and it is said" "$WORK/profctl.err" "symbols.so: .*binary_chosen.*IFUNC"
