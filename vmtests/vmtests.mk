# SPDX-License-Identifier: Apache-2.0
# vmtests: profbpf on kernels that this machine does not run.

VM_PROGRAMS := $(PROGRAMS) $(patsubst %,$(B)/tests/truth/%,calls follow ioctls threads schedule libtruth.so libtruth2.so)

# VM_KERNELS="6.1 newest" chooses.
vmtest: $(VM_PROGRAMS)
	BUILD=$(B) vmtests/run $(VM_KERNELS)

.PHONY: vmtest
