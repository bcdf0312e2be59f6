/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alike.h - groups rows that the text report shows once with a count: ranks with about the same figures, advice that
 * differs only in its numbers.
 *
 * JSON, CSV and the page contain all rows.
 */
#ifndef PROFBPF_ANALYZER_VIEW_ALIKE_H
#define PROFBPF_ANALYZER_VIEW_ALIKE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/device/results.h"
#include "analyzer/analyse/pipeline/bottleneck.h"
#include "analyzer/model/model.h"

/* Groups of alike rows, each represented by one row. */
struct alike {
	uint32_t *of; /* by row: the row that represents it, itself if it does */
	uint32_t *count; /* by row: number of rows that it represents, including itself */
	uint32_t groups;
};

/*
 * alike_advice, alike_devices - find groups of alike rows
 *
 * Pieces of advice are alike if they have one title and remedy and their evidence has the same words. Devices of ranks
 * are alike if they have the same name and differ from the first one's values by at most: a twentieth in time, a tenth
 * of the time in computing and communicating, a hundredth in tasks, one percent of the time in use. Return 0 or
 * -ENOMEM; in both cases the caller calls alike_free().
 */
int alike_advice(const struct advice_results *advice, struct alike *alike);
int alike_devices(const struct model *model, const struct device_results *devices, struct alike *alike);
void alike_free(struct alike *alike);

/* Writes ", and 7 more like this" for a row that represents 8; "" if it represents only itself. */
void alike_words(const struct alike *alike, uint32_t row, char *into, size_t size);

/* Ranges of figures over the devices that a row represents. */
struct alike_range {
	double least_percent, most_percent; /* busy share */
	uint64_t least_ns, most_ns; /* length of their windows */
	uint64_t least_tasks, most_tasks;
};

struct alike_range alike_range_of(const struct device_results *devices, const struct alike *alike,
				  uint32_t row);

/* Size of a buffer for device_words(). */
#define DEVICE_WORDS 512
/* Writes "Device 0 (rank 3)", or with its file if devices of that number differ in this alone; returns @into. */
const char *device_words(const struct model *model, uint32_t device, char *into, size_t size);

/* Writes "3.1 to 3.4", or "3.1" if both are equal; returns @into. */
const char *alike_range_text(double least, double most, int decimals, char *into, size_t size);

/* Writes the same of its window, "2.031 to 2.052 s", as text_window() does; returns @into. */
const char *alike_window_text(const struct alike_range *range, char *into, size_t size);

/* Does another device have the same number, and neither has a rank? Then only their files distinguish them. */
bool device_is_ambiguous(const struct model *model, uint32_t device);
/*
 * Writes the device's file with its folder, "host2/report.sqlite", and with further ones if files of other devices with
 * this number end in the same way; returns @into.
 */
const char *device_file_text(const struct model *model, const struct device *device, char *into,
			     size_t size);

/* Writes the ranks that the row represents, "0-6, 8"; cut to @size with "...". */
void alike_ranks(const struct model *model, const struct device_results *devices,
		 const struct alike *alike, uint32_t row, char *into, size_t size);

#endif /* PROFBPF_ANALYZER_VIEW_ALIKE_H */
