/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_counters.h - counters in timelines of msprof and torch_npu (events "C"): traffic of memory, links and
 * caches; clocks
 *
 * Each counter becomes facts of its device (device_facts.h), topic "counters": mean, minimum and maximum of its
 * samples. Samples are equidistant, except for "AI Core Freq", which is written when it changes: it has no mean.
 * Names and units: *_assembler.cpp of msprof's analysis/csrc/application/timeline.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_COUNTERS_H
#define PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_COUNTERS_H

#include "analyzer/import/importer.h"
#include "analyzer/import/readers/json_objects.h"
#include "lib/base/map.h"

/* Keys of an event "C", in this order, for the reader's list. */
#define ASCEND_COUNTER_KEYS                                                                              \
	"args.MHz", "args.KB", "args.value", "args.Usage(%)", "args.Read(MB/s)", "args.Write(MB/s)",     \
		"args.Tx(MB/s)", "args.Rx(MB/s)", "args.Throughput(MB/s)", "args.Hit Rate(%)",           \
		"args.Tx", "args.Rx", "args.L2 Buffer Bw Level", "args.Mata Bw Level"
#define ASCEND_COUNTER_COUNT 14

/* Samples of one counter. */
struct ascend_counter {
	uint64_t pid; /* the file's process */
	uint32_t name; /* string */
	uint32_t key; /* index into ASCEND_COUNTER_KEYS */
	uint64_t count;
	double sum, least, greatest;
};

/* Zeroed is empty. */
struct ascend_counters {
	struct map rows; /* hash of pid, name and key -> row */
	MODEL_ARRAY(struct ascend_counter) list;
};

void ascend_counters_free(struct ascend_counters *counters);

/*
 * ascend_counters_add - adds the samples of an event; @values: the values of ASCEND_COUNTER_KEYS. Returns 0 or
 * -ENOMEM.
 */
int ascend_counters_add(struct import *import, struct ascend_counters *counters, uint64_t pid,
			const char *name, const struct json_value *values);

/*
 * ascend_counters_put - adds the facts, after the file's devices, from row @first_device on, are known
 *
 * If there are several devices and @numbered, the device's number is the end of the process number: in newer files
 * (os pid << 10 | sort index << 5 | device). Counters of no device, such as the host's, become facts without a
 * device. Returns 0 or -ENOMEM.
 */
int ascend_counters_put(struct import *import, const struct ascend_counters *counters,
			uint32_t first_device, bool numbered);

#endif /* PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_COUNTERS_H */
