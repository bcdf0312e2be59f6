# SPDX-License-Identifier: Apache-2.0
# The kit for a machine with an NVIDIA GPU, and what stands for one in its dry run: docs/gpu.md.

KIT := $(B)/gpu-kit
# Old tags: libraries beside the programs find one another, too, and no job that is traced gets a variable of ours.
KIT_LINK = $(LINK) -Wl,--disable-new-dtags -Wl,-rpath,'$$ORIGIN/../lib'

$(KIT)/bin/profbpfd: $(DAEMON_OBJ) $(COMMON_OBJ) $(LIB_OBJ)
	@mkdir -p $(@D)
	$(KIT_LINK) -o $@ $^ $(LIBS_DAEMON)
$(KIT)/bin/profctl: $(PROFCTL_OBJ) $(COMMON_OBJ) $(LIB_OBJ)
	@mkdir -p $(@D)
	$(KIT_LINK) -o $@ $^ $(LIBS_PROFCTL)
$(KIT)/bin/analyzer: $(ANALYZER_PARTS)
	@mkdir -p $(@D)
	$(KIT_LINK) $(ANALYZER_LINK) -o $@ $^ $(LIBS_ANALYZER)
$(KIT)/bin/stream_dump: $(O)/tests/tools/stream_dump.o $(DEVICE_STREAM_OBJ)
	@mkdir -p $(@D)
	$(KIT_LINK) -o $@ $^

KIT_BIN := $(patsubst %,$(KIT)/bin/%,profbpfd profctl analyzer stream_dump)
$(KIT)/complete: $(KIT_BIN) $(B)/libprofbpf-cupti.so $(wildcard catalog/*.catalog) tests/gpu/make-kit
	tests/gpu/make-kit $(KIT) $(B)/libprofbpf-cupti.so
	@touch $@

ifneq ($(CUDA_INCLUDE),)
gpu-kit: $(KIT)/complete
	@du -sh $(KIT)

# known.cu on libraries that stand for CUDA's, by their names.
STUBS := $(B)/tests/gpu
STUB_CUDA := $(patsubst %,$(STUBS)/lib%,cuda.so.1 cudart.so.13 cupti.so.13)
$(STUBS)/libcudart.so.13: tests/gpu/stub_cudart.c $(wildcard tests/truth/*.h)
	@mkdir -p $(@D)
	$(CC) $(TRUTH_CFLAGS) $(CUDA_CPPFLAGS) -fPIC -shared -Wl,-soname,libcudart.so.13 -Wl,-rpath,'$$ORIGIN' -o $@ $< -ldl -pthread
$(STUBS)/libcuda.so.1: $(B)/tests/truth/libcuda_truth.so
$(STUBS)/libcupti.so.13: $(B)/tests/truth/libcupti_truth.so
$(STUBS)/libcuda.so.1 $(STUBS)/libcupti.so.13:
	@mkdir -p $(@D)
	cp $< $@
$(STUBS)/known: tests/gpu/known.cu $(STUBS)/libcudart.so.13
	$(CXX) -x c++ -std=c++17 -O2 -g -Wall -Wextra $(WERROR_FLAG) $(CUDA_CPPFLAGS) -o $@ $< -x none \
		-Wl,-rpath,'$$ORIGIN' $(STUBS)/libcudart.so.13 -pthread

# The script that needs them is part of the tests of plain builds alone.
ifneq ($(SAN),1)
ifeq ($(ARCH),x86)
test-programs: $(KIT)/complete $(STUBS)/known $(STUB_CUDA)
endif
endif
else
gpu-kit:
	@echo "make gpu-kit: the CUPTI shim is part of it, and there is no cupti.h; run make cuda-headers first" >&2
	@false
endif

.PHONY: gpu-kit
