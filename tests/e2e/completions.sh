#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Completions of bash, zsh and fish match --help, and complete typed words.
# beside others: stand-ins and folders are its own, and no time counts
. "$(dirname "$0")/lib.sh"

mkdir "$WORK/made"
for program in profctl analyzer; do
	"$ROOT/packaging/completions/generate" "$ROOT/build/$program" "$WORK/made"
	for file in "$program.bash" "_$program" "$program.fish"; do
		cmp "$WORK/made/$file" "$ROOT/packaging/completions/$file" || fail "$file is not what --help says: make docs"
	done
done

# The real compopt works only during a completion.
compopt() { :; }

# completed WORD...: prints bash's completions of the last word of a line, on one line.
completed() {
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	"_$1" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>/dev/null
	printf '%s\n' "${COMPREPLY[@]}" | paste -sd ' '
}

. "$ROOT/packaging/completions/profctl.bash"
. "$ROOT/packaging/completions/analyzer.bash"
assert_eq "bash: commands" "attach" "$(completed profctl a)"
assert_eq "bash: options" "--stack-block --stack-rate --standalone" "$(completed profctl attach --sta)"
assert_eq "bash: a topic of several" "io,fault" "$(completed profctl attach --topics io,fa)"
assert_eq "bash: processes" "$$" "$(completed profctl attach --pid $$ | tr ' ' '\n' | grep -x $$)"
assert_eq "bash: a folder of processes' ids" "" "$(completed profctl attach --budget x)"
assert_eq "bash: formats of exports" "parquet pprof" "$(completed analyzer export --to p | tr ' ' '\n' | grep -v perf | sort | paste -sd ' ')"
assert_eq "bash: sections" "capture,steps stacks" "$(printf '%s %s' "$(completed analyzer report --section capture,ste)" \
	"$(completed analyzer report --section stac)")"
assert_eq "bash: catalog" "match" "$(completed profctl catalog m)"

if command -v fish >/dev/null; then
	note "-- fish $(fish --version | sed 's/.* //')"
	# offered LINE: prints fish's completions, on one line.
	offered() {
		HOME=$WORK fish --no-config -c "source '$ROOT/packaging/completions/${1%% *}.fish'; complete -C '$1'" |
			cut -f 1 | paste -sd ' '
	}
	assert_eq "fish: commands" "attach" "$(offered 'profctl a')"
	assert_eq "fish: options" "--stack-block --stack-rate --standalone" "$(offered 'profctl attach --sta')"
	assert_eq "fish: a topic of several" "io,fault" "$(offered 'profctl attach --topics io,fa')"
	assert_eq "fish: formats of exports" "sqlite" "$(offered 'analyzer export --to sq')"
fi

if command -v zsh >/dev/null; then
	note "-- zsh $(zsh --version | cut -d ' ' -f 2)"
	# Reads zsh's output after typing a line and a tab, because zsh has no other interface for this.
	cat >"$WORK/type.zsh" <<-'END'
		zmodload zsh/zpty
		zpty -b shell zsh -f -i
		zpty -w shell "PS1=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -d $2/dump; echo load''ed"
		zpty -r shell line '*loaded*'
		zpty -n -w shell "$3"$'\t'
		sleep 1
		while zpty -r -t shell more; do line+=$more; done
		print -r -- "$line"
		zpty -d shell
	END
	shown() { zsh -f "$WORK/type.zsh" "$ROOT/packaging/completions" "$WORK" "$1" 2>/dev/null; }
	shown 'profctl att' >"$WORK/zsh"
	assert_contains "zsh: commands" "$WORK/zsh" 'attach'
	shown 'analyzer export --to=sq' >"$WORK/zsh"
	assert_contains "zsh: formats of exports" "$WORK/zsh" 'sqlite'
fi
