# SPDX-License-Identifier: Apache-2.0
# Tests: unit (cmocka), ground-truth programs and end-to-end scripts.

TEST_LIB_OBJ = $(filter-out %/main.o %/spill_wrap.o,$(ANALYZER_OBJ)) $(COMMON_OBJ) $(LIB_OBJ)
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
TRUTH_SO := $(patsubst tests/truth/%.c,$(B)/tests/truth/%.so,$(wildcard tests/truth/lib*.c)) $(B)/tests/truth/guarded/libtruth.so
# Against NVIDIA's headers.
ifeq ($(CUDA_INCLUDE),)
TRUTH_SO := $(filter-out %/libcupti_truth.so,$(TRUTH_SO))
endif

# An archive: a test takes what it needs, and links in a fraction of the time.
TEST_LIB := $(O)/tests/libtest.a
$(TEST_LIB): $(TEST_LIB_OBJ) $(UNIT_HELP)
	@mkdir -p $(@D)
	rm -f $@
	ar rcs $@ $^

$(B)/tests/unit/%: $(O)/tests/unit/%.o $(TEST_LIB)
	@mkdir -p $(@D)
	$(LINK) -o $@ $(filter-out $(TEST_LIB),$^) $(TEST_LIB) -lcmocka -lbpf $(LIBS_ANALYZER) -lpthread

# Ground-truth programs are what gets traced: plain code, no sanitizer, symbols kept.
TRUTH_CFLAGS := -D_GNU_SOURCE -std=gnu11 -O2 -g -Wall -Wextra $(WERROR_FLAG) -Wno-unused-parameter -I.

$(B)/tests/truth/lib%.so: tests/truth/lib%.c $(wildcard tests/truth/*.h)
	@mkdir -p $(@D)
	$(CC) $(TRUTH_CFLAGS) -fPIC -shared -Wl,-soname,lib$*.so -o $@ $<

# Its calls end where the stack protector compares, on kernels that step over returns.
$(B)/tests/truth/guarded/lib%.so: tests/truth/lib%.c $(wildcard tests/truth/*.h)
	@mkdir -p $(@D)
	$(CC) $(TRUTH_CFLAGS) -fstack-protector-all -fPIC -shared -Wl,-soname,lib$*.so -o $@ $<

$(B)/tests/truth/%: tests/truth/%.c $(wildcard tests/truth/*.h) $(B)/tests/truth/libtruth.so
	@mkdir -p $(@D)
	$(CC) $(TRUTH_CFLAGS) -o $@ $< -L$(B)/tests/truth -Wl,-rpath,'$$ORIGIN' -Wl,--as-needed -ltruth -ldl -pthread \
		$(TRUTH_LIBS)

$(B)/tests/truth/libcupti_truth.so: TRUTH_CFLAGS += $(CUDA_CPPFLAGS)

# Its stacks are walked by frame pointers.
$(B)/tests/truth/call_chain $(B)/tests/truth/returns $(B)/tests/truth/kernel_places: TRUTH_CFLAGS += -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls
$(B)/tests/truth/opencl_known $(B)/tests/truth/opencl_loop: TRUTH_LIBS := -lOpenCL
# It is a device itself.
$(B)/tests/truth/roots: TRUTH_LIBS := device/stream_writer.c
$(B)/tests/truth/roots: device/stream_writer.c $(wildcard device/*.h)

# The writer of device streams is compiled into the test: its other end is a layer.
DEVICE_STREAM_OBJ := $(call named,device_stream device_find device_tid,$(DAEMON_OBJ))
$(patsubst %,$(B)/tests/unit/test_%,device_stream device_stream_hostile stream_writer device_feed): \
	$(DEVICE_STREAM_OBJ) $(O)/device/stream_writer.o
$(B)/tests/unit/test_device_feed: $(call named,device_feed item trace_values,$(DAEMON_OBJ))
$(B)/tests/unit/test_access: $(call named,access,$(DAEMON_OBJ))
ENCODE_OBJ := encode trace_values encode_records coder packed item texts encode_stack sleep_objects drivers encode_block message_buffer interrupt_names socket_peers mapped_files
$(patsubst %,$(B)/tests/unit/test_%,encode shapes waits trace_values): $(call named,$(ENCODE_OBJ),$(DAEMON_OBJ))
$(B)/tests/unit/test_writer: $(call named,writer priority step_gate repeated_bodies known_tasks trace_output ends left_out driver_message statistics_message flight_store flight_window trigger_watch triggers wait_shares live_figures host_stats $(ENCODE_OBJ),$(DAEMON_OBJ))
$(B)/tests/unit/test_trigger_watch: $(call named,trigger_watch triggers wait_shares item live_figures texts,$(DAEMON_OBJ))
$(B)/tests/unit/test_step_gate: $(call named,step_gate item texts,$(DAEMON_OBJ))
$(B)/tests/unit/test_metric_watch: $(call named,metric_watch triggers,$(DAEMON_OBJ))
$(B)/tests/unit/test_known_tasks: $(call named,known_tasks item,$(DAEMON_OBJ))
$(B)/tests/unit/test_flight_store: $(call named,statistics_message flight_store flight_window trace_output,$(DAEMON_OBJ))
$(B)/tests/unit/test_python_read: $(call named,python_read python_line python_offsets,$(DAEMON_OBJ))
$(B)/tests/unit/test_python_live: $(call named,python_live python_offsets,$(DAEMON_OBJ))
$(B)/tests/unit/test_stack_merge: $(call named,stack_merge,$(DAEMON_OBJ))
$(B)/tests/unit/test_clock_judge: $(O)/device/clock_judge.o
$(B)/tests/unit/test_fuzz_import: $(O)/tests/fuzz/fuzz_import.o $(O)/tests/fuzz/input.o $(O)/tests/fuzz/rows.o
$(B)/tests/unit/test_hot_functions: $(call named,hot_functions,$(DAEMON_OBJ))
$(B)/tests/unit/test_shedding: $(call named,shedding run_prices,$(DAEMON_OBJ))
$(B)/tests/unit/test_kernel_names: $(call named,kernel_names,$(DAEMON_OBJ))
$(B)/tests/unit/test_table_shares: $(call named,table_shares,$(DAEMON_OBJ))
$(B)/tests/unit/test_hinted_libraries: $(call named,hinted_libraries,$(DAEMON_OBJ))
$(B)/tests/unit/test_word_room: $(call named,word_room,$(DAEMON_OBJ))
$(B)/tests/unit/test_rule_numbers: $(call named,rule_numbers,$(DAEMON_OBJ))
$(B)/tests/unit/test_seen_code: $(call named,seen_code,$(DAEMON_OBJ))
$(B)/tests/unit/test_generated_code: $(call named,generated_code,$(DAEMON_OBJ))
$(B)/tests/unit/test_unwind_files: $(call named,unwind_files file_keys file_source vdso_copy unwind_store generated_code table_shares word_room rule_numbers,$(DAEMON_OBJ))
$(B)/tests/unit/test_unwind_store: $(call named,unwind_store table_shares word_room rule_numbers,$(DAEMON_OBJ))
$(B)/tests/unit/test_unwinder: $(call named,unwinder unwinder_sessions unwinder_derive seen_code programs priority unwind_files file_keys file_source vdso_copy unwind_store generated_code table_shares word_room rule_numbers,$(DAEMON_OBJ))
$(B)/tests/unit/test_quotas: $(call named,quotas,$(DAEMON_OBJ))
$(B)/tests/unit/test_job_queue: $(call named,job_queue priority,$(DAEMON_OBJ))
$(B)/tests/unit/test_mentioned_types: $(call named,mentioned_types,$(DAEMON_OBJ))
$(B)/tests/unit/test_file_cache: $(call named,file_cache,$(DAEMON_OBJ))
$(B)/tests/unit/test_code_names: $(call named,code_names item,$(DAEMON_OBJ))
$(B)/tests/unit/test_obstacles: $(call named,obstacles,$(DAEMON_OBJ))
$(B)/tests/unit/test_refusal: $(call named,refusal,$(DAEMON_OBJ))
$(B)/tests/unit/test_top_state: $(call named,top_state top_frame top_rows top_calls,$(PROFCTL_OBJ))
$(B)/tests/unit/test_live_pipeline: $(call named,top_calls,$(PROFCTL_OBJ))
$(B)/tests/unit/test_top_view: $(call named,top_view top_order top_job message,$(PROFCTL_OBJ))
$(patsubst %,$(B)/tests/unit/test_%,cgroups container_names): $(call named,cgroups container_names json_strings item,$(DAEMON_OBJ))
$(B)/tests/unit/test_process_labels: $(call named,process_labels,$(DAEMON_OBJ))
$(B)/tests/unit/test_user_rules: $(call named,user_rules,$(DAEMON_OBJ))
$(B)/tests/unit/test_socket_peers: $(call named,socket_peers,$(DAEMON_OBJ))
$(B)/tests/unit/test_live_figures: $(call named,live_figures item texts,$(DAEMON_OBJ))
$(B)/tests/unit/test_metrics_figures: $(call named,process_figures process_labels,$(DAEMON_OBJ))
$(B)/tests/unit/test_packed: $(call named,packed,$(DAEMON_OBJ))
$(B)/tests/unit/test_pids: $(call named,pids,$(PROFCTL_OBJ))
$(B)/tests/unit/test_groups: $(call named,groups pids,$(PROFCTL_OBJ)) $(call named,process_check,$(COMMON_OBJ))
$(B)/tests/unit/test_progress: $(call named,live_line message,$(PROFCTL_OBJ))
$(B)/tests/unit/test_top_order: $(call named,top_order,$(PROFCTL_OBJ))
$(B)/tests/unit/test_probed_process: $(call named,probed_process,$(DAEMON_OBJ))
$(B)/tests/unit/test_link_closer: $(call named,link_closer,$(DAEMON_OBJ))
$(B)/tests/unit/test_buffer_losses: $(call named,buffer_losses,$(DAEMON_OBJ))
$(B)/tests/unit/test_map_events: $(call named,map_events priority,$(DAEMON_OBJ))
$(B)/tests/unit/test_prober: $(call named,prober,$(DAEMON_OBJ))
$(B)/tests/unit/test_probes_follow: $(call named,probes_follow probed_process,$(DAEMON_OBJ))
$(B)/tests/unit/test_probe_link: $(call named,probe_link probe_target probed_place,$(DAEMON_OBJ)) $(call named,process_check,$(COMMON_OBJ))
$(B)/tests/unit/test_memory_pages: $(call named,memory_pages,$(DAEMON_OBJ))
$(B)/tests/unit/test_interpreters: $(call named,interpreters memory_pages,$(DAEMON_OBJ))
$(B)/tests/unit/test_thread_awake: $(call named,thread_awake,$(DAEMON_OBJ))
$(B)/tests/unit/test_thread_roles: $(call named,mindspore_tasks process_symbol item,$(DAEMON_OBJ))
$(B)/tests/unit/test_stack_places: $(call named,stack_places stack_table item,$(DAEMON_OBJ))
$(B)/tests/unit/test_sleeper_walk: $(call named,sleeper_walk,$(DAEMON_OBJ))
$(B)/tests/unit/test_texts: $(call named,texts,$(DAEMON_OBJ))
$(B)/tests/unit/test_kept_names: $(call named,kept_names,$(DAEMON_OBJ))
$(B)/tests/unit/test_recorder: $(call named,recorder texts item process_info code_names,$(DAEMON_OBJ))

TOOLS := $(B)/tests/tools/stream_dump
$(B)/tests/tools/stream_dump: $(O)/tests/tools/stream_dump.o $(DEVICE_STREAM_OBJ)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^

TOOLS += $(B)/tests/tools/make_trace $(B)/tests/tools/make_joins $(B)/tests/tools/make_every $(B)/tests/tools/make_random $(B)/tests/tools/make_hour
$(B)/tests/tools/make_trace $(B)/tests/tools/make_hour $(B)/tests/tools/make_joins $(B)/tests/tools/make_every $(B)/tests/tools/make_random: $(B)/tests/tools/%: $(O)/tests/tools/%.o $(O)/tests/unit/trace_builder.o $(O)/tests/unit/trace_batch.o $(LIB_OBJ)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ $(LIBS_LIB)

$(B)/tests/tools/make_every $(B)/tests/tools/make_random: $(O)/tests/tools/every_host.o
$(B)/tests/tools/make_random: $(O)/tests/tools/random_kernel.o $(O)/tests/tools/random_code.o

TOOLS += $(B)/tests/tools/lose_calls
$(B)/tests/tools/lose_calls: $(O)/tests/tools/lose_calls.o $(call named,call_columns,$(ANALYZER_OBJ)) $(LIB_OBJ)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ $(LIBS_LIB)

test-programs: $(UNIT) $(TRUTH) $(TRUTH_SO) $(TOOLS)

# Unit tests run plain and sanitised; scripts run the plain programs and, where input is
# hostile, the sanitised ones. `make test SAN=1` runs everything on the sanitised programs.
RUN_TESTS = BUILD=$(B) SAN_BUILD=build/san tests/run

# No more of them than those two kinds of tests run.
san-programs: $(UNIT) $(B)/analyzer
test-sanitized:
	$(MAKE) SAN=1 san-programs

ifeq ($(SAN),1)
test: test-unit test-e2e
else
test: all test-programs test-sanitized fuzz-daemon
	$(RUN_TESTS)
endif

check: test

# What takes long and seldom fails, which `make test` leaves out; see tests/run. MindSpore 2.0 is traced there alone.
check-long: all test-programs test-sanitized fuzz-programs
	-tests/tools/make-venv mindspore20
	$(RUN_TESTS) --long e2e

test-unit: test-programs
	$(RUN_TESTS) unit

test-e2e: all test-programs test-sanitized fuzz-daemon
	$(RUN_TESTS) e2e

# Sessions started, stopped and killed at random for STRESS_SECONDS; `make test` has a short one.
STRESS_SECONDS := 300
stress: all test-programs
	BUILD=$(B) STRESS_SECONDS=$(STRESS_SECONDS) tests/e2e/stress.sh

# Fuzzing needs clang's libFuzzer (Debian: libclang-rt-dev). `make fuzz` is a short run that goes on
# from the last one's inputs, `make fuzz FUZZ_SECONDS=600` a longer one; finds are in build/fuzz/corpus.
FUZZ := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SECONDS := 20
FUZZ_FLAGS := -std=gnu11 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all \
	-Wall -Wextra $(WERROR_FLAG) -Wno-unused-parameter -Wno-missing-field-initializers
FUZZ_LIB_OBJ = $(patsubst $(O)/%,$(B)/fuzz/o/%,$(filter-out %/main.o %/spill_wrap.o,$(ANALYZER_OBJ)) $(LIB_OBJ))

$(B)/fuzz/o/%.o: %.c | $(PROTO_HDR)
	@mkdir -p $(@D)
	$(CLANG) $(OUR_CPPFLAGS) $(FUZZ_FLAGS) $(FUZZ_COVERAGE) -MMD -MP -c -o $@ $<
$(B)/fuzz/o/%.o: $(G)/%.c
	@mkdir -p $(@D)
	$(CLANG) $(OUR_CPPFLAGS) $(FUZZ_FLAGS) $(FUZZ_COVERAGE) -c -o $@ $<
-include $(shell find $(B)/fuzz/o -name '*.d' 2>/dev/null)

# Of an archive only what a target needs is linked: libFuzzer looks at all counters after each input.
$(B)/fuzz/analyzer.a: $(FUZZ_LIB_OBJ) $(patsubst %,$(B)/fuzz/o/tests/fuzz/%.o,input input_files rows)
	@rm -f $@
	ar rcs $@ $^
$(B)/fuzz/%: $(B)/fuzz/o/tests/fuzz/%.o $(B)/fuzz/analyzer.a
	$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS_ANALYZER)

# Stands in for files and databases; not of the archive, so that it comes before what it stands in for.
FUZZ_VIRTUAL := fuzz_importer sqlite_memory virtual_files virtual_database
FUZZ_WRAP := $(patsubst %,-Wl$(comma)--wrap=%,stat access fopen opendir readdir rewinddir closedir scandir glob \
	globfree getrandom sysconf sqlite3_close)
$(B)/fuzz/fuzz_importer: $(patsubst %,$(B)/fuzz/o/tests/fuzz/%.o,$(FUZZ_VIRTUAL)) $(B)/fuzz/analyzer.a
	$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer $(FUZZ_WRAP) -o $@ $^ $(LIBS_ANALYZER)

# What root's daemon reads of others. Each is linked with its part of the daemon; a target may stand in
# for functions of files that are not in this list, or, by --wrap, for those of files that are.
FUZZ_DAEMON := catalog code control elf maps memory proc python stream
FUZZ_DAEMON_OBJ = $(COMMON_OBJ) $(LIB_OBJ) $(call named,access answer cgroups connection container_names \
	device_stream device_tid features held hinted_libraries item json_strings kernel_types mindspore_tasks obstacles priority process_info \
	process_symbol python_line python_offsets python_read quotas request_start requests roster \
	roster_entry services snapshots statistics_message trace_output trigger_files trigger_requests triggers,$(DAEMON_OBJ))
FUZZ_WRAP_PROCESS := open fopen opendir stat
FUZZ_WRAP_control := catalog_set_load process_facts_read process_hold process_gone process_runs obstacles_look obstacles_text descriptors_drop
FUZZ_WRAP_elf := open
FUZZ_WRAP_memory := $(FUZZ_WRAP_PROCESS)
FUZZ_WRAP_proc := $(FUZZ_WRAP_PROCESS)
$(B)/tests/unit/test_fuzz_import: $(O)/tests/fuzz/input_files.o
$(patsubst $(O)/%,$(B)/fuzz/o/%,$(FUZZ_DAEMON_OBJ)) $(patsubst $(O)/%,$(B)/fuzz/fast/o/%,$(FUZZ_DAEMON_OBJ)): | $(PROTO_HDR)
$(B)/fuzz/daemon.a: $(FUZZ_DAEMON_OBJ:$(O)/%=$(B)/fuzz/o/%) $(patsubst %,$(B)/fuzz/o/tests/fuzz/%.o,input virtual_process)
	@rm -f $@
	ar rcs $@ $^
$(patsubst %,$(B)/fuzz/fuzz_%,$(FUZZ_DAEMON)): $(B)/fuzz/fuzz_%: $(B)/fuzz/o/tests/fuzz/fuzz_%.o $(B)/fuzz/daemon.a
	$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer $(FUZZ_WRAP_$*:%=-Wl$(comma)--wrap=%) -o $@ $^ -lbpf $(LIBS_LIB) -lyajl -lpthread

# What makes inputs is not what is tried.
FUZZ_COVERAGE = -fsanitize=fuzzer-no-link
FUZZ_FAST_COVERAGE = -fsanitize-coverage=inline-8bit-counters,pc-table
FUZZ_MAKERS := input input_files rows virtual_process $(FUZZ_VIRTUAL) $(FUZZ_DAEMON:%=fuzz_%)
$(foreach folder,o fast/o,$(patsubst %,$(B)/fuzz/$(folder)/tests/fuzz/%.o,$(FUZZ_MAKERS))): FUZZ_COVERAGE :=
$(foreach folder,o fast/o,$(patsubst %,$(B)/fuzz/$(folder)/tests/fuzz/%.o,$(FUZZ_MAKERS))): FUZZ_FAST_COVERAGE :=

# The same to try several times as many inputs a second: without AddressSanitizer, and without
# libFuzzer being told of comparisons. UndefinedBehaviorSanitizer ends the program where it finds something.
FUZZ_FAST_FLAGS := $(patsubst -O1,-O2,$(filter-out -fsanitize% -fno-sanitize%,$(FUZZ_FLAGS))) \
	-fsanitize=undefined -fsanitize-trap=undefined
FUZZ_FAST_CC = $(CLANG) $(OUR_CPPFLAGS) $(FUZZ_FAST_FLAGS) $(FUZZ_FAST_COVERAGE)
$(B)/fuzz/fast/o/%.o: %.c | $(PROTO_HDR)
	@mkdir -p $(@D)
	$(FUZZ_FAST_CC) -MMD -MP -c -o $@ $<
$(B)/fuzz/fast/o/%.o: $(G)/%.c
	@mkdir -p $(@D)
	$(FUZZ_FAST_CC) -c -o $@ $<
-include $(shell find $(B)/fuzz/fast/o -name '*.d' 2>/dev/null)

$(B)/fuzz/fast/analyzer.a: $(FUZZ_LIB_OBJ:$(B)/fuzz/o/%=$(B)/fuzz/fast/o/%) \
	$(patsubst %,$(B)/fuzz/fast/o/tests/fuzz/%.o,input input_files rows)
	@rm -f $@
	ar rcs $@ $^
$(B)/fuzz/fast/fuzz_importer: $(patsubst %,$(B)/fuzz/fast/o/tests/fuzz/%.o,$(FUZZ_VIRTUAL)) $(B)/fuzz/fast/analyzer.a
	$(CLANG) $(FUZZ_FAST_FLAGS) -fsanitize=fuzzer $(FUZZ_WRAP) -o $@ $^ $(LIBS_ANALYZER)

$(B)/fuzz/fast/daemon.a: $(FUZZ_DAEMON_OBJ:$(O)/%=$(B)/fuzz/fast/o/%) \
	$(patsubst %,$(B)/fuzz/fast/o/tests/fuzz/%.o,input virtual_process)
	@rm -f $@
	ar rcs $@ $^
FUZZ_FAST := $(patsubst %,$(B)/fuzz/fast/fuzz_%,$(FUZZ_DAEMON))
$(FUZZ_FAST): $(B)/fuzz/fast/fuzz_%: $(B)/fuzz/fast/o/tests/fuzz/fuzz_%.o $(B)/fuzz/fast/daemon.a
	$(CLANG) $(FUZZ_FAST_FLAGS) -fsanitize=fuzzer $(FUZZ_WRAP_$*:%=-Wl$(comma)--wrap=%) -o $@ $^ -lbpf $(LIBS_LIB) -lyajl -lpthread

fuzz: $(FUZZ)
	BUILD=$(B) tests/fuzz/run --seconds $(FUZZ_SECONDS)
fuzz-fast: $(FUZZ) $(B)/fuzz/fast/fuzz_importer $(FUZZ_FAST)
	BUILD=$(B) tests/fuzz/run --fast --seconds $(FUZZ_SECONDS)

# For the short run of `make check-long`: where clang has no libFuzzer, that is skipped.
fuzz-programs:
	$(call FUZZ_MAKE,$(FUZZ))

# For that of `make test`: what root's daemon reads. The analyzer's targets have to be compiled, but its parts are many.
FUZZ_SOURCES := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
fuzz-daemon:
	$(call FUZZ_MAKE,$(patsubst %,$(B)/fuzz/fuzz_%,$(FUZZ_DAEMON)) $(patsubst %,$(B)/fuzz/o/tests/fuzz/%.o,$(FUZZ_SOURCES)))

define FUZZ_MAKE
@mkdir -p $(B)/fuzz
+@if echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | \
	$(CLANG) -fsanitize=fuzzer -x c -o $(B)/fuzz/probe - 2>/dev/null; \
then $(MAKE) $(1); else echo "no libFuzzer (Debian: libclang-rt-dev): no fuzz targets"; fi
endef

# Real device files, which are not in the repository, against figures known of them.
rehearse: all
	BUILD=$(B) tests/tools/rehearse $(FILES)

# Every victim of tests/victims, attached to 50 times, and what became of it as a table: half an hour.
victims: all
	BUILD=$(B) PROFBPF_VICTIMS=long tests/victims/run

# ./setup in a bare Debian 12 of its own: slow, needs root, mmdebstrap and a mirror.
test-bare:
	tests/bare/run

# Frameworks that some end-to-end scripts trace; without them these scripts are skipped.
venv-torch venv-tensorflow venv-megengine venv-mindspore20 venv-mindinsight venv-msprof venv-greenlet venv-parquet venv-fleet venv-nats venv-spark venv-python3.14:
	tests/tools/make-venv $(@:venv-%=%)

.PHONY: venv-torch venv-tensorflow venv-megengine venv-mindspore20 venv-mindinsight venv-msprof venv-greenlet venv-parquet venv-fleet venv-nats venv-spark venv-python3.14
.PHONY: victims test-programs san-programs test-sanitized test check check-long test-unit test-e2e test-bare stress fuzz fuzz-fast fuzz-programs fuzz-daemon rehearse

# Slips planted in the analyzer, one at a time; MUTANT_OPTIONS goes to tests/mutants.
mutants: $(B)/analyzer $(TEST_LIB)
	tests/mutants $(MUTANT_OPTIONS)
.PHONY: mutants
