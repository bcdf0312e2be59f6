/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/report_roots.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyzer/analyse/idle/idle.h"
#include "analyzer/view/render/table.h"
#include "analyzer/view/report_parts.h"

#define TEXT_SIZE 512
#define NARROW 80 /* columns of a terminal below which the share of the time has to do */
#define HOPS_SHOWN 4 /* of a chain in the text report, from the root on */

static void write_thread(struct json *json, const struct model *model, uint32_t thread)
{
	const struct thread *row;

	if (thread >= model->threads.count)
		return;
	row = &model->threads.row[thread];
	if (row->process < model->processes.count)
		json_u64(json, "pid", model->processes.row[row->process].pid);
	json_u64(json, "tid", row->tid);
}

static void write_text(struct json *json, const char *key, const char *text)
{
	if (*text)
		json_text(json, key, text);
}

static void write_chain(struct json *json, const struct model *model, const struct idle_hop *hops,
			uint32_t count)
{
	char text[TEXT_SIZE];

	json_array(json, "chain");
	for (uint32_t i = 0; i < count; i++) {
		json_map(json, NULL);
		json_text(json, "cause", idle_cause_name(hops[i].cause));
		if (hops[i].thread < model->threads.count) {
			root_thread_text(model, hops[i].thread, text, sizeof(text));
			json_text(json, "who", text);
		}
		write_thread(json, model, hops[i].thread);
		json_u64(json, "ns", hops[i].ns);
		json_map_close(json);
	}
	json_array_close(json);
}

void report_json_root(struct json *json, const char *key, const struct model *model,
		      struct syscall_table *syscalls, const struct idle_roots *roots,
		      const struct idle_root *row)
{
	const struct root *root = &row->root;
	const char *end = root_end_name(root->end);
	char text[TEXT_SIZE];

	json_map(json, key);
	json_text(json, "cause", idle_cause_name(root->cause));
	root_who_text(model, root, text, sizeof(text));
	write_text(json, "who", text);
	write_thread(json, model, root_subject(root));
	root_place_text(model, syscalls, root, text, sizeof(text));
	write_text(json, "where", text);
	if (row->samples)
		json_u64(json, "samples", row->samples);
	if (row->word)
		json_text(json, "doing", row->word);
	root_object_text(model, root, text, sizeof(text));
	write_text(json, "object", text);
	json_u64(json, "ns", row->ns);
	json_decimal(json, "percent", row->percent);
	json_u64(json, "gaps", row->gaps);
	if (end)
		json_text(json, "end", end);
	write_chain(json, model, row->hops, row->hop_count);
	json_map_close(json);
}

void report_json_roots(struct json *json, const char *key, const struct model *model,
		       const struct idle_roots *roots)
{
	struct syscall_table *syscalls = syscall_table_new(model_text(model, model->info.arch));

	json_array(json, key);
	for (uint32_t i = 0; i < roots->count && syscalls; i++)
		report_json_root(json, NULL, model, syscalls, roots, &roots->row[i]);
	json_array_close(json);
	syscall_table_free(syscalls);
}

/* Why nothing more is known, for people. */
static const char *end_text(uint8_t end)
{
	static const char *const texts[ROOT_ENDS] = {
		[ROOT_END_CIRCLE] = "threads wait for each other in a circle",
		[ROOT_END_DEPTH] = "waits for yet another thread, which was not followed",
		[ROOT_END_UNTRACED] = "was not traced",
		[ROOT_END_NO_WAKER] = "what ended its sleep was not recorded",
		[ROOT_END_NO_RECORD] = "no scheduling records for this time",
		[ROOT_END_INTERRUPT] = "woken by an interrupt",
		[ROOT_END_STOPPED] = "stopped by a signal or a debugger",
	};

	return end < ROOT_ENDS && texts[end] ? texts[end] : "";
}

/* "read of a pipe", "train.py:19 noise", "munmap; was not traced" */
static void doing_text(const struct model *model, struct syscall_table *syscalls,
		       const struct idle_root *row, char *text, size_t size)
{
	const struct root *root = &row->root;
	char place[TEXT_SIZE], object[TEXT_SIZE];
	const char *end = end_text(root->end);
	size_t used;

	root_place_text(model, syscalls, root, place, sizeof(place));
	root_object_text(model, root, object, sizeof(object));
	used = row->word ? (size_t)snprintf(text, size, "%s%s", row->word, *place ? " in " : "")
			 : 0;
	snprintf(text + used, size - used, "%s%s%s%s%s", place, *place && *object ? ": " : "",
		 object, (*place || *object) && *end ? "; " : "", end);
}

/* "<- decoder 12 <- main 10": from the root back to the thread that submitted. */
static void chain_text(const struct model *model, const struct idle_roots *roots,
		       const struct idle_root *row, char *text, size_t size)
{
	const struct idle_hop *hops = row->hops;
	uint32_t left = row->hop_count, shown = 0;
	size_t used = 0;

	*text = '\0';
	/* The root itself is told as who. */
	if (left && row->root.who_kind == WHO_THREAD && hops[left - 1].thread == row->root.who)
		left--;
	while (left-- > 0 && used < size) {
		char who[TEXT_SIZE];

		if (++shown >= HOPS_SHOWN && left > 0) {
			used += (size_t)snprintf(text + used, size - used, "%s<- %u more",
						 used ? " " : "", left);
			left = 0;
		}
		if (used >= size)
			break;
		root_thread_text(model, hops[left].thread, who, sizeof(who));
		used += (size_t)snprintf(text + used, size - used, "%s<- %.100s", used ? " " : "",
					 who);
	}
}

void report_root_text(const struct model *model, struct syscall_table *syscalls,
		      const struct idle_roots *roots, const struct idle_root *row, char *text,
		      size_t size)
{
	char who[TEXT_SIZE], doing[3 * TEXT_SIZE], chain[2 * TEXT_SIZE];

	root_who_text(model, &row->root, who, sizeof(who));
	doing_text(model, syscalls, row, doing, sizeof(doing));
	chain_text(model, roots, row, chain, sizeof(chain));
	snprintf(text, size, "%s%s%s%s%s", *who ? who : "unknown", *doing ? ": " : "", doing,
		 *chain ? " " : "", chain);
}

static void add_row(struct table *table, const struct model *model, struct syscall_table *syscalls,
		    const struct idle_roots *roots, const struct idle_root *row, bool narrow)
{
	char text[4 * TEXT_SIZE];

	table_row(table);
	table_percent(table, row->percent);
	if (!narrow) {
		table_ms(table, row->ns);
		table_count(table, row->gaps);
	}
	table_text(table, idle_cause_name(row->root.cause));
	root_who_text(model, &row->root, text, sizeof(text));
	if (*text)
		table_text(table, text);
	else
		table_unknown(table);
	doing_text(model, syscalls, row, text, sizeof(text));
	table_text(table, text);
	chain_text(model, roots, row, text, sizeof(text));
	table_text(table, text);
}

int report_text_roots(FILE *out, const struct model *model, const struct idle_roots *roots,
		      const char *heading, const char *time, const struct report_options *options)
{
	struct syscall_table *syscalls = syscall_table_new(model_text(model, model->info.arch));
	struct table *table = table_new(options);
	bool narrow = options->width && options->width < NARROW;
	uint32_t shown = roots->count;
	char column[32];
	int error = -ENOMEM;

	if (!syscalls || !table)
		goto cleanup;
	if (options->top && shown > options->top)
		shown = options->top;
	snprintf(column, sizeof(column), "%s %%", time);
	table_column(table, column, TABLE_RIGHT);
	snprintf(column, sizeof(column), "%s ms", time);
	if (!narrow) {
		table_column(table, column, TABLE_RIGHT);
		table_column(table, "gaps", TABLE_RIGHT);
	}
	table_column(table, "cause", TABLE_LEFT);
	table_column(table, "who", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "where, and for what", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "waited for by", TABLE_LEFT | TABLE_SHRINK);
	for (uint32_t i = 0; i < shown; i++)
		add_row(table, model, syscalls, roots, &roots->row[i], narrow);
	fprintf(out, "\n%s:\n", heading);
	error = table_print(table, out);
	text_more(out, "roots", roots->count, shown);
cleanup:
	table_free(table);
	syscall_table_free(syscalls);
	return error;
}
