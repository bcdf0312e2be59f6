/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: memory that runtimes and allocators gave out. */
#include "analyzer/analyse/memory/memory.h"
#include "analyzer/store/define_table.h"

#define LEDGER_COLUMNS(COLUMN)                                                                     \
	COLUMN(ledger, ROW, "ledger", "this row", cell_u64(at->index))                             \
	COLUMN(process, ROW, "process", "the owner: a row of processes", cell_index(row->process)) \
	COLUMN(runtime, TEXT, "runtime", "the runtime that allocated it", cell_string(model,       \
	       row->family))                                                                       \
	COLUMN(memory, TEXT, "memory", "device or host", cell_text(row->host ? "host" : "device")) \
	COLUMN(allocations, COUNT, "allocations", "allocations", cell_u64(row->allocations))       \
	COLUMN(allocated_bytes, BYTES, "allocated", "sum of them", cell_u64(row->allocated_bytes)) \
	COLUMN(frees, COUNT, "frees", "releases", cell_u64(row->frees))                            \
	COLUMN(failed, COUNT, "failed", "allocations that failed", cell_u64(row->failed))          \
	COLUMN(unknown_frees, COUNT, "unknown frees",                                              \
	       "frees of memory allocated before the recording",                                   \
	       cell_u64(row->unknown_frees))                                                       \
	COLUMN(peak_bytes, BYTES, "peak", "largest amount allocated at one time",                  \
	       cell_u64(row->curve.peak_bytes))                                                    \
	COLUMN(peak_ns, INSTANT, "peak at", "when that was reached first",                         \
	       cell_known(row->curve.count, row->curve.peak_ns))                                   \
	COLUMN(live_bytes, BYTES, "live", "allocated at the end", cell_u64(row->curve.last_bytes)) \
	COLUMN(live_count, COUNT, "not freed", "blocks of it", cell_u64(row->live_count))

static bool next_ledger(struct table_cursor *at)
{
	const struct memory_results *memory = at->of->results->memory;

	return memory &&
	       cursor_rows(at, memory->ledgers, memory->ledger_count, sizeof(*memory->ledgers));
}

DEFINE_TABLE(memory, struct memory_ledger, LEDGER_COLUMNS, next_ledger,
	     "memory that one runtime gave to a process", .keyed = true,
	     .sections = SECTION_MEMORY);

#define LIVE_COLUMNS(COLUMN)                                                             \
	COLUMN(ledger, ROW, "ledger", "a row of memory", cell_u64(at->index))            \
	COLUMN(function, ROW, "function", "the allocating function: a row of functions", \
	       cell_u64(row->function))                                                  \
	COLUMN(bytes, BYTES, "bytes", "of each block", cell_u64(row->bytes))             \
	COLUMN(count, COUNT, "count", "blocks", cell_u64(row->count))                    \
	COLUMN(first_ns, INSTANT, "oldest from", "when the oldest was allocated",        \
	       cell_u64(row->first_ns))                                                  \
	COLUMN(thread, ROW, "thread", "the thread that allocated it: a row of threads",  \
	       cell_u64(row->thread))

static bool next_live(struct table_cursor *at)
{
	const struct memory_results *memory = at->of->results->memory;

	if (!memory)
		return false;
	CURSOR_OUTER(at, memory->ledger_count)
	{
		const struct memory_ledger *ledger = &memory->ledgers[at->i];

		if (cursor_inner(at, ledger, ledger->live, ledger->live_rows,
				 sizeof(*ledger->live)))
			return true;
	}
	return false;
}

DEFINE_TABLE(memory_live, struct memory_live, LIVE_COLUMNS, next_live,
	     "blocks of one size that were still allocated at the end", .keyed = true,
	     .sections = SECTION_MEMORY);

#define CURVE_COLUMNS(COLUMN)                                                 \
	COLUMN(ledger, ROW, "ledger", "a row of memory", cell_u64(at->index)) \
	COLUMN(ts_ns, INSTANT, "time", "from when on", cell_u64(row->ts_ns))  \
	COLUMN(bytes, BYTES, "bytes", "what was allocated", cell_u64(row->bytes))

static bool next_point(struct table_cursor *at)
{
	const struct memory_results *memory = at->of->results->memory;

	if (!memory)
		return false;
	CURSOR_OUTER(at, memory->ledger_count)
	{
		const struct memory_curve *curve = &memory->ledgers[at->i].curve;

		if (cursor_inner(at, curve, curve->points, curve->count, sizeof(*curve->points)))
			return true;
	}
	return false;
}

DEFINE_TABLE(memory_curves, struct memory_point, CURVE_COLUMNS, next_point,
	     "amount of allocated memory from an instant on", .keyed = true,
	     .sections = SECTION_MEMORY);

#define ALLOCATOR_COLUMNS(COLUMN)                                                            \
	COLUMN(file, ROW, "file", "the source: a row of device_files", cell_u64(row->file))  \
	COLUMN(device, NUMBER, "device", "the file's number of it", cell_u64(row->device))   \
	COLUMN(host, FLAG, "host", "is it memory of the host?", cell_flag(row->host))        \
	COLUMN(component, TEXT, "component", "name of the allocator",                        \
	       cell_string(model, row->component))                                           \
	COLUMN(records, COUNT, "records", "records of it", cell_u64(row->records))           \
	COLUMN(allocations, COUNT, "allocations", "allocations", cell_u64(row->allocations)) \
	COLUMN(releases, COUNT, "releases", "releases", cell_u64(row->releases))             \
	COLUMN(peak_bytes, BYTES, "peak", "largest amount in use at one time",               \
	       cell_known(row->curve.count, row->curve.peak_bytes))                          \
	COLUMN(peak_ns, INSTANT, "peak at", "when that was reached first",                   \
	       cell_known(row->curve.count, row->curve.peak_ns))                             \
	COLUMN(last_bytes, BYTES, "last", "in use at the end",                               \
	       cell_known(row->curve.count, row->curve.last_bytes))                          \
	COLUMN(peak_reserved_bytes, BYTES, "peak reserved", "largest amount held by the "    \
							    "allocator",                     \
	       cell_known(row->has_reserved, row->peak_reserved))

static bool next_allocator(struct table_cursor *at)
{
	const struct memory_results *memory = at->of->results->memory;

	return memory &&
	       cursor_rows(at, memory->series, memory->series_count, sizeof(*memory->series));
}

DEFINE_TABLE(memory_allocators, struct memory_series, ALLOCATOR_COLUMNS, next_allocator,
	     "what an allocator gave out, as a device file records it",
	     .sections = SECTION_MEMORY);
