# SPDX-License-Identifier: Apache-2.0
# Tests: unit (cmocka), ground-truth programs and end-to-end scripts.

TEST_LIB_OBJ = $(filter-out $(O)/analyzer/main.o,$(ANALYZER_OBJ)) $(COMMON_OBJ) $(LIB_OBJ)
UNIT := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test_*.c))
UNIT_HELP := $(patsubst %.c,$(O)/%.o,$(filter-out tests/unit/test_%.c,$(wildcard tests/unit/*.c)))

# Perfetto's format as the tests read it; its writer has no schema.
TEST_PROTO := $(G)/tests/unit/perfetto_subset.pb-c
UNIT_HELP += $(TEST_PROTO).o
$(TEST_PROTO).h: $(G)/%.pb-c.h: %.proto
	@mkdir -p $(@D)
	$(PROTOC_C) -I. --c_out=$(G) $<
$(patsubst %,$(O)/tests/unit/%.o,perfetto_read test_perfetto test_perfetto_hostile): | $(TEST_PROTO).h

TRUTH := $(patsubst tests/truth/%.c,$(B)/tests/truth/%,$(filter-out tests/truth/lib%.c,$(wildcard tests/truth/*.c)))
TRUTH_SO := $(patsubst tests/truth/%.c,$(B)/tests/truth/%.so,$(wildcard tests/truth/lib*.c))

$(B)/tests/unit/%: $(O)/tests/unit/%.o $(UNIT_HELP) $(TEST_LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -lcmocka -lbpf $(LIBS_ANALYZER) -lpthread

# Ground-truth programs are what gets traced: plain code, no sanitizer, symbols kept.
TRUTH_CFLAGS := -D_GNU_SOURCE -std=gnu11 -O2 -g -Wall -Wextra -Werror -Wno-unused-parameter -I.

$(B)/tests/truth/lib%.so: tests/truth/lib%.c $(wildcard tests/truth/*.h)
	@mkdir -p $(@D)
	$(CC) $(TRUTH_CFLAGS) -fPIC -shared -Wl,-soname,lib$*.so -o $@ $<

$(B)/tests/truth/%: tests/truth/%.c $(wildcard tests/truth/*.h) $(B)/tests/truth/libtruth.so
	@mkdir -p $(@D)
	$(CC) $(TRUTH_CFLAGS) -o $@ $< -L$(B)/tests/truth -Wl,-rpath,'$$ORIGIN' -Wl,--as-needed -ltruth -ldl -pthread \
		$(TRUTH_LIBS)

$(B)/tests/truth/opencl_known: TRUTH_LIBS := -lOpenCL

# The writer of device streams is compiled into the test: its other end is a layer.
DEVICE_STREAM_OBJ := $(patsubst %,$(O)/daemon/profbpfd/device_%.o,stream find tid)
$(patsubst %,$(B)/tests/unit/test_%,device_stream device_stream_hostile stream_writer): \
	$(DEVICE_STREAM_OBJ) $(O)/device/stream_writer.o
$(B)/tests/unit/test_access: $(O)/daemon/profbpfd/access.o
$(B)/tests/unit/test_encode: $(patsubst %,$(O)/daemon/profbpfd/%.o,encode encode_records packed item texts)
$(B)/tests/unit/test_clock_judge: $(O)/device/clock_judge.o
$(B)/tests/unit/test_packed: $(O)/daemon/profbpfd/packed.o

TOOLS := $(B)/tests/tools/stream_dump
$(B)/tests/tools/stream_dump: $(O)/tests/tools/stream_dump.o $(DEVICE_STREAM_OBJ)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^

TOOLS += $(B)/tests/tools/make_trace
$(B)/tests/tools/make_trace: $(O)/tests/tools/make_trace.o $(O)/tests/unit/trace_builder.o $(O)/tests/unit/trace_batch.o $(LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_LIB)

test-programs: $(UNIT) $(TRUTH) $(TRUTH_SO) $(TOOLS)

# Unit tests run plain and sanitised; scripts run the plain programs and, where input is
# hostile, the sanitised ones. `make test SAN=1` runs everything on the sanitised programs.
RUN_TESTS = BUILD=$(B) SAN_BUILD=build/san tests/run

test-sanitized:
	$(MAKE) SAN=1 all test-programs

ifeq ($(SAN),1)
test: test-unit test-e2e
else
test: all test-programs test-sanitized
	$(RUN_TESTS)
endif

check: test

test-unit: test-programs
	$(RUN_TESTS) unit

test-e2e: all test-programs test-sanitized
	$(RUN_TESTS) e2e

# Fuzzing needs clang's libFuzzer (Debian: libclang-rt-14-dev). `make fuzz` is a short run that goes
# on from the last one's inputs, `make fuzz FUZZ_SECONDS=600` a longer one; finds are in build/fuzz/.
FUZZ := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SECONDS := 20
FUZZ_OPTIONS = -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -timeout=20 -print_final_stats=1
FUZZ_FLAGS := -std=gnu11 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	-Wall -Wextra -Werror -Wno-unused-parameter -Wno-missing-field-initializers

$(B)/fuzz/%: tests/fuzz/%.c $(wildcard lib/pbt*.c lib/pbt*.h) lib/file_magic.c $(G)/proto/trace.pb-c.h
	@mkdir -p $(@D)
	$(CLANG) $(CPPFLAGS) $(FUZZ_FLAGS) -o $@ $< $(wildcard lib/pbt*.c) lib/file_magic.c \
		$(G)/proto/trace.pb-c.c -lprotobuf-c -lzstd -lz

fuzz: $(FUZZ)
	set -e; for f in $(FUZZ); do mkdir -p $$f.corpus; \
		$$f $(FUZZ_OPTIONS) -dict=tests/fuzz/$$(basename $$f).dict -artifact_prefix=$$f. $$f.corpus; \
	done

# ./setup in a bare Debian 12 of its own: slow, needs root, mmdebstrap and a mirror.
test-bare:
	tests/bare/run

.PHONY: test-programs test-sanitized test check test-unit test-e2e test-bare fuzz
