#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The report in Chinese is fully translated, with columns of the right width, also without an installed locale;
# JSON, CSV and the English report are unchanged.
# beside others: it compares files, and no time counts
. "$(dirname "$0")/lib.sh"
need_command msgfmt xgettext

po=$ROOT/po/zh_CN.po
msgfmt --check-format --statistics -o /dev/null "$po" 2>"$WORK/statistics"
assert_eq "entries without a translation" "" "$(grep -E 'untranslated|fuzzy' "$WORK/statistics" || :)"

# Texts that are marked in the sources
mapfile -t sources < <(cd "$ROOT" && grep -rlE '\b(tr|N_)\(' analyzer --include='*.c')
(cd "$ROOT" && xgettext --language=C --keyword= --keyword=tr --keyword=N_ --from-code=UTF-8 -o "$WORK/marked.pot" "${sources[@]}")
msgcmp --use-untranslated "$po" "$WORK/marked.pot" >"$WORK/out" 2>&1 || fail "texts without a translation: $(cat "$WORK/out")"

# chinese COMMAND...: runs it with Chinese as the user's language
chinese() { env -u LC_ALL -u LC_MESSAGES -u LC_CTYPE -u LANGUAGE LANG=zh_CN.UTF-8 PROFBPF_UNTRANSLATED="$WORK/untranslated" "$@"; }

: >"$WORK/untranslated"
inputs=0
for trace in "$ROOT"/tests/data/traces/*.pbt; do
	chinese "$ANALYZER" report "$trace" >"$WORK/report" 2>/dev/null || fail "no report of $trace"
	cat "$WORK/report" >>"$WORK/all"
	inputs=$((inputs + 1))
done
for device in "$ROOT"/tests/data/devices/*; do
	chinese "$ANALYZER" report --device "$device" >"$WORK/report" 2>/dev/null || continue
	cat "$WORK/report" >>"$WORK/all"
	inputs=$((inputs + 1))
done
assert_between "inputs" 10 1000 $inputs
assert_eq "words of their reports without a translation" "" "$(sort -u "$WORK/untranslated")"
assert_eq "lines in which nothing is between Chinese and other letters" "" "$(python3 -c '
import re, sys
print("\n".join(line for line in open(sys.argv[1], encoding="utf-8").read().split("\n") if re.search("[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9%][\u4e00-\u9fff]", line)))' "$WORK/all")"

trace=$ROOT/tests/data/traces/every.pbt
chinese "$ANALYZER" report "$trace" >"$WORK/report"
assert_contains "the verdict" "$WORK/report" '^结论 '
assert_contains "a heading" "$WORK/report" '^作业的进程；CPU %：100 是一个 CPU（--section processes）：$'
"$ANALYZER" report "$trace" --format json >"$WORK/english"
chinese "$ANALYZER" report "$trace" --format json | cmp - "$WORK/english" || fail "JSON is translated"
chinese "$ANALYZER" report "$trace" --section verdict >"$WORK/part"
assert_contains "the verdict by itself" "$WORK/part" '^结论 '
"$ANALYZER" report "$trace" --full >"$WORK/english"
chinese "$ANALYZER" report "$trace" --full | cmp - "$WORK/english" || fail "all of the report is translated in part"
"$ANALYZER" query "$trace" 'select * from processes' --format csv >"$WORK/english"
chinese "$ANALYZER" query "$trace" 'select * from processes' --format csv | cmp - "$WORK/english" || fail "CSV is translated"
LC_ALL=C "$ANALYZER" report "$trace" >"$WORK/english"
assert_contains "the report in English" "$WORK/english" '^verdict '

# A column of figures ends where its heading ends, in terminal columns, of which a Chinese character takes two.
python3 - "$WORK/report" <<'END' || fail "columns: $(cat "$WORK/report")"
import sys, unicodedata
def columns(text): return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
lines = open(sys.argv[1], encoding="utf-8").read().split("\n")
at = next(i for i, line in enumerate(lines) if line.startswith("作业的进程"))
heading, row = lines[at + 1], lines[at + 2]
end = columns(heading[:heading.index("CPU %") + 5])
cell = ""
for c in row:
    if columns(cell) == end: break
    cell += c
assert columns(cell) == end and cell[-1].isdigit() or cell.endswith("unknown"), (heading, row, cell)
END
# Lines fit into a narrow terminal.
type -P script >/dev/null || { leave_out "needs script(1), for a terminal" && exit 0; }
chinese env COLUMNS=60 script -qec "stty cols 60; $ANALYZER report $trace" /dev/null 2>/dev/null | tr -d "\r" >"$WORK/narrow" || :
assert_contains "the verdict on a terminal" "$WORK/narrow" '结论'
python3 - "$WORK/narrow" <<'END' || fail "a line is too wide: $(cat "$WORK/narrow")"
import re, sys, unicodedata
for line in open(sys.argv[1], encoding="utf-8", errors="replace").read().split("\n"):
    line = re.sub("\x1b\\[[0-9;]*m", "", line)
    width = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)
    assert width <= 60, (width, line)
END

# Nor does a narrow terminal cut what is not in a table.
script -qec "stty cols 60; LC_ALL=C $ANALYZER report $trace --section trace" /dev/null 2>/dev/null | tr -d "\r" | sed 's/\x1b\[[0-9;]*[mK]//g' | tr -s ' \n' ' ' >"$WORK/narrow"
LC_ALL=C "$ANALYZER" report "$trace" --section trace | tr -s ' \n' ' ' >"$WORK/wide"
cmp "$WORK/wide" "$WORK/narrow" || fail "words of the section trace differ: $(cat "$WORK/narrow")"
