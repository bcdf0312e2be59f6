#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# profbpf-fleet on a cluster of Apache Spark, a master and two workers: the same SQL, and every figure that DuckDB gives.
# long: four Java machines for the SQL that fleet.sh has with DuckDB
. "$(dirname "$0")/lib.sh"
need_command jq
need_command python3
need_command java

for name in fleet spark; do
	"$ROOT/tests/tools/make-venv" $name >"$WORK/install" 2>&1 ||
		skip "DuckDB and Spark cannot be installed: $(tail -n 1 "$WORK/install")"
done
DUCKDB=$ROOT/build/venv-fleet/bin/python SPARK=$ROOT/build/venv-spark/bin/python
SPARK_HOME=$("$SPARK" -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))')
export SPARK_HOME PYTHONPATH=$ROOT/fleet PYTHONDONTWRITEBYTECODE=1 SPARK_LOCAL_IP=127.0.0.1 SPARK_NO_DAEMONIZE=1 SPARK_DAEMON_MEMORY=256m
export SPARK_WORKER_DIR=$WORK/workers SPARK_LOCAL_DIRS=$WORK/local SPARK_CONF_DIR=$WORK/conf
# Options for programs that run for seconds: the fast JIT compiler, and as many partitions as cores.
export JAVA_TOOL_OPTIONS='-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'
mkdir "$WORK/conf"
cat >"$WORK/conf/spark-defaults.conf" <<'CONF'
spark.ui.enabled false
spark.executor.memory 600m
spark.driver.memory 600m
spark.sql.shuffle.partitions 2
spark.sql.adaptive.enabled false
spark.sql.codegen.wholeStage false
spark.sql.codegen.factoryMode NO_CODEGEN
CONF

"$DUCKDB" "$ROOT/tests/tools/make_lake.py" "$WORK/lake" --ranks 16 --steps 60 --stages 2 --tensor 2 --collectives 12 --no-world --seed 5 \
	--plant compute:rank=5,ms=16 --plant host:rank=9,ms=25,cause=lock,from=31,to=50 --plant link:communicator=dp1.1,ms=9,from=10,to=24 \
	--plant set:host=3,step=20,ms=70 --plant late:rank=12,step=7 --plant missing:rank=3,from=30,to=33
"$DUCKDB" -m profbpf_fleet.main report "$WORK/lake" --format json -o "$WORK/duckdb.json"
"$ROOT/tests/tools/check_fleet.py" "$WORK/lake.truth.json" "$WORK/duckdb.json"
[ "$(jq '.holders | length' "$WORK/duckdb.json")" -ge 3 ] || fail "not all plants are named: nothing to compare"

"$SPARK_HOME/bin/spark-class" org.apache.spark.deploy.master.Master --host 127.0.0.1 --port 0 --webui-port 0 >"$WORK/master" 2>&1 &
wait_for_line "$WORK/master" 'Starting Spark master at spark://' 120
MASTER=$(grep -o 'spark://127[^ "]*' "$WORK/master" | head -n 1)
for worker in 1 2; do
	"$SPARK_HOME/bin/spark-class" org.apache.spark.deploy.worker.Worker --host 127.0.0.1 --cores 1 --memory 1g --webui-port 0 "$MASTER" \
		>"$WORK/worker$worker" 2>&1 &
done
for worker in 1 2; do wait_for_line "$WORK/worker$worker" 'Successfully registered with master' 120; done

start=$SECONDS
"$SPARK" -m profbpf_fleet.main report "$WORK/lake" --engine spark --master "$MASTER" --format json -o "$WORK/spark.json" 2>"$WORK/spark.err" ||
	fail "on Spark: $(grep -m 1 -E 'Exception|rror' "$WORK/spark.err" | cut -c 1-500)"
note "$((SECONDS - start)) s on $(jq -r .engine "$WORK/spark.json")"
assert_eq "workers that ran it" 2 "$(grep -l 'Asked to launch executor' "$WORK"/worker[12] | wc -l)"
diff <(jq 'del(.engine)' "$WORK/duckdb.json") <(jq 'del(.engine)' "$WORK/spark.json") >"$WORK/different" ||
	fail "Spark says something else than DuckDB (left): $(head -n 20 "$WORK/different")"
note "equal: $(jq -c '[.ranks, .steps, (.holders | length), (.clocks | length), (.findings | length)]' "$WORK/spark.json") ranks, steps, holders, clocks, findings"
