# SPDX-License-Identifier: Apache-2.0
# Measurements: separate programs, never run by the tests. `make bench` prints the cost of a traced call
# and of a context switch; bench/README.md explains the figures. BENCH_OPTIONS goes to bench/run.

BENCH := $(patsubst bench/%.c,$(B)/bench/%,$(wildcard bench/*_bench.c))
BENCH_PROBE := $(patsubst %,$(B)/bench/%,call_target switch_target syscall_target walk_target program_time floor libbench.so interpose.so)

$(B)/bench/pbt_bench: $(O)/bench/pbt_bench.o $(LIB_OBJ)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ $(LIBS_LIB) -lpthread

# An archive: the linker takes only the encoder and its dependencies.
$(O)/bench/libdaemon.a: $(filter-out %/main.o,$(DAEMON_OBJ)) $(COMMON_OBJ)
	@mkdir -p $(@D)
	rm -f $@
	ar rcs $@ $^
$(B)/bench/encode_bench: $(O)/bench/encode_bench.o $(LIB_OBJ) $(O)/bench/libdaemon.a
	@mkdir -p $(@D)
	$(LINK) -o $@ $< $(O)/bench/libdaemon.a $(LIB_OBJ) $(LIBS_DAEMON)

$(B)/bench/%_target: bench/%_target.c bench/target.h
	@mkdir -p $(@D)
	$(CC) $(OUR_CPPFLAGS) -std=gnu11 -O2 -g $(WARN) -o $@ $(filter-out %.h,$^) -Wl,-rpath,'$$ORIGIN' -ldl -pthread

$(B)/bench/walk_target: private WARN += -fno-omit-frame-pointer -pthread

$(B)/bench/program_time: bench/program_time.c bench/target.h
	@mkdir -p $(@D)
	$(CC) $(OUR_CPPFLAGS) -std=gnu11 -O2 -g $(WARN) -o $@ $< -lbpf

# Lazy binding, which tracers inside the process hook.
$(B)/bench/call_target: $(B)/bench/libbench.so
$(B)/bench/call_target: private WARN += -Wl,-z,lazy -fplt

$(B)/bench/interpose.so: bench/interpose.c
	@mkdir -p $(@D)
	$(CC) $(OUR_CPPFLAGS) -std=gnu11 -O2 -g $(WARN) -fPIC -shared -o $@ $< -ldl

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
	$(LINK) -o $@ $^ -lbpf

# Only imports device files.
$(B)/bench/import_take: $(O)/bench/import/take.o $(filter-out %/main.o %/spill_wrap.o,$(ANALYZER_OBJ)) $(LIB_OBJ)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ $(LIBS_ANALYZER)

$(B)/bench/import_launches: $(O)/bench/import/launches.o
	@mkdir -p $(@D)
	$(LINK) -o $@ $^

$(B)/bench/import_floor: $(O)/bench/import/floor.o
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ -lyajl

# Jobs with a planted fault: plain code with symbols, like traced programs.
# A job's device is the library that it finds: a simulated device, an OpenCL device, or the simulated Ascend.
PLANT_LIBRARIES := $(patsubst %,$(B)/bench/insight/%libplant.so,opencl/ ascend/) $(B)/bench/insight/libplant.so
INSIGHT := $(B)/bench/insight/plants $(PLANT_LIBRARIES)
PLANT_LINK = $(CC) $(TRUTH_CFLAGS) -fPIC -shared -fvisibility=hidden -Wl,-soname,libplant.so -o $@ $(filter %.c,$^) -pthread

$(PLANT_LIBRARIES): bench/insight/plant.c $(wildcard bench/insight/plant*.h)
$(B)/bench/insight/libplant.so: bench/insight/plant_simulated.c device/stream_writer.c $(wildcard device/*.h)
	@mkdir -p $(@D)
	$(PLANT_LINK)
$(B)/bench/insight/opencl/libplant.so: bench/insight/plant_opencl.c
	@mkdir -p $(@D)
	$(PLANT_LINK) -lOpenCL
$(B)/bench/insight/ascend/libplant.so: bench/insight/plant_ascend.c | $(B)/ascend-sim/libascendcl.so
	@mkdir -p $(@D)
	$(PLANT_LINK) -L$(B)/ascend-sim -Wl,-rpath-link,$(B)/ascend-sim -Wl,-rpath,'$$ORIGIN/../../../ascend-sim' -lascendcl

$(B)/bench/insight/plants: $(wildcard bench/insight/plants*.c bench/insight/*.h) $(B)/bench/insight/libplant.so
	@mkdir -p $(@D)
	$(CC) $(TRUTH_CFLAGS) -o $@ $(filter %.c,$^) -L$(@D) -Wl,-rpath,'$$ORIGIN' -lplant -pthread

test-programs: $(INSIGHT)

bench-programs: $(BENCH) $(BENCH_PROBE)

bench: $(PROGRAMS) bench-programs
	BUILD=$(B) bench/run $(BENCH_OPTIONS)

# The cost of tracing for training jobs; see --help of the script.
bench-overhead: $(PROGRAMS)
	BUILD=$(B) bench/overhead/run $(BENCH_OPTIONS)

# The speed of importing device files.
bench-import: $(B)/analyzer $(patsubst %,$(B)/bench/import_%,take launches floor)
	BUILD=$(B) bench/import/run $(BENCH_OPTIONS)

# Tests that planted faults are found, and none in healthy jobs.
bench-insight: $(PROGRAMS) $(INSIGHT)
	BUILD=$(B) bench/insight/run $(BENCH_OPTIONS)

# Tests that exactly the changes from one recording to the next are reported.
bench-diff: $(PROGRAMS) $(INSIGHT)
	BUILD=$(B) bench/diff/run $(BENCH_OPTIONS)

.PHONY: bench-programs bench bench-overhead bench-import bench-insight bench-diff
