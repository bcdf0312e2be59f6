#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# profbpf-fleet on DuckDB finds the holders in synthetic jobs with known faults, and none in healthy jobs; and reads a
# lake of real recordings.
# beside others: it makes its files itself, and no time counts
. "$(dirname "$0")/lib.sh"
need_command jq
need_command python3

"$ROOT/tests/tools/make-venv" fleet >"$WORK/install" 2>&1 ||
	skip "DuckDB cannot be installed: $(tail -n 1 "$WORK/install")"
VENV=$ROOT/build/venv-fleet/bin

make -s -C "$ROOT" wheel B="$WORK/build" PYTHON="$VENV/python" WHEEL_FLAGS=--no-build-isolation >"$WORK/wheel" 2>&1 ||
	fail "no wheel: $(tail -n 3 "$WORK/wheel")"
"$VENV/python" -m venv "$WORK/venv"
"$WORK/venv/bin/python" -m pip install -q --no-deps --no-index "$WORK"/build/wheel/profbpf_fleet-*.whl
# The packages, with DuckDB, of the virtual environment from which the new one was made.
PYTHONPATH=$("$VENV/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
export PYTHONPATH
FLEET=$WORK/venv/bin/profbpf-fleet
find "$WORK/venv" -name '*.sql' -printf '%f\n' | sort >"$WORK/packed"
find "$ROOT/fleet" -maxdepth 1 -name '*.sql' -printf '%f\n' | sort | cmp - "$WORK/packed" || fail "the wheel has other SQL than fleet/"

mkdir "$WORK/parts"
PYTHONPATH=$ROOT/fleet "$VENV/python" "$ROOT/tests/tools/fleet_parts.py" "$WORK/parts" >"$WORK/out" 2>&1 || fail "the parts: $(tail -n 20 "$WORK/out")"
note "lakes of odd shapes: $(tail -n 3 "$WORK/out" | tr '\n' ' ')"

# planted NAME OPTIONS...: makes a lake, judges it, and compares the answer with the plants
planted() {
	local name=$1
	shift
	"$VENV/python" "$ROOT/tests/tools/make_lake.py" "$WORK/$name" "$@"
	"$FLEET" report "$WORK/$name" --format json -o "$WORK/$name.json"
	"$FLEET" report "$WORK/$name" >"$WORK/$name.txt"
	"$ROOT/tests/tools/check_fleet.py" "$WORK/$name.truth.json" "$WORK/$name.json" >"$WORK/checked" 2>&1 ||
		fail "$name: $(cat "$WORK/checked" "$WORK/$name.txt")"
	note "$name: $(cat "$WORK/checked")"
	note "$(head -n 1 "$WORK/$name.txt")"
}

planted chronic --plant compute:rank=5,ms=16 --plant host:rank=9,ms=25,cause=lock,from=31,to=59
assert_eq "who" 5 "$(jq .verdict.rank "$WORK/chronic.json")"
assert_contains "the sentence comes first" "$WORK/chronic.txt" '^verdict  Rank 5 on host001 holds the job back by 1[56]\.[0-9] ms .*computes longer, in MatMul'

note "-- the page"
"$FLEET" report "$WORK/chronic" --format html -o "$WORK/page.html"
assert_eq "what the page loads" 0 "$(awk 'length < 5000' "$WORK/page.html" | grep -cE '<(script|link|img)[^>]*(src|href)=' || :)"
if ! command -v chromium >/dev/null || ! command -v node >/dev/null || [ ! -s third_party/echarts/echarts.min.js ]; then
	leave_out "no Chromium, node or ECharts here: the page is not looked at"
else
	node "$ROOT/tests/tools/fleet_browser.mjs" "$WORK/page.html" "$WORK/chronic.json" >"$WORK/looked" 2>&1 ||
		fail "the page: $(cut -c 1-300 "$WORK/looked")"
	note "in the browser: $(tail -n 1 "$WORK/looked")"
fi

note "-- groups, evaluation, what is missing"
planted pipeline --ranks 32 --stages 4 --tensor 4 --steps 200 --collectives 20 --no-world --seed 3 \
	--plant link:communicator=dp0.1,ms=6,from=50,to=119 --plant host:host=2,ms=12,cause=pipeline,from=130,to=180
assert_eq "the data pipeline of a host" "data host002 null" \
	"$(jq -r '.holders[] | select(.why == "data") | "\(.why) \(.host) \(.rank)"' "$WORK/pipeline.json")"
planted uneven --ranks 32 --stages 4 --tensor 4 --steps 300 --collectives 20 --no-world --evaluation 50 --seed 4 \
	--plant compute:rank=20,ms=20,from=170 --plant late:rank=7,step=100 --plant missing:rank=12,from=120,to=160 \
	--plant set:host=5,step=200,ms=-3000

note "-- nobody is named in healthy jobs"
for seed in 11 12 13 14; do
	planted healthy$seed --ranks 24 --tensor 2 --stages $((seed % 3 + 1)) --steps 120 --evaluation 40 --seed $seed
	assert_eq "holders" 0 "$(jq '.holders | length' "$WORK/healthy$seed.json")"
done
planted reset --ranks 16 --steps 120 --plant set:host=0,step=60,ms=250 # the reference's own
assert_eq "whose clock was set" '[0,1,2,3]' "$(jq -c '.findings[] | select(.kind == "clock_set").ranks' "$WORK/reset.json")"

note "-- a part of the steps, and what a lake lacks"
"$FLEET" report "$WORK/chronic" --from-step 31 --to-step 59 --format json -o "$WORK/part.json"
assert_eq "who, in a part" '29 9 true' "$(jq -r '"\(.steps) \(.verdict.rank) \(.holders[0].chronic)"' "$WORK/part.json")"
rm -r "$WORK/chronic/operators" "$WORK/chronic/idle" "$WORK/chronic/collectives"
"$FLEET" report "$WORK/chronic" --format json -o "$WORK/less.json"
assert_eq "who, of steps alone" 5 "$(jq .verdict.rank "$WORK/less.json")"
assert_eq "what could not be judged" collectives,idle,operators "$(jq -r '[.findings[] | select(.kind == "no_table").table] | join(",")' "$WORK/less.json")"

note "-- a lake of what a profiler wrote of each rank"
"$ROOT/tests/tools/make_kineto_ranks.py" "$WORK/kineto" 4 40 2 3
for rank in 0 1 2 3; do "$ANALYZER" lake --device "$WORK/kineto/rank$rank.json" -o "$WORK/real"; done
"$FLEET" report "$WORK/real" >"$WORK/real.txt"
cat "$WORK/real.txt"
assert_contains "who" "$WORK/real.txt" '^verdict  Rank 2 holds the job back by (2\.9|3\.0) ms of a step of 25\.[0-9] ms, in all 40 steps: it computes longer, in gemm\.$'
"$FLEET" report "$WORK/real" --format json -o "$WORK/real.json"
assert_eq "clocks, ms" '[0,3,6,9]' "$(jq -c '[.clocks[].offset_ns / 1e6 | round]' "$WORK/real.json")"

note "-- files that are not whole, of a rank that has no other ones; two runs in one lake; a lake without a figure that counts"
planted shapes --ranks 8 --steps 60 --collectives 5 --plant compute:rank=3,ms=16
cp -r "$WORK/shapes" "$WORK/cut"
: >"$WORK/cut/steps/host000-0.parquet"
truncate -s 300 "$WORK/cut/collectives/host001-6.parquet"
"$FLEET" report "$WORK/cut" --format json -o "$WORK/cut.json"
assert_eq "who, without two files" '3 ["damaged","no_steps"]' \
	"$(jq -rc '"\(.verdict.rank) \([.findings[].kind | select(. == "damaged" or . == "no_steps")] | sort)"' "$WORK/cut.json")"
assert_eq "which files, and whose steps" '["host000-0.parquet","host001-6.parquet"] [0]' \
	"$(jq -rc '([.findings[] | select(.kind == "damaged").files[] | split("/") | last] | sort) as $files
		| "\($files) \(.findings[] | select(.kind == "no_steps").ranks)"' "$WORK/cut.json")"
# damage NAME PATH: overwrites 400 bytes in the middle of a file
damage() {
	dd if=/dev/zero of="$1" bs=1 count=400 seek=$(($(stat -c %s "$1") / 3)) conv=notrunc status=none
}
cp -r "$WORK/shapes" "$WORK/middle"
damage "$WORK/middle/steps/host000-1.parquet"
for file in "$WORK"/middle/operators/*.parquet; do truncate -s 100 "$file"; done
damage "$WORK/middle/collectives/host001-6.parquet"
"$FLEET" report "$WORK/middle" --format json -o "$WORK/middle.json"
assert_eq "who, with files damaged in their middle and a table all of whose are cut" '3 10' \
	"$(jq -r '"\(.verdict.rank) \(.findings[] | select(.kind == "damaged").files | length)"' "$WORK/middle.json")"
assert_eq "the table that is lost is told" operators "$(jq -r '.findings[] | select(.kind == "no_table").table' "$WORK/middle.json")"
cp -r "$WORK/shapes" "$WORK/footers" # so damaged that a table cannot even be begun with: that of the other table is found later
for file in steps/host000-1 collectives/host001-6; do
	printf '\377\377\377\177' | dd of="$WORK/footers/$file.parquet" bs=1 seek=$(($(stat -c %s "$WORK/footers/$file.parquet") - 8)) conv=notrunc status=none
done
"$FLEET" report "$WORK/footers" --format json -o "$WORK/footers.json"
assert_eq "who, with damaged ends of files of two tables" '3 2' \
	"$(jq -r '"\(.verdict.rank) \(.findings[] | select(.kind == "damaged").files | length)"' "$WORK/footers.json")"
"$FLEET" report "$WORK/cut" --from-step 1000 --format json -o "$WORK/none.json"
assert_eq "no step left, and why" '0 2' "$(jq -r '"\(.steps) \(.findings[] | select(.kind == "damaged").files | length)"' "$WORK/none.json")"
cp -r "$WORK/shapes" "$WORK/half" # two runs: of the second one, whose clock differs, half of the steps
"$VENV/python" - "$WORK/half" <<'END'
import sys
import duckdb
for table, times in ("steps", "start_ns"), ("collectives", "start_ns, end_ns"):
    moved = ", ".join(f"{name} + 3600000000000 AS {name}" for name in times.split(", "))
    duckdb.sql(f"COPY (SELECT * REPLACE ({moved}) FROM '{sys.argv[1]}/{table}/host000-2.parquet' WHERE step < 30) "
               f"TO '{sys.argv[1]}/{table}/again-2.parquet' (FORMAT parquet)")
END
"$FLEET" report "$WORK/half" --format json -o "$WORK/half.json"
assert_eq "who, with half of a rank's steps twice" '3 30 30' \
	"$(jq -r '"\(.verdict.rank) \(.holders[0].steps) \(.findings[] | select(.kind == "twice").steps)"' "$WORK/half.json")"
assert_eq "bounds and clocks are those of the other steps: within 0.5 ms and 100 us" "true true" \
	"$(jq -r --slurpfile whole "$WORK/shapes.json" 'def offset: .clocks[] | select(.rank == 2).offset_ns;
		"\((.usual_step_ms - $whole[0].usual_step_ms | fabs) < 0.5) \((offset - ($whole[0] | offset) | fabs) < 1e5)"' "$WORK/half.json")"
cp -r "$WORK/shapes" "$WORK/twice"
for table in steps collectives; do cp "$WORK/twice/$table/host000-2.parquet" "$WORK/twice/$table/again-2.parquet"; done
"$FLEET" report "$WORK/twice" --format json -o "$WORK/twice.json"
assert_eq "steps that are there twice" '[2] 60' "$(jq -rc '.findings[] | select(.kind == "twice") | "\(.ranks) \(.steps)"' "$WORK/twice.json")"
assert_eq "who, of steps that are there twice" '0 Nothing can be said of who holds the job back: 60 of 60 steps are in the lake more than once' \
	"$(jq -r '"\(.holders | length) \(.verdict.sentence | split(",")[0])"' "$WORK/twice.json")"
"$VENV/python" - "$WORK/shapes/steps" <<'END'
import glob, sys
import duckdb
for path in glob.glob(sys.argv[1] + "/*.parquet"):
    duckdb.sql(f"COPY (SELECT * EXCLUDE (exposed_communication_ns) FROM '{path}') TO '{path}.new' (FORMAT parquet)")
    __import__("os").rename(path + ".new", path)
END
"$FLEET" report "$WORK/shapes" --format json -o "$WORK/shapes.json"
assert_eq "what its steps lack" exposed_communication_ns "$(jq -r '.findings[] | select(.kind == "no_column").column' "$WORK/shapes.json")"

note "-- wrong usage"
assert_status "no lake" 1 "$FLEET" report "$WORK/nothing"
assert_status "another folder" 1 "$FLEET" report "$ROOT/docs"
assert_contains "what it is not" "$WORK/err" 'not a lake that analyzer lake wrote'
mkdir -p "$WORK/damaged/steps"
echo nothing >"$WORK/damaged/steps/a.parquet"
assert_status "a damaged file" 1 "$FLEET" report "$WORK/damaged"
assert_contains "which" "$WORK/err" 'a\.parquet'
assert_eq "lines of that" 1 "$(wc -l <"$WORK/err")"
assert_status "no such memory" 1 "$FLEET" report "$WORK/chronic" --memory much
assert_status "master without spark" 2 "$FLEET" report "$WORK/chronic" --master spark://localhost
assert_status "steps that end before they begin" 2 "$FLEET" report "$WORK/chronic" --from-step 3 --to-step 2
