/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of a device's reads from its queue of batches, by MindSpore's profiler (MindInsight: the page of get_next).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/device_facts.h"
#include "analyzer/import/mindspore/minddata_folder.h"

#define READ "GetNext" /* prefix of the names of reads; other lines are other operators */

struct sums {
	uint64_t reads;
	uint64_t sized; /* reads with a known queue size */
	uint64_t empty;
	uint64_t ns;
};

static int take_line(struct minddata_rank *rank, const char *line, int power, struct sums *sums)
{
	struct imported_read read = { .process = rank->process, .size = INDEX_NONE };
	char start[32], end[32];
	int64_t start_ns, end_ns;
	uint32_t size;
	int told = sscanf(line, "%*s %31s %31s %" SCNu32, start, end, &size);

	if (told < 2 || !decimal_scaled(start, strlen(start), power, &start_ns) ||
	    !decimal_scaled(end, strlen(end), power, &end_ns) || start_ns < 0 || end_ns < start_ns)
		return import_finding(rank->import, "reads by the device without usable times", line);
	read.start_ns = (uint64_t)start_ns;
	read.end_ns = (uint64_t)end_ns;
	if (told == 3)
		read.size = size;
	sums->reads++;
	sums->sized += told == 3;
	sums->empty += told == 3 && size == 0;
	sums->ns += read.end_ns - read.start_ns;
	return MODEL_PUSH(&rank->import->model->imported_reads, read) ? 0 : -ENOMEM;
}

static int put_sums(struct minddata_rank *rank, const struct sums *sums)
{
	char topic[64];
	int err;

	if (!sums->reads)
		return 0;
	snprintf(topic, sizeof(topic), "GetNext of rank %u", rank->number);
	err = device_fact_number(rank->import, INDEX_NONE, topic, "reads", "", (double)sums->reads);
	if (!err)
		err = device_fact_number(rank->import, INDEX_NONE, topic, "time of a read, mean", "us",
					 (double)sums->ns / (double)sums->reads / 1e3);
	if (!err && sums->sized)
		err = device_fact_number(rank->import, INDEX_NONE, topic,
					 "reads that found the queue empty", "", (double)sums->empty);
	return err;
}

int minddata_take_reads(struct minddata_rank *rank, const char *name, int power)
{
	struct sums sums = { .reads = 0 };
	char line[256];
	FILE *file;
	int err = minddata_open(rank, name, &file);

	while (!err && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, READ, strlen(READ)) == 0)
			err = take_line(rank, line, power, &sums);
	}
	err = minddata_close(rank, name, file, err);
	return err ? err : put_sums(rank, &sums);
}
