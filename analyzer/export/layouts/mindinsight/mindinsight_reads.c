/* SPDX-License-Identifier: Apache-2.0 */
/* minddata_aicpu_N.txt: a device's reads of batches from its queue, in microseconds; only device files have them. */
#include <errno.h>
#include <inttypes.h>

#include "analyzer/export/layouts/mindinsight/mindinsight.h"

static bool is_of(const struct mindinsight *mi, const struct imported_read *read)
{
	return read->process == mi->usage->pipeline->process;
}

bool mindinsight_has_reads(const struct mindinsight *mi)
{
	for (uint32_t i = 0; i < mi->model->imported_reads.count; i++)
		if (is_of(mi, &mi->model->imported_reads.row[i]))
			return true;
	return false;
}

/* MindInsight reads whole numbers, and floats if there is a decimal point. */
int mindinsight_reads(FILE *out, const struct mindinsight *mi)
{
	for (uint32_t i = 0; i < mi->model->imported_reads.count; i++) {
		const struct imported_read *read = &mi->model->imported_reads.row[i];

		if (!is_of(mi, read))
			continue;
		fprintf(out, "GetNext_dequeue_wait %" PRIu64 ".%03" PRIu64 " %" PRIu64 ".%03" PRIu64,
			read->start_ns / 1000, read->start_ns % 1000, read->end_ns / 1000,
			read->end_ns % 1000);
		if (read->size != INDEX_NONE)
			fprintf(out, " %" PRIu32, read->size);
		fputc('\n', out);
	}
	return ferror(out) ? -EIO : 0;
}
