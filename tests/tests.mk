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

.PHONY: test-programs
