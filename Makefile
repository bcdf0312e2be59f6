# SPDX-License-Identifier: Apache-2.0
# profbpf: `make help` lists the targets; ./setup installs what they need.

CLANG ?= clang
# Debian keeps it in /usr/sbin, which an ordinary user's PATH lacks.
BPFTOOL ?= $(shell PATH="$$PATH:/usr/local/sbin:/usr/sbin" command -v bpftool || echo bpftool)
PROTOC_C ?= protoc-c
ARCH := $(shell uname -m | sed -e 's/x86_64/x86/' -e 's/aarch64/arm64/')

# SAN=1 builds everything with AddressSanitizer and UndefinedBehaviorSanitizer, in its own folder. -O1, and debug information
# with line numbers only, save a third of the time.
ifeq ($(SAN),1)
B := build/san
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1
else
B := build
SANFLAGS :=
endif
G := $(B)/gen
# In a folder of their own, because a program has the same name as a folder of sources.
O := $(B)/obj

include flags.mk

BPF_CFLAGS := -target bpf -D__TARGET_ARCH_$(ARCH) -O2 -g $(PATH_MAP) -Wall $(WERROR_FLAG) -Wno-unused-function \
	-I. -I$(G) -Ibpf

PROTO_SRC := $(wildcard proto/*.proto)
PROTO_OBJ := $(PROTO_SRC:%.proto=$(G)/%.pb-c.o)
PROTO_HDR := $(PROTO_SRC:%.proto=$(G)/%.pb-c.h)
BPF_SRC := $(wildcard bpf/*.bpf.c)
BPF_OBJ := $(BPF_SRC:%.bpf.c=$(B)/%.bpf.o)
SKEL := $(G)/bpf/profbpf.skel.h $(G)/bpf/gate_programs.skel.h

# The objects of the C files in folders and their subfolders; the objects of a list of base
# names, each of which is unique in the tree.
obj = $(patsubst %.c,$(O)/%.o,$(sort $(shell find -H $(1) -name '*.c')))
named = $(foreach name,$(1),$(or $(filter %/$(name).o,$(2)),$(error there is no $(name).c)))
LIB_OBJ := $(call obj,lib) $(PROTO_OBJ)
COMMON_OBJ := $(call obj,$(filter-out daemon/profbpfd daemon/profctl,$(wildcard daemon/*)))
DAEMON_OBJ := $(call obj,daemon/profbpfd)
PROFCTL_OBJ := $(call obj,daemon/profctl)
ANALYZER_OBJ := $(call obj,analyzer)

LIBS_LIB := -lprotobuf-c -lzstd -lz -lelf -lcapstone -liberty
# libmicrohttpd serves the daemon's metrics; without it there are none, and profbpfd --metrics reports that.
MICROHTTPD := $(shell echo 'int main(void) { return 0; }' | \
	$(CC) $(CPPFLAGS) -include microhttpd.h -x c -o /dev/null - $(LDFLAGS) -lmicrohttpd 2>/dev/null && echo -lmicrohttpd)
LIBS_DAEMON := -lbpf $(LIBS_LIB) -lyajl -lsystemd $(MICROHTTPD) -lpthread
LIBS_PROFCTL := $(LIBS_LIB) -lyajl -lsmartcols -lncursesw -ltinfo -lpthread
LIBS_ANALYZER := $(LIBS_LIB) -lsqlite3 -lyajl -lsmartcols -lseccomp -lm

PROGRAMS := $(B)/profbpfd $(B)/profctl $(B)/analyzer
LAYERS := $(B)/libprofbpf-opencl.so $(B)/libprofbpf-mspti.so

# Folders with cupti.h and cuda.h: from a CUDA toolkit, or from `make cuda-headers`. Without
# them the CUPTI shim is not built.
CUDA_INCLUDE ?= $(patsubst %/cupti.h,%,$(wildcard build/cuda-headers/cupti.h))
CUDA_CPPFLAGS := $(addprefix -isystem ,$(CUDA_INCLUDE))
ifneq ($(CUDA_INCLUDE),)
LAYERS += $(B)/libprofbpf-cupti.so
endif

.DEFAULT_GOAL := all
.SECONDARY:
.DELETE_ON_ERROR:

# Translations of the report; without gettext's msgfmt the report is in English.
MSGFMT := $(shell command -v msgfmt)
LOCALES := $(if $(MSGFMT),$(patsubst po/%.po,$(B)/locale/%/LC_MESSAGES/profbpf.mo,$(wildcard po/*.po)))
$(if $(MSGFMT),,$(info no msgfmt (package gettext): reports will be in English only))

all: $(PROGRAMS) $(LAYERS) $(LOCALES)

$(B)/locale/%/LC_MESSAGES/profbpf.mo: po/%.po
	@mkdir -p $(@D)
	$(MSGFMT) --check-format -o $@ $<

$(B)/profbpfd: $(DAEMON_OBJ) $(COMMON_OBJ) $(LIB_OBJ)
	$(LINK) -o $@ $^ $(LIBS_DAEMON)

$(B)/profctl: $(PROFCTL_OBJ) $(COMMON_OBJ) $(LIB_OBJ)
	$(LINK) -o $@ $^ $(LIBS_PROFCTL)

# The report's page: its scripts in one file, and the library that draws its charts, which ./setup fetches; without the
# library the page has tables only.
PAGE := analyzer/view/page
PAGE_SCRIPTS := $(patsubst %,$(PAGE)/%.js,values tables charts host pipeline flames timeline sections begin)
ECHARTS := $(wildcard third_party/echarts/echarts.min.js)

$(G)/page.js: $(PAGE_SCRIPTS)
	@mkdir -p $(@D)
	cat $^ > $@

$(G)/page_library.txt: $(ECHARTS) Makefile
	@mkdir -p $(@D)
	$(if $(ECHARTS),gzip -9nc $(ECHARTS) | base64 -w 0 > $@,@: > $@)

$(call named,endpoint,$(DAEMON_OBJ)): OUR_CPPFLAGS += $(if $(MICROHTTPD),-DHAVE_MICROHTTPD)

# These objects contain the page and the table.
PAGE_OBJ := $(call named,page,$(ANALYZER_OBJ)) $(patsubst %,$(B)/fuzz/%/analyzer/view/page/page.o,o fast/o)
$(PAGE_OBJ): $(PAGE)/page.html $(PAGE)/page.css $(G)/page.js $(G)/page_library.txt
$(PAGE_OBJ): OUR_CPPFLAGS += -DPAGE_SCRIPT='"$(G)/page.js"' -DPAGE_LIBRARY='"$(G)/page_library.txt"'
$(call named,diff_page,$(ANALYZER_OBJ)): $(patsubst %,$(PAGE)/%,diff.html page.css diff.css diff.js)
$(call named,function_words,$(ANALYZER_OBJ)): $(shell find -H analyzer -name function_words.txt)

# Large blocks of memory are mapped files (analyzer/cli/spill.h), except with AddressSanitizer, which must know all blocks.
SPILL := malloc calloc realloc reallocarray free qsort qsort_r rows_fit
ANALYZER_LINK := $(if $(SANFLAGS),,$(SPILL:%=-Wl,--wrap=%))
ANALYZER_PARTS := $(if $(SANFLAGS),$(filter-out %/spill_wrap.o,$(ANALYZER_OBJ)),$(ANALYZER_OBJ)) $(LIB_OBJ)
$(B)/analyzer: $(ANALYZER_PARTS)
	$(LINK) $(ANALYZER_LINK) -o $@ $^ $(LIBS_ANALYZER)

# Users' programs load the layers: no sanitizer, and no library except libc and the dynamic loader's.
OPENCL_SRC := $(wildcard device/opencl*.c) device/clock_judge.c device/stream_writer.c
$(B)/libprofbpf-opencl.so: $(OPENCL_SRC) $(wildcard device/*.h) flags.mk
	@mkdir -p $(@D)
	$(LAYER) -o $@ $(OPENCL_SRC) -pthread

LISTENER_SRC := $(patsubst %,device/%.c,listener correlated clock_pair clock_judge stream_writer)
CUPTI_SRC := $(wildcard device/cupti*.c) $(LISTENER_SRC)
$(B)/libprofbpf-cupti.so: $(CUPTI_SRC) $(wildcard device/*.h) flags.mk
	@mkdir -p $(@D)
	$(LAYER) $(CUDA_CPPFLAGS) -o $@ $(CUPTI_SRC) -ldl -pthread

MSPTI_SRC := device/mspti.c $(LISTENER_SRC)
$(B)/libprofbpf-mspti.so: $(MSPTI_SRC) $(wildcard device/*.h) flags.mk
	@mkdir -p $(@D)
	$(LAYER) -o $@ $(MSPTI_SRC) -ldl -pthread

ifneq ($(CUDA_INCLUDE),)
cupti: $(B)/libprofbpf-cupti.so
else
cupti:
	@echo "make cupti: no cupti.h; run make cuda-headers, or name its folder and that of cuda.h in CUDA_INCLUDE" >&2
	@false
endif

cuda-headers:
	tests/tools/fetch-cuda-headers build/cuda-headers

$(PROTO_HDR): $(G)/%.pb-c.h: %.proto
	@mkdir -p $(@D)
	$(PROTOC_C) -I. --c_out=$(G) $<

$(G)/%.pb-c.o: $(G)/%.pb-c.h flags.mk
	$(COMPILE) -c -o $@ $(G)/$*.pb-c.c

# All objects are compiled after the generated headers.
$(O)/%.o: %.c flags.mk | $(PROTO_HDR) $(SKEL)
	@mkdir -p $(@D)
	$(COMPILE) -MMD -MP -c -o $@ $<

$(G)/vmlinux.h:
	@mkdir -p $(@D)
	$(BPFTOOL) btf dump file /sys/kernel/btf/vmlinux format c > $@

$(B)/bpf/%.bpf.o: bpf/%.bpf.c $(G)/vmlinux.h $(wildcard bpf/*.h) flags.mk
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c -o $@ $<

$(B)/bpf/profbpf.o: $(BPF_OBJ)
	$(BPFTOOL) gen object $@ $^

$(B)/bpf/gate_programs.o: $(patsubst %.bpf.c,$(B)/%.bpf.o,$(wildcard bpf/gate/*.bpf.c))
	$(BPFTOOL) gen object $@ $^

$(SKEL): $(G)/bpf/%.skel.h: $(B)/bpf/%.o
	@mkdir -p $(@D)
	$(BPFTOOL) gen skeleton $< name $* > $@

include tests/tests.mk
include tests/gpu/gpu.mk
include tests/bare/bare.mk
include bench/bench.mk
include examples/ascend-sim/ascend-sim.mk
include vmtests/vmtests.mk
include packaging/install.mk
include packaging/dist.mk

# Files that are generated from the sources; the tests compare them.
# Python packages, for notebooks and for the fleet; the latter includes its SQL and the library that draws its page.
# WHEEL_FLAGS=--no-build-isolation uses PYTHON's own setuptools.
PYTHON ?= python3
wheel:
	rm -rf $(B)/python $(B)/fleet $(B)/wheel
	mkdir -p $(B)/python $(B)/fleet
	cp -R python/. LICENSE $(B)/python/
	echo $(VERSION) >$(B)/python/VERSION
	$(PYTHON) -m pip wheel -q --no-deps --disable-pip-version-check $(WHEEL_FLAGS) -w $(B)/wheel $(B)/python
	cp -R fleet/README.md fleet/pyproject.toml fleet/profbpf_fleet LICENSE $(B)/fleet/
	rm -rf $(B)/fleet/profbpf_fleet/__pycache__
	mkdir -p $(B)/fleet/profbpf_fleet/sql
	cp fleet/*.sql $(B)/fleet/profbpf_fleet/sql/
	$(if $(ECHARTS),cp $(ECHARTS) third_party/echarts/[LN]* $(B)/fleet/profbpf_fleet/page/)
	echo $(VERSION) >$(B)/fleet/VERSION
	$(PYTHON) -m pip wheel -q --no-deps --disable-pip-version-check $(WHEEL_FLAGS) -w $(B)/wheel $(B)/fleet

docs: $(B)/analyzer $(B)/profctl
	docs/list_files.py >docs/files.md
	$(B)/analyzer query --schema --format markdown >docs/tables.md
	$(B)/analyzer lake --schema --format markdown >docs/lake.md
	$(B)/analyzer query --schema --format json | docs/man_of_tables.py >docs/man/profbpf-tables.7
	for program in profctl analyzer; do packaging/completions/generate $(B)/$$program packaging/completions; done

help:
	@echo "make all      build profbpfd, profctl, analyzer and the device layers into build/"
	@echo "make cupti    build the CUPTI shim alone, with CUDA_INCLUDE=FOLDERS or after make cuda-headers"
	@echo "make test     run every test; also test-unit, test-e2e (SAN=1: all of it under ASan and UBSan)"
	@echo "make check-long  run the scripts that take long and seldom fail, which make test leaves out"
	@echo "make test-bare  ./setup in a bare Debian 12 of its own (needs root, mmdebstrap, a mirror)"
	@echo "make test-debian13  compile, test and demonstrate this checkout in a fresh Debian 13 (the same needs)"
	@echo "make fuzz     fuzz all that reads what others wrote, each part for FUZZ_SECONDS (default 20)"
	@echo "make fuzz-fast  the same, mostly without AddressSanitizer: several times as many inputs"
	@echo "make wheel    build/wheel/profbpf-*.whl: recordings as Arrow tables and pandas frames (python/README.md);"
	@echo "              profbpf_fleet-*.whl: who holds a distributed job back (fleet/README.md)"
	@echo "make docs     make docs/files.md, docs/tables.md and its manual page, docs/lake.md and the completions of the sources"
	@echo "make bench    measure what a traced call and a context switch cost"
	@echo "make bench-import  measure how fast device files of other profilers are taken in"
	@echo "make bench-insight  plant faults in jobs and see whether they are found (needs root; bench/insight/README.md)"
	@echo "make bench-diff     is it said what changed between recordings, and nothing else? (needs root; bench/diff/README.md)"
	@echo "make ascend-sim  build a simulated Ascend and a job for it (examples/ascend-sim)"
	@echo "make stress   start, stop and kill sessions at random for STRESS_SECONDS (default 300); needs root"
	@echo "make vmtest   boot Debian's kernels from 5.10 to the newest under QEMU and run ground-truth tests on each"
	@echo "make install  install into DESTDIR/PREFIX (default /usr/local); make uninstall removes it"
	@echo "make dist     an archive of the committed sources with ECharts in it, into build/"
	@echo "make deb      Debian's packages of that archive and what each holds, into build/deb (docs/install.md)"
	@echo "make rpm      the same as RPMs, into build/rpm"
	@echo "make image    an OCI image of Debian's packages, on Debian 13: build/profbpf-image.tar (needs root and buildah)"
	@echo "make gpu-kit  the programs for a machine with an NVIDIA GPU and nothing else, for tests/gpu/run (docs/gpu.md)"
	@echo "make clean    remove what was built"
	@echo "CC, CPPFLAGS, CFLAGS and LDFLAGS of the environment or the command line are added to the project's (flags.mk)"
	@echo "WERROR=1: a warning is an error; VERBOSE: nothing is hidden; every command is printed"

clean:
	rm -rf build

-include $(shell find $(B) \( -path $(B)/vm -o -path '$(B)/venv-*' \) -prune -o -name '*.d' -type f -print 2>/dev/null)

.PHONY: all help clean bench cupti cuda-headers docs wheel
