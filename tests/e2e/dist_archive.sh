#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make dist packs the committed sources with ECharts and its licences: the same bytes from different folders, users,
# umasks and times of day; pages can be built from it.
# beside others: stand-ins and folders are its own, and no time counts
. "$(dirname "$0")/lib.sh"
need_command git
cd "$ROOT"
git rev-parse --verify -q HEAD >/dev/null || skip "not a git checkout"
[ -s third_party/echarts/echarts.min.js ] || skip "ECharts was not fetched: ./setup fetches it"

# archive FOLDER UMASK MODE [COMMAND...]: prints the hash of an archive from a clone with these permissions; COMMAND
# runs make
archive() {
	local folder=$1
	git clone -q --no-local . "$folder"
	cp -r third_party "$folder/"
	chmod -R "$3" "$folder/third_party"
	[ $# -lt 4 ] || chown -R 65534:65534 "$folder"
	(umask "$2" && "${@:4}" make -s -C "$folder" dist MAKEFLAGS= >/dev/null 2>"$WORK/dist.err") || fail "make dist: $(cat "$WORK/dist.err")"
	sha256sum <"$(ls "$folder"/build/profbpf-*.tar.gz)"
}
another=()
[ "$(id -u)" -ne 0 ] || another=(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent)
first=$(archive "$WORK/a" 022 u=rwX,go=rX)
# Another folder, time, user, umask, language and time zone, and a user's own settings of git.
printf '[tar]\n\tumask = user\n' >"$WORK/gitconfig"
chmod 755 "$WORK"
mkdir -m 755 "$WORK/deeper"
second=$(TZ=Asia/Tokyo LC_ALL=C.UTF-8 GIT_CONFIG_GLOBAL=$WORK/gitconfig archive "$WORK/deeper/b" 077 u=rwX,go= "${another[@]}")
assert_eq "the same bytes" "$first" "$second"
tar tzf "$(ls "$WORK"/deeper/b/build/profbpf-*.tar.gz)" >"$WORK/names"
for file in LICENSE NOTICE LICENSE-d3 echarts.min.js; do
	assert_contains "the library in it" "$WORK/names" "^profbpf-[0-9.]*/third_party/echarts/$file\$"
done
assert_contains "the sources" "$WORK/names" '^profbpf-[0-9.]*/analyzer/cli/main.c$'
assert_eq "names" "$(sort -u "$WORK/names" | wc -l)" "$(wc -l <"$WORK/names")"

# The latest release in CHANGELOG.md is the program's version, also in Debian's form.
version=$("$ANALYZER" --version)
version=${version##* }
assert_eq "CHANGELOG.md's newest release" "$version" "$(sed -n 's/^## \[\([0-9.]*\)\] - .*/\1/p' CHANGELOG.md | head -n 1)"
packaging/changelog deb CHANGELOG.md >"$WORK/changelog"
assert_eq "Debian's changelog begins" "profbpf ($version-1) unstable; urgency=medium" "$(head -n 1 "$WORK/changelog")"
assert_eq "the archive's name" "profbpf-$version.tar.gz" "$(basename "$(ls "$WORK"/a/build/profbpf-*.tar.gz)")"
