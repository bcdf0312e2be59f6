# SPDX-License-Identifier: Apache-2.0
# vmtests: tests profbpf on other kernels and architectures than those of this machine.

VM_TESTS := vmtests/tests.txt
VM_TRUTH := $(sort $(shell awk '!/^\#/ { for (i = 3; i <= NF; i++) print $$i }' $(VM_TESTS)))
VM_PROGRAMS := $(PROGRAMS) $(B)/bench/syscall_target $(patsubst %,$(B)/tests/truth/%,$(VM_TRUTH))
# Further languages of victims, and their compilers, which build for this machine's architecture only.
VM_LANGUAGES := rust:rustc go:go
# The kernels that ./setup check boots: the oldest one, and one of the other architecture.
VM_KERNELS_CI := 5.10 6.12/arm64
# The time limit of a machine there, in seconds.
VM_LIMIT_CHECK := 2400

vm-programs: $(VM_PROGRAMS) $(if $(filter no,$(VM_VICTIMS)),,vm-victims)

vm-victims:
	+$(MAKE) -s -f tests/victims/victims.mk B=$(B) CC="$(CC)" CXX="$(CXX)" native
	+PATH="$$PATH:/usr/local/go/bin:$${CARGO_HOME:-$$HOME/.cargo}/bin"; \
	$(foreach language,$(VM_LANGUAGES),! command -v $(word 2,$(subst :, ,$(language))) >/dev/null || \
		$(MAKE) -s -f tests/victims/victims.mk B=$(B) CC="$(CC)" CXX="$(CXX)" $(word 1,$(subst :, ,$(language))) || exit 1;) :

# VM_KERNELS="6.1 newest/arm64" chooses.
vmtest: vm-programs
	BUILD=$(B) vmtests/run $(VM_KERNELS)

vmtest-ci: vm-programs
	BUILD=$(B) vmtests/run $(VM_KERNELS_CI)

vmtest-check: vm-programs
	BUILD=$(B) vmtests/run --if-possible --limit $(VM_LIMIT_CHECK) --tests check $(VM_KERNELS_CI)

.PHONY: vm-programs vm-victims vmtest vmtest-ci vmtest-check
