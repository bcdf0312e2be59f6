# SPDX-License-Identifier: Apache-2.0
# Measurements: programs of their own, never run by the tests. `make bench` says what a traced call
# and a context switch cost; bench/README.md what the figures mean. BENCH_OPTIONS goes to bench/run.

BENCH := $(patsubst bench/%.c,$(B)/bench/%,$(wildcard bench/*_bench.c))
BENCH_PROBE := $(patsubst %,$(B)/bench/%,call_target switch_target floor libbench.so)

$(B)/bench/%: $(O)/bench/%.o $(LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_LIB) -lpthread

$(B)/bench/%_target: bench/%_target.c bench/target.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -std=gnu11 -O2 -g $(WARN) -o $@ $< -ldl -pthread

$(B)/bench/libbench.so: bench/libbench.S
	@mkdir -p $(@D)
	$(CC) -shared -nostdlib -o $@ $<

$(B)/bench/floor.bpf.o: bench/floor.bpf.c $(G)/vmlinux.h
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c -o $@ $<

$(G)/bench/floor.skel.h: $(B)/bench/floor.bpf.o
	@mkdir -p $(@D)
	$(BPFTOOL) gen skeleton $< name floor > $@

$(O)/bench/floor.o: $(G)/bench/floor.skel.h

$(B)/bench/floor: $(O)/bench/floor.o
	$(CC) $(LDFLAGS) -o $@ $^ -lbpf

bench-programs: $(BENCH) $(BENCH_PROBE)

bench: $(PROGRAMS) bench-programs
	BUILD=$(B) bench/run $(BENCH_OPTIONS)

.PHONY: bench-programs bench
