/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_raw.h - common functions for raw logs of an Ascend: hwts.log.data.*, training_trace.*.
 *
 * Their records are little-endian; their instants are the device's counter, 100 ticks per microsecond. The device's
 * number is in the name, before the slice's.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_RAW_H
#define PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/import/importer.h"

#define ASCEND_RAW_TICK_NS 10
#define ASCEND_RAW_CLOCK PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED
#define ASCEND_RAW_SOURCE "hwts" /* source of the devices, so that both kinds of logs describe the same devices */

static inline uint64_t ascend_raw_number(const uint8_t *bytes, size_t size)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)bytes[i] << (8 * i);
	return value;
}

/*
 * The device's number: "hwts.log.data.45.dev.profiler_default_tag.1.slice_0" is of device 1; 0 if the name has
 * none.
 */
uint64_t ascend_raw_device(const char *path);

/*
 * ascend_raw_is_part - is the file a slice of a log, "hwts.", and not the first? It may then begin inside a record.
 */
bool ascend_raw_is_part(const char *path, const char *log);

/*
 * ascend_raw_read - calls @record for each record of the log, @size bytes each
 *
 * A log is all slices with consecutive numbers in one folder; it is read when the first of them is imported, and
 * the others are a finding. Records after damage, and an incomplete last record, are skipped, with a finding.
 * Returns 0, the value of @record if it is not 0, or a negative errno with import->error.
 */
int ascend_raw_read(struct import *import, size_t size,
		    int (*record)(void *context, const uint8_t *bytes), void *context);

/*
 * ascend_raw_name - sets names and types of tasks from row @first on, by Framework.host.vm.task_desc_info.*
 *
 * That file of the framework, beside the log, has operators by the framework's numbers of stream and task. The
 * hardware's stream numbers differ by a constant, which is searched for: the constant that matches most tasks.
 * Without such a file, or if two constants match equally well, names are unchanged. Returns 0 or -ENOMEM.
 */
int ascend_raw_name(struct import *import, uint64_t device, uint32_t first);

#endif /* PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_RAW_H */
