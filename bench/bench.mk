# SPDX-License-Identifier: Apache-2.0
# Measurements: programs of their own, never run by the tests.

BENCH := $(patsubst bench/%.c,$(B)/bench/%,$(wildcard bench/*_bench.c))

$(B)/bench/%: $(O)/bench/%.o $(LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_LIB) -lpthread

bench-programs: $(BENCH)

.PHONY: bench-programs
