/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that runtime calls allocated and freed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/memory/memory.h"
#include "analyzer/join/launch/call_kind.h"
#include "lib/base/map.h"

/* An allocation or a free, at the instant from which it is effective. */
struct entry {
	uint64_t ts_ns;
	uint64_t address;
	uint64_t bytes; /* allocations only */
	uint32_t call;
	uint32_t ledger; /* allocations: ledger; frees: ledger of the freed allocation, or INDEX_NONE */
	uint32_t freed_by; /* allocations: entry that frees it, INDEX_NONE = none */
	uint32_t frees; /* entry of the allocation that ends here, INDEX_NONE = none */
	bool alloc;
	bool failed;
};

struct keeping {
	const struct model *model;
	const struct analysis_options *options;
	struct analysis_window window;
	MODEL_ARRAY(struct entry) entries;
	MODEL_ARRAY(struct memory_ledger) ledgers;
	struct map live; /* process and address -> entry that allocated it */
};

static bool argument(const struct function *function, const struct call *call, uint8_t role,
		     uint64_t *value)
{
	for (int i = 0; i < 3; i++) {
		if (function->roles[i] == role) {
			*value = call->args[i];
			return true;
		}
	}
	return false;
}

/* Functions that return addresses or names for existing memory. */
static bool is_no_memory(const char *name)
{
	return strstr(name, "Reserve") || strstr(name, "Register") || strstr(name, "Unregister") ||
	       strstr(name, "Address") || strstr(name, "Map") || strstr(name, "Unmap");
}

static bool is_host(const char *name)
{
	return strstr(name, "Host") || strstr(name, "Mbuf") || strstr(name, "AllocBuf");
}

/* Fills the ledger entry of a call; returns false if the call has none. */
static bool entry_of(const struct keeping *of, uint32_t row, struct entry *entry)
{
	const struct call *call = &of->model->calls.row[row];
	const struct function *function = call_function(of->model, call);
	const char *name;

	/* The freed address is known at entry, the allocated address at return. */
	if (!function ||
	    (function->kind != PROFBPF__FUNCTION__KIND__ALLOC &&
	     function->kind != PROFBPF__FUNCTION__KIND__FREE) ||
	    call->flags & (MODEL_CALL_OPEN | MODEL_CALL_LEFT | MODEL_CALL_INNER) ||
	    call->thread >= of->model->threads.count)
		return false;
	name = model_text(of->model, function->name);
	*entry = (struct entry){ .call = row,
				 .ledger = INDEX_NONE,
				 .freed_by = INDEX_NONE,
				 .frees = INDEX_NONE,
				 .failed = (call->flags & MODEL_CALL_ERROR) != 0 };
	if (is_no_memory(name))
		return false;
	if (function->kind == PROFBPF__FUNCTION__KIND__ALLOC) {
		entry->alloc = true;
		entry->ts_ns = call->end_ns;
		if (call->flags & MODEL_CALL_NOT_RETURNED ||
		    !argument(function, call, PROFBPF__FUNCTION__ROLE__BYTES, &entry->bytes) ||
		    !argument(function, call, PROFBPF__FUNCTION__ROLE__OUT_HANDLE,
			      &entry->address))
			return false;
		/* An address that is the returned value is recorded as 0 if that value is unknown. */
		return entry->address || !(call->flags & MODEL_CALL_VALUE_UNKNOWN);
	}
	entry->ts_ns = call->start_ns;
	return function->kind == PROFBPF__FUNCTION__KIND__FREE && !entry->failed &&
	       (strstr(name, "Free") || strstr(name, "Release")) &&
	       argument(function, call, PROFBPF__FUNCTION__ROLE__HANDLE, &entry->address) &&
	       entry->address;
}

/* At equal instants frees come first: the address may be allocated again. */
static int by_time(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	if (x->alloc != y->alloc)
		return x->alloc ? 1 : -1;
	return x->call < y->call ? -1 : x->call > y->call;
}

static bool collect(struct keeping *of)
{
	for (uint32_t i = 0; i < of->model->calls.count; i++) {
		struct entry entry;

		if (!entry_of(of, i, &entry) ||
		    !analysis_wants_process(
			    of->model, of->options,
			    of->model->threads.row[of->model->calls.row[i].thread].process))
			continue;
		if (!MODEL_PUSH(&of->entries, entry))
			return false;
	}
	if (of->entries.count)
		qsort(of->entries.row, of->entries.count, sizeof(*of->entries.row), by_time);
	return true;
}

/* The ledger of a process, runtime family and kind of memory; INDEX_NONE without memory. */
static uint32_t ledger_of(struct keeping *of, const struct call *call)
{
	const struct function *function = call_function(of->model, call);
	struct memory_ledger new = {
		.process = of->model->threads.row[call->thread].process,
		.family = function->family,
		.host = is_host(model_text(of->model, function->name)),
	};

	for (uint32_t i = 0; i < of->ledgers.count; i++) {
		const struct memory_ledger *ledger = &of->ledgers.row[i];

		if (ledger->process == new.process && ledger->family == new.family &&
		    ledger->host == new.host)
			return i;
	}
	if (new.process < of->model->processes.count)
		new.exited = of->model->processes.row[new.process].exit_ns != 0;
	return MODEL_PUSH(&of->ledgers, new) ? of->ledgers.count - 1 : INDEX_NONE;
}

static uint64_t live_key(const struct keeping *of, const struct entry *entry)
{
	const struct call *call = &of->model->calls.row[entry->call];

	return entry->address * 0x9e3779b97f4a7c15u ^ of->model->threads.row[call->thread].process;
}

/* Pairs allocations with frees. An address that is allocated again was freed, even if the free was not seen. */
static bool pair(struct keeping *of)
{
	for (uint32_t i = 0; i < of->entries.count; i++) {
		struct entry *entry = &of->entries.row[i];
		uint64_t key = live_key(of, entry);
		uint32_t before = map_get(&of->live, key);
		bool was_live = before != MAP_NONE &&
				of->entries.row[before].freed_by == INDEX_NONE;

		entry->ledger = ledger_of(of, &of->model->calls.row[entry->call]);
		if (entry->ledger == INDEX_NONE)
			return false;
		if (was_live && (!entry->alloc || !entry->failed)) {
			of->entries.row[before].freed_by = i;
			entry->frees = before;
		}
		if (!entry->alloc && was_live)
			entry->ledger = of->entries.row[before].ledger;
		else if (!entry->alloc)
			of->ledgers.row[entry->ledger].unknown_frees++;
		if (entry->alloc && !entry->failed && !map_put(&of->live, key, i))
			return false;
	}
	return true;
}

static bool in_window(const struct keeping *of, const struct entry *entry)
{
	return analysis_has(entry->ts_ns, &of->window);
}

/* Is the allocation still live at the window's end? */
static bool is_live(const struct keeping *of, const struct entry *entry)
{
	return entry->alloc && !entry->failed && entry->ts_ns < of->window.to_ns &&
	       (entry->freed_by == INDEX_NONE ||
		of->entries.row[entry->freed_by].ts_ns >= of->window.to_ns);
}

static int by_site(const void *a, const void *b)
{
	const struct memory_live *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return x->first_ns < y->first_ns ? -1 : x->first_ns > y->first_ns;
}

static int by_size(const void *a, const void *b)
{
	const struct memory_live *x = a, *y = b;
	double x_bytes = (double)x->bytes * (double)x->count;
	double y_bytes = (double)y->bytes * (double)y->count;

	if (x_bytes != y_bytes)
		return x_bytes > y_bytes ? -1 : 1;
	return by_site(a, b);
}

static void group_live(struct memory_ledger *ledger)
{
	uint32_t kept = 0;

	if (ledger->live_rows)
		qsort(ledger->live, ledger->live_rows, sizeof(*ledger->live), by_site);
	for (uint32_t i = 0; i < ledger->live_rows; i++) {
		struct memory_live *last = kept ? &ledger->live[kept - 1] : NULL;

		if (last && last->function == ledger->live[i].function &&
		    last->bytes == ledger->live[i].bytes)
			last->count++;
		else
			ledger->live[kept++] = ledger->live[i];
	}
	ledger->live_rows = kept;
	if (kept)
		qsort(ledger->live, kept, sizeof(*ledger->live), by_size);
}

static void count(const struct keeping *of, struct memory_ledger *ledger, const struct entry *entry)
{
	const struct call *call = &of->model->calls.row[entry->call];

	if (is_live(of, entry)) {
		ledger->live_count++;
		ledger->live[ledger->live_rows++] =
			(struct memory_live){ .function = call->function,
					      .bytes = entry->bytes,
					      .count = 1,
					      .first_ns = entry->ts_ns,
					      .thread = call->thread };
	}
	if (!in_window(of, entry))
		return;
	if (!entry->alloc) {
		ledger->frees++;
	} else if (entry->failed) {
		ledger->failed++;
	} else {
		ledger->allocations++;
		ledger->allocated_bytes += entry->bytes;
	}
}

/* Returns the bytes of a ledger after an entry, if it had @bytes before. */
static uint64_t bytes_after(const struct keeping *of, const struct entry *entry, uint32_t row,
			    uint64_t bytes)
{
	if (entry->frees != INDEX_NONE && of->entries.row[entry->frees].ledger == row)
		bytes -= of->entries.row[entry->frees].bytes;
	if (entry->alloc && !entry->failed && entry->ledger == row)
		bytes += entry->bytes;
	return bytes;
}

static bool close_ledger(const struct keeping *of, uint32_t row)
{
	struct memory_ledger *ledger = &of->ledgers.row[row];
	struct memory_point *points = calloc((size_t)of->entries.count + 1, sizeof(*points));
	uint64_t bytes = 0;
	uint32_t used = 0;

	ledger->live = calloc((size_t)of->entries.count + 1, sizeof(*ledger->live));
	if (!points || !ledger->live) {
		free(points);
		return false;
	}
	for (uint32_t i = 0; i < of->entries.count; i++) {
		const struct entry *entry = &of->entries.row[i];
		uint64_t before = bytes;

		if (entry->ledger == row)
			count(of, ledger, entry);
		bytes = bytes_after(of, entry, row, bytes);
		if (bytes != before)
			points[used++] = (struct memory_point){ entry->ts_ns, bytes };
	}
	memory_curve_make(&ledger->curve, points, used, of->window.from_ns, of->window.to_ns);
	group_live(ledger);
	return true;
}

int memory_keep_ledgers(const struct model *model, const struct analysis_options *options,
			struct memory_results *results)
{
	struct keeping of = { .model = model,
			      .options = options,
			      .window = analysis_window(model, options) };
	bool ok = collect(&of) && pair(&of);

	for (uint32_t i = 0; i < of.ledgers.count && ok; i++)
		ok = close_ledger(&of, i);
	results->ledgers = of.ledgers.row;
	results->ledger_count = of.ledgers.count;
	free(of.entries.row);
	map_free(&of.live);
	return ok ? 0 : -ENOMEM;
}
