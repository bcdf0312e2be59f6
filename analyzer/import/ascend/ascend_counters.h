/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_counters.h - counters in timelines of msprof and torch_npu (events "C"): what memory, links and caches moved, clocks
 *
 * Each becomes facts of its device (device_facts.h), topic "counters": mean, minimum and maximum of its samples. Samples are of
 * equal distances, but for "AI Core Freq", which is told where it changes: it has no mean. Names and units: *_assembler.cpp of
 * msprof's analysis/csrc/application/timeline.
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
	uint32_t key; /* which of ASCEND_COUNTER_KEYS */
	uint64_t count;
	double sum, least, greatest;
};

/* Zeroed is empty. */
struct ascend_counters {
	struct map rows; /* hash of pid, name and key -> row */
	MODEL_ARRAY(struct ascend_counter) list;
};

void ascend_counters_free(struct ascend_counters *counters);

/* ascend_counters_add - the samples of an event; @values: those of ASCEND_COUNTER_KEYS. 0 or -ENOMEM. */
int ascend_counters_add(struct import *import, struct ascend_counters *counters, uint64_t pid,
			const char *name, const struct json_value *values);

/*
 * ascend_counters_put - facts of all of them, when the file's devices are known: rows from @first_device on
 *
 * Of several devices it is the one whose number the process's ends with, if @numbered: in newer files (os pid << 10 | sort
 * index << 5 | device). Of what is of none of them, as of the host, it is not told whose it is. Returns 0 or -ENOMEM.
 */
int ascend_counters_put(struct import *import, const struct ascend_counters *counters,
			uint32_t first_device, bool numbered);

#endif /* PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_COUNTERS_H */
