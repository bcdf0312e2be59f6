/* SPDX-License-Identifier: Apache-2.0 */
/* session_counts.c - counts the produced and lost records of each source, for the trace and for clients. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/profbpfd/session/session_private.h"

static void count_kernel(struct session *s, const struct source_stats *stats, unsigned int source,
			 struct source_count *count)
{
	/* In the order of lists in files. */
	static const struct {
		enum loss loss;
		const char *reason;
	} reasons[] = {
		{ LOSS_RING_FULL, "ring full" }, { LOSS_TOO_DEEP, "nested too deep" },
		{ LOSS_NO_MEMORY, "no memory" }, { LOSS_UNMATCHED, "left without return" },
		{ LOSS_BUSY, "program in use" }, { LOSS_PLACE, "place not found" },
	};

	count->produced = stats->produced;
	count->used = recorder_used(s->recorder, source);
	_Static_assert(sizeof(reasons) / sizeof(reasons[0]) == LOSSES, "each loss has a reason");
	for (int i = 0; i < LOSSES; i++)
		count->lost[count->lost_count++] =
			(struct lost_count){ reasons[i].reason, stats->lost[reasons[i].loss] };
	count->lost[count->lost_count++] =
		(struct lost_count){ "slow output", recorder_dropped(s->recorder, source) };
}

/* Adds rows that the daemon makes, and to the last reason, the recorder's, rows that were dropped elsewhere. */
static void count_made(struct source_count *count, const struct stacks *stacks)
{
	count->produced += stacks_made(stacks);
	if (count->lost_count)
		count->lost[count->lost_count - 1].count += stacks_dropped(stacks);
}

/*
 * Adds gaps in which mapped files were not reported: calls in a file are seen only once it is known. The recorder's reason
 * stays the last.
 */
static void count_maps(struct source_count *count, uint64_t missed)
{
	struct lost_count *last = count->lost_count ? &count->lost[count->lost_count - 1] : NULL;

	if (!last)
		return;
	count->produced += missed;
	last[1] = *last;
	*last = (struct lost_count){ "mapped files not reported", missed };
	count->lost_count++;
}

static void update_counts(struct session *s)
{
	struct source_count counts[TRACE_SOURCES] = { 0 };
	struct source_stats stats[SOURCES];

	if (!capture_stats(s->capture, stats))
		for (unsigned int i = 0; i < SOURCES; i++)
			count_kernel(s, &stats[i], i, &counts[i]);
	count_maps(&counts[SOURCE_API], s->maps_missed);
	if (s->stacks)
		count_made(&counts[SOURCE_STACK], s->stacks);
	if (s->devices)
		device_feed_count(s->devices, &counts[SOURCE_DEVICE]);
	pthread_mutex_lock(&s->lock);
	memcpy(s->counts, counts, sizeof(counts));
	if (s->prober) {
		prober_counts(s->prober, &s->functions, &s->files);
	} else if (s->probes) {
		s->functions = probes_functions(s->probes);
		s->files = probes_files(s->probes);
	}
	pthread_mutex_unlock(&s->lock);
}

static void add_short(void *context, const struct short_key *key, const struct short_value *value)
{
	struct statistics_row *row = context;
	struct short_row *rows = realloc(row->short_calls, (row->short_count + 1) * sizeof(*rows));

	if (!rows)
		return;
	row->short_calls = rows;
	rows[row->short_count++] = (struct short_row){
		.probe = key->probe,
		.tgid = key->tgid,
		.count = value->count,
		.total_ns = value->total_ns,
		.unended = value->unended,
	};
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

void session_push_statistics(struct session *s, bool final)
{
	struct item *item = item_new(ITEM_STATISTICS, sizeof(struct statistics_row));
	struct statistics_row row = { .ts_ns = final ? s->end_ns : session_now_ns(),
				      .final = final };

	if (!item)
		return;
	update_counts(s);
	memcpy(row.sources, s->counts, sizeof(row.sources));
	row.daemon_cpu_ns = thread_cpu_ns();
	snprintf(row.end_reason, sizeof(row.end_reason), "%s", s->reason);
	if (s->request.min_duration_ns)
		capture_short_calls(s->capture, add_short, &row);
	if (item_append(item, &row, sizeof(row))) {
		free(row.short_calls);
		item_free(item);
		return;
	}
	item_queue_push(s->queue, item);
}
