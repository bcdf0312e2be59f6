#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make dist: the same bytes twice, from the committed sources, with ECharts and its licences; pages are built of it.
. "$(dirname "$0")/lib.sh"
need_command git
cd "$ROOT"
git rev-parse --verify -q HEAD >/dev/null || skip "not a git checkout"
[ -s third_party/echarts/echarts.min.js ] || skip "ECharts was not fetched: ./setup fetches it"

# archive FOLDER: of a clone there, made under other permissions, and its hash
archive() {
	git clone -q --no-local . "$1"
	cp -r third_party "$1/"
	(umask "$2" && chmod -R "$3" "$1/third_party" && make -s -C "$1" dist MAKEFLAGS= >/dev/null 2>"$WORK/dist.err") || fail "make dist: $(cat "$WORK/dist.err")"
	sha256sum <"$(ls "$1"/build/profbpf-*.tar.gz)"
}
first=$(archive "$WORK/a" 022 u=rwX,go=rX)
second=$(archive "$WORK/b" 077 u=rwX,go=)
assert_eq "the same bytes" "$first" "$second"
tar tzf "$(ls "$WORK"/b/build/profbpf-*.tar.gz)" >"$WORK/names"
for file in LICENSE NOTICE LICENSE-d3 echarts.min.js; do
	assert_contains "the library in it" "$WORK/names" "^profbpf-[0-9.]*/third_party/echarts/$file\$"
done
assert_contains "the sources" "$WORK/names" '^profbpf-[0-9.]*/analyzer/cli/main.c$'
assert_eq "names" "$(sort -u "$WORK/names" | wc -l)" "$(wc -l <"$WORK/names")"
