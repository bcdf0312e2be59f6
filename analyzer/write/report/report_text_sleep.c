/* SPDX-License-Identifier: Apache-2.0 */
/* What the threads of the targets slept in. */
#include <errno.h>

#include "analyzer/write/report/report_parts.h"
#include "analyzer/write/table.h"

static bool is_shown(const struct model *model, const struct thread_usage *usage)
{
	return model->threads.row[usage->thread].target && usage->has_reasons &&
	       usage->blocked_ns + usage->throttled_ns > 0;
}

/* Time of all threads together that are shown; [REASONS] is throttled time. */
static void sum_up(const struct model *model, const struct process_results *processes,
		   uint64_t *total_ns)
{
	for (uint32_t i = 0; i < processes->thread_count; i++) {
		const struct thread_usage *usage = &processes->threads[i];

		if (!is_shown(model, usage))
			continue;
		for (int reason = 0; reason < REASONS; reason++)
			total_ns[reason] += usage->reason_ns[reason];
		total_ns[REASONS] += usage->throttled_ns;
	}
}

static void thread_row(struct table *table, const struct model *model,
		       const struct thread_usage *usage, const uint64_t *total_ns)
{
	const struct thread *thread = &model->threads.row[usage->thread];
	const char *name = model_text(model, thread->name);

	table_row(table);
	table_count(table, thread->tid);
	table_text(table, *name ? name : "unknown");
	for (int reason = 0; reason < REASONS; reason++)
		if (total_ns[reason])
			table_ms(table, usage->reason_ns[reason]);
	if (total_ns[REASONS])
		table_ms(table, usage->throttled_ns);
}

int text_sleeps(FILE *out, const struct model *model, const struct process_results *processes,
		const struct report_options *options)
{
	uint64_t total_ns[REASONS + 1] = { 0 };
	uint32_t count = 0, shown;
	struct table *table;
	int err;

	for (uint32_t i = 0; i < processes->thread_count; i++)
		count += is_shown(model, &processes->threads[i]);
	if (!count)
		return 0;
	sum_up(model, processes, total_ns);
	table = table_new(options);
	if (!table)
		return -ENOMEM;
	fputs("\nWhat the targets' threads slept in, ms:\n", out);
	table_column(table, "tid", TABLE_LEFT);
	table_column(table, "name", TABLE_LEFT | TABLE_SHRINK);
	for (int reason = 0; reason < REASONS; reason++)
		if (total_ns[reason])
			table_column(table, sleep_reason_name(reason), TABLE_RIGHT);
	if (total_ns[REASONS])
		table_column(table, "throttled", TABLE_RIGHT);
	shown = rows_shown(options, count);
	for (uint32_t i = 0, row = 0; i < processes->thread_count && row < shown; i++) {
		if (!is_shown(model, &processes->threads[i]))
			continue;
		thread_row(table, model, &processes->threads[i], total_ns);
		row++;
	}
	err = table_print(table, out);
	table_free(table);
	text_more(out, "threads", count, shown);
	return err;
}
