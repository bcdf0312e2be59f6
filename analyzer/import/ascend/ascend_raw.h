/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_raw.h - what the raw logs of an Ascend have in common: hwts.log.data.*, training_trace.*.
 *
 * Their records are little-endian, their instants the device's counter, 100 of it a microsecond. The
 * number of the device is in the name, before the slice's.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_RAW_H
#define PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/import/importer.h"

#define ASCEND_RAW_TICK_NS 10
#define ASCEND_RAW_CLOCK PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED
#define ASCEND_RAW_SOURCE "hwts" /* of the devices, so that both kinds tell of the same ones */

static inline uint64_t ascend_raw_number(const uint8_t *bytes, size_t size)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)bytes[i] << (8 * i);
	return value;
}

/* "hwts.log.data.45.dev.profiler_default_tag.1.slice_0" is of device 1; 0 where it does not say. */
uint64_t ascend_raw_device(const char *path);

/* ascend_raw_is_part - is it a slice of a log, "hwts.", with others before it? Then it may begin inside a record. */
bool ascend_raw_is_part(const char *path, const char *log);

/*
 * ascend_raw_read - hand out each record of the log, @size bytes of it at a time
 *
 * A log is all slices in a row that stand beside each other, in the order of their numbers; it is read with
 * the first of them that is taken in, the others say so in a finding.
 * What follows damage, and a record that the file ends in, is left out and a finding. Returns 0, what
 * @record returned if that is not 0, or a negative errno with import->error.
 */
int ascend_raw_read(struct import *import, size_t size,
		    int (*record)(void *context, const uint8_t *bytes), void *context);

/*
 * ascend_raw_name - names and types of tasks from row @first on, by Framework.host.vm.task_desc_info.*
 *
 * That file of the framework, beside the log, has operators by its own numbers of stream and task. The
 * hardware's numbers of streams differ by a constant, which is found: the one by which most tasks are
 * found again. Without such a file, or where two constants do equally well, names stay as they are. Returns 0 or
 * -ENOMEM.
 */
int ascend_raw_name(struct import *import, uint64_t device, uint32_t first);

#endif /* PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_RAW_H */
