# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# figures.sh - measures all states in every pass; medians, ranges and ratios of the measurements.
#
# $WORK/samples has lines "PASS STATE SUBJECT CPU_NS WALL_NS", $WORK/costs "STATE TOOL_CPU_NS BYTES
# RECORDS LOST" for each time that a tracer was on; "-" means not known.

print_machine() {
	local commit
	commit=$(git describe --always --dirty 2>/dev/null || echo unknown)
	printf '%s, profbpf %s (%s)\n' "$(date -u '+%Y-%m-%d %H:%M UTC')" "$("$PROFCTL" --version | awk '{ print $NF }')" "$commit"
	printf 'Linux %s, %s x %s\n' "$(uname -r)" "$(nproc)" "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
	printf 'load before: %s; %s passes\n' "$(cut -d' ' -f1-3 /proc/loadavg)" "$PASSES"
}

heading() { printf '\n%s\n\n' "$*"; }

# is_wanted STATE: whether --only selects it
is_wanted() { [ -z "$ONLY" ] || [[ ,$ONLY, == *,$1,* ]]; }

# measure WHAT STATE...: WHAT_on and WHAT_off switch, WHAT_take PASS STATE measures
measure() {
	local what=$1 pass state
	shift
	rm -f "$WORK/samples" "$WORK/costs"
	touch "$WORK/costs"
	for ((pass = 1; pass <= PASSES; pass++)); do
		for state in "$@"; do
			[ ! -t 2 ] || printf '\r%s: pass %s of %s: %-12s' "$what" "$pass" "$PASSES" "$state" >&2
			"${what}_on" "$state"
			"${what}_take" "$pass" "$state"
			"${what}_off" "$state"
		done
	done
	[ ! -t 2 ] || printf '\r%60s\r' '' >&2
}

# usable WHAT STATE...: sets USABLE to the selected states that can be switched on here
usable() {
	local what=$1 state status
	shift
	USABLE=()
	for state in "$@"; do
		is_wanted "$state" || continue
		if ! tracer_installed "$state"; then
			printf 'bench/run: %s is not installed: left out\n' "$(tracer_program "$state")" >&2
			continue
		fi
		# In a condition a failing command would not end the subshell.
		set +e
		(
			set -e
			trap tracers_cleanup EXIT
			"${what}_on" "$state"
			"${what}_off" "$state"
		) >"$WORK/why" 2>&1
		status=$?
		set -e
		if [ "$status" -eq 0 ]; then
			USABLE+=("$state")
		else
			printf 'bench/run: %s does not work here: left out: %s\n' "$state" \
				"$(sed 's/^bench\/run: //' "$WORK/why" | tr '\n' ' ' | cut -c 1-200)" >&2
		fi
	done
	rm -f "$WORK/costs"
}

# take PASS STATE SUBJECT "CPU_NS [WALL_NS]"
take() { printf '%s %s %s %s\n' "$1" "$2" "$3" "$4" >>"$WORK/samples"; }

# cost STATE TOOL_CPU_NS BYTES RECORDS LOST
cost() { printf '%s %s %s %s %s\n' "$@" >>"$WORK/costs"; }

values() { awk -v state="$1" -v subject="$2" -v column="${3:-4}" '$2 == state && $3 == subject { print $column }' "$WORK/samples" | sort -n; }

middle() { awk -v format="${1:-}" '{ v[NR] = $1 } END {
	if (!NR) print "-"
	else { x = v[int((NR + 1) / 2)]; printf (format ? format : x < 100 ? "%.1f" : "%.0f") "\n", x } }'; }

# median STATE SUBJECT, wall_median, range: over the passes
median() { values "$1" "$2" | middle; }
wall_median() { values "$1" "$2" 5 | middle; }
range() { values "$1" "$2" | awk '{ v[NR] = $1 } END { if (!NR) print "-"; else printf v[1] < 100 ? "%.1f-%.1f\n" : "%.0f-%.0f\n", v[1], v[NR] }'; }

# ratio STATE BASE SUBJECT: median over the passes of the ratio of STATE to BASE in the same pass
ratio() {
	awk -v state="$1" -v base="$2" -v subject="$3" '
		$3 == subject && $2 == state { a[$1] = $4 }
		$3 == subject && $2 == base { b[$1] = $4 }
		END { for (i in a) if (i in b && b[i] > 0) print a[i] / b[i] }' "$WORK/samples" | sort -n | middle '%.2f'
}

# costs STATE cpu|bytes|records|lost: the sum over all its sessions, cpu and bytes per record
costs() {
	awk -v state="$1" -v what="$2" '
		$1 == state { if ($2 == "-") no["cpu"] = 1; if ($3 == "-") no["bytes"] = 1
			sum["cpu"] += $2; sum["bytes"] += $3; sum["records"] += $4; sum["lost"] += $5 }
		END {
			if (!sum["records"] || no[what]) print "-"
			else if (what == "cpu") printf "%.0f\n", sum[what] / sum["records"]
			else if (what == "bytes") printf "%.1f\n", sum[what] / sum["records"]
			else printf "%.0f\n", sum[what]
		}' "$WORK/costs"
}

# print_daemon_cost WORD: the cost of profbpf's own sessions
print_daemon_cost() {
	local cpu
	cpu=$(costs profbpf cpu)
	[ "$cpu" = - ] || printf '\ndaemon CPU %s ns per %s written; %s bytes per %s on disk; %s recorded, %s lost\n' \
		"$cpu" "$1" "$(costs profbpf bytes)" "$1" "$(costs profbpf records)" "$(costs profbpf lost)"
}
