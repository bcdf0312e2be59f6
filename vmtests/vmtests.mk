# SPDX-License-Identifier: Apache-2.0
# vmtests: profbpf on kernels and architectures that this machine does not run.

VM_TRUTH := calls follow ioctls blocked interrupts threads schedule devices cuse sleeps stacks faults block memory launched feeders host \
	refused libtruth.so libtruth2.so libacl_truth.so libcuda_truth.so libcudart_truth.so
VM_PROGRAMS := $(PROGRAMS) $(B)/bench/syscall_target $(patsubst %,$(B)/tests/truth/%,$(VM_TRUTH))
# What ./setup check boots: the oldest kernel that is traced on, and the other architecture.
VM_KERNELS_CI := 6.1 6.12/arm64
# What it runs there, and how long a machine may take, in seconds.
VM_TESTS_CHECK := status,load,truth_calls,truth_follow,truth_ioctls,truth_cuse,detach,kernel_log
VM_LIMIT_CHECK := 2400

vm-programs: $(VM_PROGRAMS)

# VM_KERNELS="6.1 newest/arm64" chooses.
vmtest: vm-programs
	BUILD=$(B) vmtests/run $(VM_KERNELS)

vmtest-ci: vm-programs
	BUILD=$(B) vmtests/run $(VM_KERNELS_CI)

vmtest-check: vm-programs
	BUILD=$(B) vmtests/run --if-possible --limit $(VM_LIMIT_CHECK) --tests $(VM_TESTS_CHECK) $(VM_KERNELS_CI)

.PHONY: vm-programs vmtest vmtest-ci vmtest-check
