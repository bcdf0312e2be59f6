#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each room includes headers only of the rooms that docs/architecture.md allows: the file format and its reader
# do not depend on the records of one build's BPF programs.
# beside others: stand-ins and folders are its own, and no time counts
. "$(dirname "$0")/lib.sh"
need_command python3

# includes ROOM: prints the project's files that its files include, one a line, after the place.
includes() {
	grep -rn --include='*.[ch]' -E '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' "$1"
}

# only ROOM PATTERN: fails if a file of ROOM includes a file that does not match.
only() {
	local bad
	bad=$(includes "$1" | grep -vE ":[[:space:]]*#[[:space:]]*include[[:space:]]+\"($2)\"" || :)
	[ -z "$bad" ] || fail "$1/ includes what it may not use:
$bad"
	echo "$1: $(includes "$1" | wc -l) includes"
}

only lib '(lib|proto)/.*'
only analyzer '(analyzer|lib|proto)/.*'
only daemon '(daemon|bpf|lib|proto)/.*|device/stream\.h'
# Layers are loaded into the job, so they contain only their own files of the project.
only device 'device/.*'

# Readers must not use the numbers of in-memory records: they would be right by chance only.
! grep -rnE --include='*.[ch]' '\bREC_[A-Z]+\b|bpf/events\.h' analyzer lib || fail "records of one build are none of a reader's business"

docs/list_files.py | cmp - docs/files.md || fail "docs/files.md is not what the files' first lines say: make docs"

tests/tools/house_rules.py >"$WORK/broken" || fail "rules of the house are broken:
$(cat "$WORK/broken")"
