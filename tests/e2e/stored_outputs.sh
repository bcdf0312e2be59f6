#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Reports and exports of stored traces and device files are unchanged in every format: an exchanged column,
# a heading, a unit would show. With PROFBPF_STORE_OUTPUTS=1 they are stored again, for review with git diff.
# beside others: it makes its files itself, and no time counts
. "$(dirname "$0")/lib.sh"
need_command jq sqlite3 protoc python3

OUTPUTS=tests/data/outputs
TRACES=(every faults io ioctls launched sleeps)
VERSION=$("$ANALYZER" --version)
VERSION=${VERSION##* }
export TZ=UTC LC_ALL=C.UTF-8
exports=0

# section NAME: prints standard input under a heading, without the place and time of the test.
# The version of the writer is that of the first stored outputs, so that a release changes none of them.
section() {
	printf '==== %s\n' "$1"
	sed -e "s|$WORK|WORK|g" -e "s|$ROOT/||g" -e "s/profbpf $VERSION\b/profbpf 0.1.0/g"
	printf '\n'
}

# keep_tables FOLDER: keeps an export for told_apart.py
keep_tables() {
	exports=$((exports + 1))
	cp -r "$1" "$WORK/tables.$exports"
}

# folder PATH NAME: prints the files of an export, each under its name.
folder() {
	local file
	(cd "$1" && find . -type f | sort) | while read -r file; do
		section "$2 ${file#./}" <"$1/$file"
	done
}

# exported FORMAT INPUT...: prints an export as text; only the message if there is nothing to export.
exported() {
	local format=$1 out=$WORK/export
	shift
	rm -rf "$out"
	if ! "$ANALYZER" export "$@" --to "$format" -o "$out" >"$WORK/message" 2>&1; then
		section "$format" <"$WORK/message"
		return
	fi
	[ "$format" != csv ] || keep_tables "$out"
	case $format in
		sqlite) sqlite3 "$out" .dump | section sqlite ;;
		perfetto) tests/tools/perfetto_packets.py <"$out" | protoc --decode_raw | section perfetto ;;
		chrome) jq -S -c '.[]?' "$out" | section chrome ;;
		*) if [ -d "$out" ]; then folder "$out" "$format"; else section "$format" <"$out"; fi ;;
	esac
}

# stacks KIND INPUT...: prints stacks in each format that has them.
stacks() {
	local kind=$1 out=$WORK/stacks
	shift
	if ! "$ANALYZER" export "$@" --to folded --kind "$kind" -o "$out.folded" >"$WORK/message" 2>&1; then
		section "folded $kind" <"$WORK/message"
		return
	fi
	section "folded $kind" <"$out.folded"
	"$ANALYZER" export "$@" --to speedscope --kind "$kind" -o "$out.json" 2>/dev/null
	jq -S -c . "$out.json" | section "speedscope $kind"
	"$ANALYZER" export "$@" --to pprof --kind "$kind" -o "$out.pb.gz" 2>/dev/null
	zcat "$out.pb.gz" | protoc --decode pprof.Profile proto/pprof.proto | section "pprof $kind"
	rm -f "$out".*
}

# page FILE: prints the report in a page, without its script and style, which do not depend on the input.
page() {
	sed -n 's|^<script type="text/plain" id="report">\([^<]*\)</script>$|\1|p' "$1" | base64 -d | zcat | jq -S 'del(.left_out)'
}

# outputs INPUT...: prints all outputs of the analyzer for a trace or a device file.
outputs() {
	local format kind
	"$ANALYZER" report "$@" 2>/dev/null | section overview
	"$ANALYZER" report "$@" --full >"$WORK/report" 2>"$WORK/message" || fail "no report of $*: $(cat "$WORK/message")"
	section text <"$WORK/report"
	section messages <"$WORK/message"
	"$ANALYZER" info "$@" 2>/dev/null | section info
	"$ANALYZER" report "$@" --format json --top 0 2>/dev/null >"$WORK/report.json"
	jq -S . "$WORK/report.json" | section json
	"$ANALYZER" report "$@" --format html --top 0 2>/dev/null >"$WORK/report.html"
	page "$WORK/report.html" | cmp - <(jq -S . "$WORK/report.json") || fail "the page of $* draws another report"
	for format in perfetto chrome csv sqlite mindinsight msprof; do exported "$format" "$@"; done
	for kind in on-cpu off-cpu device; do stacks "$kind" "$@"; done
}

# device NAME: prints the place of its files; databases are stored as SQL statements.
device() {
	local place=$WORK/devices/$1 sql
	mkdir -p "$WORK/devices"
	cp -r "tests/data/devices/$1" "$place"
	for sql in "$place"/*.sql; do
		[ -e "$sql" ] || continue
		sqlite3 "${sql%.sql}.db" <"$sql" || fail "cannot make ${sql%.sql}.db"
		rm "$sql"
	done
	# A single file is passed as a file, because a folder must have the names that profilers give.
	if [ "$(find "$place" -type f | wc -l)" -eq 1 ]; then find "$place" -type f; else printf '%s\n' "$place"; fi
}

# drawn FILE: prints the other parts of a page: its first screen, and the data of its charts.
drawn() {
	sed -n '/^<main /,/^<div id="sections">/p' "$1" | section 'first screen'
	sed -n 's|^<script type="text/plain" id="pictures">\([^<]*\)</script>$|\1|p' "$1" | base64 -d | zcat | jq -S -c 'to_entries[]' |
		section pictures
}

# begins FOLDER: prints the begin of each file of an export, and a checksum of the rest.
begins() {
	local file
	for file in "$1"/*; do
		{ head -n 12 "$file" && tail -n +13 "$file" | cksum; } | section "${file##*/}"
	done
}

# at_random TOP OPTION...: prints reports and tables of a random job, which show how analyses behave with equal times
# and missing values.
at_random() {
	local top=$1 option csv=()
	shift
	for option in "$@"; do csv+=("${option/#--to/--until}"); done
	"$ANALYZER" report "$@" 2>/dev/null | section overview
	"$ANALYZER" report --full "$@" 2>&1 | section text
	"$ANALYZER" report --format json --top "$top" "$@" 2>/dev/null | jq -S . | section json
	"$ANALYZER" report --format html --top "$top" "$@" 2>/dev/null >"$WORK/drawn.html"
	drawn "$WORK/drawn.html"
	rm -rf "$WORK/csv"
	"$ANALYZER" export --to csv -o "$WORK/csv" "${csv[@]}" 2>/dev/null || fail "no tables of $*"
	keep_tables "$WORK/csv"
	begins "$WORK/csv"
}

# random SEED OPTION...
random() {
	at_random 30 "$WORK/random-$1.pbt" "${@:2}"
}

# random_ranks SEED
random_ranks() {
	local file ranks=()
	tests/tools/make_random_ranks.py "$WORK/ranks" "$1" || fail "no ranks at random"
	for file in "$WORK"/ranks/*; do ranks+=(--device "$file"); done
	at_random 0 "${ranks[@]}"
	rm -r "$WORK/ranks"
}

# random_diff SEED SEED: prints the reported changes from one random job to another.
random_diff() {
	"$ANALYZER" diff "$WORK/random-$1.pbt" "$WORK/random-$2.pbt" | section text
	"$ANALYZER" diff "$WORK/random-$1.pbt" "$WORK/random-$2.pbt" --format json | jq -S . | section json
	"$ANALYZER" diff "$WORK/random-$1.pbt" "$WORK/random-$2.pbt" --format html | sed -n '/^<main /,/^<\/main>/p' | section page
}

# descriptions: prints heading and unit of each column, and the description of each figure of the JSON report.
descriptions() {
	"$ANALYZER" query --schema --format csv | section columns
	"$ANALYZER" report --schema | jq -S . | section 'JSON report'
}

changed=0
compared=0
# compare NAME COMMAND...: compares its output with the stored output.
compare() {
	local stored=$OUTPUTS/$1.txt.gz now=$WORK/now.txt
	"${@:2}" >"$now"
	compared=$((compared + 1))
	if [ -n "${PROFBPF_STORE_OUTPUTS:-}" ]; then
		if [ ! -e "$stored" ] || ! zcat "$stored" | cmp -s - "$now"; then gzip -9n <"$now" >"$stored"; fi
		return
	fi
	[ -e "$stored" ] || fail "$stored is missing; PROFBPF_STORE_OUTPUTS=1 $0 stores it"
	zcat "$stored" | diff -U1 --label "stored $1" --label "now $1" - "$now" >"$WORK/diff" && return
	head -40 "$WORK/diff"
	changed=$((changed + 1))
}

compare descriptions descriptions
for name in "${TRACES[@]}"; do compare "$name" outputs "tests/data/traces/$name.pbt"; done
for folder in tests/data/devices/*/; do
	name=$(basename "$folder")
	compare "device-$name" outputs --device "$(device "$name")"
done
for seed in 1 2 3 4; do "$BUILD/tests/tools/make_random" "$WORK/random-$seed.pbt" "$seed" || fail "no trace at random"; done
compare random-1 random 1
compare random-2 random 2 --pid 100
compare random-3 random 3 --from 100ms --to 300ms
compare random-4 random 4
for seed in 1 2 3; do compare random-ranks-$seed random_ranks "$seed"; done
compare random-diff-1-3 random_diff 1 3
compare random-diff-4-2 random_diff 4 2
"$ANALYZER" query --schema --format csv >"$WORK/schema.csv"
tests/tools/told_apart.py "$WORK/schema.csv" "$WORK"/tables.* || fail "two columns could be exchanged, and no output would tell"
assert_eq "each stored output is compared" "$(find "$OUTPUTS" -name '*.txt.gz' | wc -l)" "$compared"
[ "$changed" -eq 0 ] ||
	fail "outputs of $changed inputs changed: if that is meant, PROFBPF_STORE_OUTPUTS=1 $0 stores them, and the commit says what and why"
