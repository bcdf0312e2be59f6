# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2004,SC2154 # associative arrays of the caller
# tables.sh - prints the machines' results side by side.
# Sourced by vmtests/run, whose main() declares chosen, cells, releases, seconds, facts, verified, programs, offered and features.

# read_facts KERNEL RESULTS
read_facts() {
	local kind name words
	while read -r kind name words; do
		case "$kind" in
		fact) facts[$1,$name]=$words ;;
		feature)
			[ -n "${offered[*,$words]:-}" ] || features+=("$words")
			offered[*,$words]=yes offered[$1,$words]=$name ;;
		verified)
			[[ " ${programs[*]} " == *" $name "* ]] || programs+=("$name")
			# A kernel may load several programs of a name: the largest counts.
			((words <= ${verified[$1,$name]:-0})) || verified[$1,$name]=$words ;;
		esac
	done <"$2"
}

# count_passed KERNEL: "passed of planned"
count_passed() {
	local key total=0 good=0
	for key in "${!cells[@]}"; do
		[[ $key == "$1,"* ]] || continue
		total=$((total + 1))
		[[ ! ${cells[$key]} =~ ^[0-9] ]] || good=$((good + 1))
	done
	printf '%d of %d' "$good" "$total"
}

cuse_words() {
	case "${cells[$1,truth_cuse]:--}" in
	[0-9]*) echo exact ;;
	*) echo "${cells[$1,truth_cuse]:--}" ;;
	esac
}

print_matrix() {
	local kernel
	printf '\n%-30s %-8s %-10s %-9s %-11s %-18s %-13s %s\n' kernel probes ioctls tests "CUSE ioctls" \
		"records in rings" detach seconds
	for kernel in "${chosen[@]}"; do
		[ -n "${releases[$kernel]:-}" ] || continue
		printf '%-30s %-8s %-10s %-9s %-11s %-18s %-13s %s\n' "${releases[$kernel]}" "${facts[$kernel,probes]:--}" \
			"${facts[$kernel,ioctls]:--}" "$(count_passed "$kernel")" "$(cuse_words "$kernel")" \
			"${facts[$kernel,rings]:--}" "${facts[$kernel,detach]:--}" "${seconds[$kernel]}"
	done
}

# print_across TITLE TABLE ROW...: prints a table with a column for each kernel; TABLE is the name of an
# array of "KERNEL,ROW".
print_across() {
	local title=$1 kernel row
	local -n table=$2
	shift 2
	[ $# -gt 0 ] || return 0
	printf '\n%-26s' "$title"
	for kernel in "${chosen[@]}"; do
		[ -z "${facts[$kernel,probes]:-}" ] || printf ' %12s' "$kernel"
	done
	printf '\n'
	for row in "$@"; do
		printf '%-26s' "$row"
		for kernel in "${chosen[@]}"; do
			[ -z "${facts[$kernel,probes]:-}" ] || printf ' %12s' "${table[$kernel,$row]:--}"
		done
		printf '\n'
	done
}

print_verified() {
	local sorted=()
	[ ${#programs[@]} -eq 0 ] || readarray -t sorted < <(printf '%s\n' "${programs[@]}" | sort)
	print_across "instructions verified" verified "${sorted[@]}"
}

# Seconds of each test.
print_seconds() {
	local kernel name names=refused,$TESTS
	printf '\n%-30s' "seconds of each test"
	for name in ${names//,/ }; do
		printf ' %s' "$name"
	done
	printf '\n'
	for kernel in "${chosen[@]}"; do
		[ -n "${releases[$kernel]:-}" ] || continue
		printf '%-30s' "${releases[$kernel]}"
		for name in ${names//,/ }; do
			printf ' %*s' ${#name} "${cells[$kernel,$name]:--}"
		done
		printf '\n'
	done
	printf -- '- is a test that is not for that kernel.\n'
}

print_tables() {
	print_matrix
	print_across "what the kernel offers" offered "${features[@]}"
	print_verified
	print_seconds
}
