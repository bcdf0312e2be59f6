/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/write/tables/tables_roots.h"

#include <errno.h>

#include "analyzer/analyse/idle.h"
#include "analyzer/write/report/report_roots.h"

#define TEXT_SIZE 512

static void put_text(struct rows *rows, const char *text)
{
	if (text && *text)
		rows_text(rows, text);
	else
		rows_null(rows);
}

static void put_roots(struct rows *rows, const struct model *model, struct syscall_table *syscalls,
		      const struct idle_roots *roots)
{
	char who[TEXT_SIZE], place[TEXT_SIZE], object[TEXT_SIZE];

	rows_table(
		rows, "idle_roots",
		"root INTEGER, cause TEXT, who TEXT, thread INTEGER, place TEXT, "
		"samples INTEGER, object TEXT, ns INTEGER, percent REAL, gaps INTEGER, ended TEXT");
	for (uint32_t i = 0; i < roots->count; i++) {
		const struct idle_root *row = &roots->row[i];

		root_who_text(model, &row->root, who, sizeof(who));
		root_place_text(model, syscalls, &row->root, place, sizeof(place));
		root_object_text(model, &row->root, object, sizeof(object));
		rows_u64(rows, i);
		rows_text(rows, idle_cause_name(row->root.cause));
		put_text(rows, who);
		rows_index(rows, root_subject(&row->root));
		put_text(rows, place);
		rows_known(rows, row->samples > 0, row->samples);
		put_text(rows, object);
		rows_u64(rows, row->ns);
		rows_real(rows, row->percent);
		rows_u64(rows, row->gaps);
		put_text(rows, root_end_name(row->root.end));
		rows_end(rows);
	}
}

static void put_hops(struct rows *rows, const struct idle_roots *roots)
{
	rows_table(rows, "idle_hops",
		   "root INTEGER, hop INTEGER, cause TEXT, thread INTEGER, ns INTEGER");
	for (uint32_t i = 0; i < roots->count; i++) {
		for (uint32_t k = 0; k < roots->row[i].hop_count; k++) {
			const struct idle_hop *hop = &roots->hops[roots->row[i].first_hop + k];

			rows_u64(rows, i);
			rows_u64(rows, k);
			rows_text(rows, idle_cause_name(hop->cause));
			rows_index(rows, hop->thread);
			rows_u64(rows, hop->ns);
			rows_end(rows);
		}
	}
}

void tables_roots(struct rows *rows, const struct model *model, const struct idle_roots *roots)
{
	struct syscall_table *syscalls = syscall_table_new(model_text(model, model->info.arch));

	if (!syscalls) {
		rows->err = rows->err ? rows->err : -ENOMEM;
		return;
	}
	put_roots(rows, model, syscalls, roots);
	put_hops(rows, roots);
	syscall_table_free(syscalls);
}
