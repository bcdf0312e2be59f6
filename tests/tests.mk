# SPDX-License-Identifier: Apache-2.0
# Tests: unit (cmocka), ground-truth programs and end-to-end scripts.

TEST_LIB_OBJ = $(filter-out $(B)/analyzer/main.o,$(ANALYZER_OBJ)) $(COMMON_OBJ) $(LIB_OBJ)
UNIT := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test_*.c))
TRUTH := $(patsubst tests/truth/%.c,$(B)/tests/truth/%,$(wildcard tests/truth/*.c))

$(B)/tests/unit/%: $(B)/tests/unit/%.o $(B)/tests/unit/trace_builder.o $(TEST_LIB_OBJ)
	$(CC) $(LDFLAGS) -o $@ $^ -lcmocka -lbpf $(LIBS_ANALYZER) -lpthread

# Ground-truth programs are what gets traced: plain code, no sanitizer, symbols kept.
$(B)/tests/truth/%: tests/truth/%.c $(wildcard tests/truth/*.h)
	@mkdir -p $(@D)
	$(CC) -D_GNU_SOURCE -std=gnu11 -O2 -g -Wall -Wextra -Werror -I. -o $@ $< -ldl -pthread

test-programs: $(UNIT) $(TRUTH)

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

# ./setup in a bare Debian 12 of its own: slow, needs root, mmdebstrap and a mirror.
test-bare:
	tests/bare/run

.PHONY: test-programs test-sanitized test check test-unit test-e2e test-bare
