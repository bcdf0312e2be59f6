#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What this machine has, and what of BPF works on it. Writes $OUT/has.bpf, $OUT/has.torch, $OUT/libcupti and $OUT/known.
# shellcheck source=tests/gpu/lib.sh
. "$(dirname "$0")/../lib.sh"

# ---- The machine

save() { printf '%s\n' "$2" >>"$WORK/$1"; }

describe() {
	local gpu driver
	verdict note kernel "$(uname -sr), $(uname -m), $(nproc) CPUs, $(awk '/^MemTotal/ { print int($2 / 1048576) " GiB" }' /proc/meminfo)"
	verdict note system "$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release), user $(id -un), $(ldd --version 2>&1 | head -n 1)"
	if [ "$DRY" = yes ]; then
		verdict note GPU "none: a dry run on stand-ins; no figure below is one of a GPU"
	else
		gpu=$(nvidia-smi --query-gpu=name,driver_version,memory.total,uuid --format=csv,noheader 2>&1 | paste -sd ';')
		verdict note GPU "$gpu"
		nvidia-smi -q >"$WORK/nvidia-smi.txt" 2>&1
		driver=$(grep -s RmProfilingAdminOnly /proc/driver/nvidia/params)
		verdict note "who may profile" "${driver:-the driver does not say (/proc/driver/nvidia/params)}"
	fi
}

# ---- BPF

# field WORDS OF: a feature's line in profctl status
feature() { grep -F "  $1  " "$WORK/status.txt" | tr -s ' ' | head -n 1; }

look_at_bpf() {
	local status=0
	"$KIT/bin/profctl" status >"$WORK/status.txt" 2>&1 || status=$?
	"$KIT/bin/profctl" status --format json >"$WORK/status.json" 2>/dev/null
	verdict note "capabilities" "$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status), unprivileged_bpf_disabled $(cat /proc/sys/kernel/unprivileged_bpf_disabled 2>&1), lockdown $(cat /sys/kernel/security/lockdown 2>&1)"
	verdict note "kernel types" "$(ls -l /sys/kernel/btf/vmlinux 2>&1)"
	verdict note "tracing" "$(sed -n 's/^tracing *//p' "$WORK/status.txt"); status $status"
	verdict note "probes" "$(sed -n 's/^probes *//p' "$WORK/status.txt"); returns by programs: $(feature 'returns by programs'); $(feature 'optimized nop probes')"
	echo no >"$OUT/has.bpf"
	# Whether it works is seen by doing it: a program of which calls must be seen.
	if "$KIT/bin/profctl" record --standalone -o "$WORK/true.pbt" -- "$(command -v true)" >"$WORK/true.err" 2>&1; then
		"$KIT/bin/analyzer" report --top 3 "$WORK/true.pbt" >"$WORK/true.txt" 2>&1
		echo yes >"$OUT/has.bpf"
		verdict pass "BPF works here" "a program was recorded; $(sed -n 's/^recorded/recorded/p' "$WORK/true.err" | head -n 1)"
	else
		verdict skip "BPF works here" "it does not: $(why "$WORK/true.err"); device times come from the shim alone"
	fi
}

# ---- CUDA

nvcc_path() {
	local folder
	command -v nvcc && return
	for folder in "${CUDA_HOME:-/nonexistent}" /usr/local/cuda /usr/local/cuda-* /opt/cuda "$(packages)"/cu13 "$(packages)"/cuda_nvcc; do
		[ ! -x "$folder/bin/nvcc" ] || { printf '%s\n' "$folder/bin/nvcc" && return; }
	done
	return 1
}

# NVIDIA's packages for Python, a folder
packages() { "$PYTHON" -c 'import nvidia; print(list(nvidia.__path__)[0])' 2>/dev/null || echo /nonexistent; }

# The libcupti for a program that has none of its own: the one of the nvcc that compiled it.
libcupti_path() {
	local root file
	root=$(dirname "$(dirname "$(readlink -f "$1")")")
	for file in "$root"/extras/CUPTI/lib64/libcupti.so* "$root"/targets/x86_64-linux/lib/libcupti.so* "$root"/lib64/libcupti.so* \
		"$root"/lib/libcupti.so* /usr/local/cuda/extras/CUPTI/lib64/libcupti.so* \
		"$(packages)"/cu13/lib/libcupti.so* "$(packages)"/cuda_cupti/lib/libcupti.so*; do
		[ ! -e "$file" ] || { readlink -f "$file" && return; }
	done
	return 1
}

build_known() {
	local nvcc flags
	if [ "$DRY" = yes ]; then
		cp "$STUBS"/known "$STUBS"/lib*.so* "$OUT/"
		: >"$OUT/libcupti"
		verdict pass "CUDA program" "compiled without nvcc, on stand-ins"
		return
	fi
	nvcc=$(nvcc_path) || {
		verdict skip "CUDA program" "no nvcc, neither in PATH, CUDA_HOME, /usr/local/cuda* nor among Python's packages"
		return
	}
	verdict note nvcc "$nvcc: $("$nvcc" --version | tail -n 2 | head -n 1)"
	# For this machine's GPU; compilers before 11.5 and those that cannot ask it take their own choice.
	for flags in "-arch=native" "" "-cudart shared"; do
		# shellcheck disable=SC2086 # words
		if "$nvcc" -std=c++17 -O2 $flags -o "$OUT/known" "$HERE/known.cu" >"$WORK/nvcc.log" 2>&1 &&
			"$OUT/known" -r 1 -s 1 >"$WORK/known.json" 2>"$WORK/known.err"; then
			verdict pass "CUDA program" "compiled (${flags:-no option}) and run"
			break
		fi
		cat "$WORK/nvcc.log" "$WORK/known.err" >>"$WORK/nvcc.all" 2>/dev/null
		rm -f "$OUT/known"
	done
	[ -x "$OUT/known" ] || verdict fail "CUDA program" "not compiled or not run: $(why "$WORK/nvcc.all")"
	libcupti_path "$nvcc" >"$OUT/libcupti" || : >"$OUT/libcupti"
	verdict note libcupti "for programs without one: $(cat "$OUT/libcupti")"
}

# ---- PyTorch

look_at_torch() {
	echo no >"$OUT/has.torch"
	"$PYTHON" - >"$WORK/torch.txt" 2>"$WORK/torch.err" <<-'END' || :
		import sys, torch
		print("Python %s, PyTorch %s, CUDA %s, GPU %s" % (sys.version.split()[0], torch.__version__, torch.version.cuda,
		      torch.cuda.get_device_name(0) if torch.cuda.is_available() else "none"))
		with open("/proc/self/maps") as maps:
		    print("its libcupti: %s" % sorted({line.split()[-1] for line in maps if "libcupti" in line}))
		sys.exit(0 if torch.cuda.is_available() else 1)
	END
	if [ ! -s "$WORK/torch.txt" ]; then
		verdict skip PyTorch "not here ($(tail -n 1 "$WORK/torch.err" | cut -c 1-200))"
		return
	fi
	verdict note PyTorch "$(paste -sd ';' "$WORK/torch.txt")"
	if [ "$DRY" = yes ] || ! grep -q 'GPU none' "$WORK/torch.txt"; then
		echo yes >"$OUT/has.torch"
	else
		verdict skip "PyTorch with a GPU" "it sees none"
	fi
}

describe
look_at_bpf
build_known
look_at_torch
