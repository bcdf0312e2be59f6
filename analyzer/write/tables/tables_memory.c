/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the report: memory. */
#include "analyzer/analyse/memory.h"
#include "analyzer/write/tables/tables.h"

static void put_ledgers(struct rows *rows, const struct tables *of)
{
	const struct memory_results *memory = of->results->memory;

	rows_table(
		rows, "memory",
		"ledger INTEGER, process INTEGER, runtime TEXT, memory TEXT, "
		"allocations INTEGER, allocated_bytes INTEGER, frees INTEGER, failed INTEGER, "
		"unknown_frees INTEGER, peak_bytes INTEGER, peak_ns INTEGER, live_bytes INTEGER, "
		"live_count INTEGER");
	for (uint32_t i = 0; i < memory->ledger_count; i++) {
		const struct memory_ledger *row = &memory->ledgers[i];

		rows_u64(rows, i);
		rows_index(rows, row->process);
		rows_text(rows, model_text(of->model, row->family));
		rows_text(rows, row->host ? "host" : "device");
		rows_u64(rows, row->allocations);
		rows_u64(rows, row->allocated_bytes);
		rows_u64(rows, row->frees);
		rows_u64(rows, row->failed);
		rows_u64(rows, row->unknown_frees);
		rows_u64(rows, row->curve.peak_bytes);
		rows_known(rows, row->curve.count, row->curve.peak_ns);
		rows_u64(rows, row->curve.last_bytes);
		rows_u64(rows, row->live_count);
		rows_end(rows);
	}
}

static void put_live(struct rows *rows, const struct tables *of)
{
	const struct memory_results *memory = of->results->memory;

	rows_table(rows, "memory_live",
		   "ledger INTEGER, function INTEGER, bytes INTEGER, count INTEGER, "
		   "first_ns INTEGER, thread INTEGER");
	for (uint32_t i = 0; i < memory->ledger_count; i++) {
		for (uint32_t k = 0; k < memory->ledgers[i].live_rows; k++) {
			const struct memory_live *row = &memory->ledgers[i].live[k];

			rows_u64(rows, i);
			rows_u64(rows, row->function);
			rows_u64(rows, row->bytes);
			rows_u64(rows, row->count);
			rows_u64(rows, row->first_ns);
			rows_u64(rows, row->thread);
			rows_end(rows);
		}
	}
}

static void put_curves(struct rows *rows, const struct tables *of)
{
	const struct memory_results *memory = of->results->memory;

	rows_table(rows, "memory_curves", "ledger INTEGER, ts_ns INTEGER, bytes INTEGER");
	for (uint32_t i = 0; i < memory->ledger_count; i++) {
		const struct memory_curve *curve = &memory->ledgers[i].curve;

		for (uint32_t k = 0; k < curve->count; k++) {
			rows_u64(rows, i);
			rows_u64(rows, curve->points[k].ts_ns);
			rows_u64(rows, curve->points[k].bytes);
			rows_end(rows);
		}
	}
}

/* As device files recorded it, by allocator. */
static void put_series(struct rows *rows, const struct tables *of)
{
	const struct memory_results *memory = of->results->memory;

	rows_table(rows, "memory_allocators",
		   "file INTEGER, device INTEGER, host INTEGER, component TEXT, records INTEGER, "
		   "allocations INTEGER, releases INTEGER, peak_bytes INTEGER, peak_ns INTEGER, "
		   "last_bytes INTEGER, peak_reserved_bytes INTEGER");
	for (uint32_t i = 0; i < memory->series_count; i++) {
		const struct memory_series *row = &memory->series[i];

		rows_u64(rows, row->file);
		rows_u64(rows, row->device);
		rows_u64(rows, row->host);
		rows_text(rows, model_text(of->model, row->component));
		rows_u64(rows, row->records);
		rows_u64(rows, row->allocations);
		rows_u64(rows, row->releases);
		rows_known(rows, row->curve.count, row->curve.peak_bytes);
		rows_known(rows, row->curve.count, row->curve.peak_ns);
		rows_known(rows, row->curve.count, row->curve.last_bytes);
		rows_known(rows, row->has_reserved, row->peak_reserved);
		rows_end(rows);
	}
}

void tables_memory(struct rows *rows, const struct tables *of)
{
	if (!of->results->memory)
		return;
	put_ledgers(rows, of);
	put_live(rows, of);
	put_curves(rows, of);
	put_series(rows, of);
}
