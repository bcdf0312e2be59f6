#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each room includes headers of those rooms only that docs/architecture.md lets it use: what the format and the
# reader of files are does not hang on what one build's BPF programs write.
# beside others: stand-ins and folders are its own, and no time counts
. "$(dirname "$0")/lib.sh"
need_command python3

# includes ROOM: the files of our own that its files include, one a line, behind their places.
includes() {
	grep -rn --include='*.[ch]' -E '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' "$1"
}

# only ROOM PATTERN: fails if a file of ROOM includes what does not match.
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
# Layers are loaded into the job: nothing of ours comes with them but their own files.
only device 'device/.*'

# A number of a record that is written under its own name would be right by chance only.
! grep -rnE --include='*.[ch]' '\bREC_[A-Z]+\b|bpf/events\.h' analyzer lib || fail "records of one build are none of a reader's business"

docs/list_files.py | cmp - docs/files.md || fail "docs/files.md is not what the files' first lines say: make docs"

tests/tools/house_rules.py >"$WORK/broken" || fail "rules of the house are broken:
$(cat "$WORK/broken")"
