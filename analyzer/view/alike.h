/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alike.h - what the text report shows once and counts: ranks that did about the same, advice that differs in its numbers alone.
 *
 * JSON, CSV and the page have all of them.
 */
#ifndef PROFBPF_ANALYZER_VIEW_ALIKE_H
#define PROFBPF_ANALYZER_VIEW_ALIKE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/device/results.h"
#include "analyzer/analyse/pipeline/bottleneck.h"
#include "analyzer/model/model.h"

/* Rows of which one stands for others that are alike. */
struct alike {
	uint32_t *of; /* per row: the row that stands for it, itself if it does */
	uint32_t *count; /* per row: those that it stands for, itself among them */
	uint32_t groups;
};

/*
 * Pieces with one title and remedy whose evidence has the same words; and devices of ranks with the same name, whose time
 * differs by a twentieth at most, their computing and communicating by a tenth of it, their tasks by a hundredth, and their use by
 * one percent of the time, each from the first one's. Return 0 or -ENOMEM; in both cases alike_free() is to be called.
 */
int alike_advice(const struct advice_results *advice, struct alike *alike);
int alike_devices(const struct model *model, const struct device_results *devices, struct alike *alike);
void alike_free(struct alike *alike);

/* ", and 7 more like this" of the row that stands for 8; "" if it stands for itself only. */
void alike_words(const struct alike *alike, uint32_t row, char *into, size_t size);

/* What all devices that one stands for have in common, as ranges. */
struct alike_range {
	double least_percent, most_percent; /* busy */
	uint64_t least_ns, most_ns; /* of their windows */
	uint64_t least_tasks, most_tasks;
};

struct alike_range alike_range_of(const struct device_results *devices, const struct alike *alike,
				  uint32_t row);

/* "3.1 to 3.4", or "3.1" where that is all; returns @into. */
const char *alike_range_text(double least, double most, int decimals, char *into, size_t size);

/* Has another device the same number, and neither a rank? Then their files tell them apart. */
bool device_is_ambiguous(const struct model *model, uint32_t device);
/* Its file, with the folder that that lies in: "host2/report.sqlite"; returns @into. */
const char *device_file_text(const struct model *model, const struct device *device, char *into,
			     size_t size);

/* "0-6, 8" of the ranks that row stands for; cut to @size with "...". */
void alike_ranks(const struct model *model, const struct device_results *devices,
		 const struct alike *alike, uint32_t row, char *into, size_t size);

#endif /* PROFBPF_ANALYZER_VIEW_ALIKE_H */
