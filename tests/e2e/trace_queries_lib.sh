# SPDX-License-Identifier: Apache-2.0
# trace_queries_lib.sh - many queries of one file by Perfetto's trace processor; sourced after lib.sh.
# shellcheck shell=bash

# expect WHAT VALUE SQL: the expected single value of a query; compare checks it
declare -a whats=() values=() queries=()
expect() { whats+=("$1") values+=("$2") queries+=("$3"); }

# compare FILE: runs all queries at once, because starting the trace processor takes longer than the queries.
compare() {
	local i sql='' rows
	for i in "${!queries[@]}"; do
		sql+="${sql:+ union all }select $i, cast((${queries[i]}) as text)"
	done
	mapfile -t rows < <(trace_query "$1" "$sql" | tail -n +2)
	assert_eq "answers" "${#queries[@]}" "${#rows[@]}"
	for i in "${!queries[@]}"; do
		rows[i]=${rows[i]#"$i,"}
		rows[i]=${rows[i]#\"}
		assert_eq "${whats[i]}" "${values[i]}" "${rows[i]%\"}"
	done
	whats=() values=() queries=()
}
