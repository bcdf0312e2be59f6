/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/host/block_io.h"

#include <errno.h>
#include <stdlib.h>

#include "proto/trace.pb-c.h"

/* The values of a request by which requests are grouped. */
struct member {
	uint32_t driver;
	uint32_t process;
	uint32_t request;
	uint8_t operation;
};

const char *block_operation_name(uint8_t operation)
{
	static const char *const names[BLOCK_REQUEST_OPERATIONS] = {
		[PROFBPF__BLOCK_REQUESTS__OPERATION__READ] = "read",
		[PROFBPF__BLOCK_REQUESTS__OPERATION__WRITE] = "write",
		[PROFBPF__BLOCK_REQUESTS__OPERATION__FLUSH] = "flush",
		[PROFBPF__BLOCK_REQUESTS__OPERATION__DISCARD] = "discard",
		[PROFBPF__BLOCK_REQUESTS__OPERATION__OTHER] = "request",
	};

	return operation < BLOCK_REQUEST_OPERATIONS ? names[operation] : "request";
}

uint64_t block_latency_ns(const struct block_request *request)
{
	return request->dur_ns - request->wait_ns;
}

static int compare(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

static int by_group(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int order = compare(x->driver, y->driver);

	if (!order)
		order = compare(x->process, y->process);
	if (!order)
		order = compare(x->operation, y->operation);
	return order ? order : compare(x->request, y->request);
}

static bool same_group(const struct member *a, const struct member *b)
{
	return a->driver == b->driver && a->process == b->process && a->operation == b->operation;
}

static int by_total(const void *a, const void *b)
{
	const struct block_usage *x = a, *y = b;

	if (x->latency.total_ns != y->latency.total_ns)
		return x->latency.total_ns > y->latency.total_ns ? -1 : 1;
	if (x->driver != y->driver)
		return compare(x->driver, y->driver);
	return x->process != y->process ? compare(x->process, y->process)
					: compare(x->operation, y->operation);
}

static bool made_in(const struct analysis_window *window, const struct block_request *row)
{
	return analysis_has(row->end_ns - row->dur_ns, window);
}

static struct member *members_of(const struct model *model, const struct analysis_options *options,
				 uint32_t *count)
{
	struct analysis_window window = analysis_window(model, options);
	struct member *members =
		reallocarray(NULL, (size_t)model->block_requests.count + 1, sizeof(*members));

	*count = 0;
	for (uint32_t i = 0; members && i < model->block_requests.count; i++) {
		const struct block_request *row = &model->block_requests.row[i];
		uint32_t process = model->threads.row[row->thread].process;

		if (!made_in(&window, row) || !analysis_wants_process(model, options, process))
			continue;
		members[(*count)++] = (struct member){ row->driver, process, i, row->operation };
	}
	return members;
}

/* Sums up the requests of one group; @ns has room for their latencies. */
static struct block_usage sum_up(const struct model *model, const struct member *members,
				 uint32_t count, uint64_t *ns)
{
	struct block_usage usage = { .driver = members->driver,
				     .process = members->process,
				     .operation = members->operation };

	for (uint32_t i = 0; i < count; i++) {
		const struct block_request *row = &model->block_requests.row[members[i].request];

		usage.bytes += row->bytes;
		usage.failed += !!(row->flags & PROFBPF__BLOCK_REQUESTS__FLAG__FAILED);
		usage.wait_ns += row->wait_ns;
		ns[i] = block_latency_ns(row);
	}
	usage.latency = durations_of(ns, count, 0, 0);
	return usage;
}

static void add_sleeps(const struct model *model, const struct analysis_options *options,
		       struct block_results *results)
{
	struct analysis_window window = analysis_window(model, options);

	for (uint32_t i = 0; i < model->io_waits.count; i++) {
		const struct io_wait *wait = &model->io_waits.row[i];
		const struct block_request *request = &model->block_requests.row[wait->request];
		const struct span *span = &model->spans.row[wait->span];
		uint32_t process = model->threads.row[request->thread].process;

		for (uint32_t r = 0; made_in(&window, request) && r < results->row_count; r++) {
			struct block_usage *usage = &results->rows[r];

			if (usage->driver != request->driver || usage->process != process ||
			    usage->operation != request->operation)
				continue;
			usage->sleeps++;
			usage->slept_ns += span->end_ns - span->start_ns;
			break;
		}
	}
}

int block_analyse(const struct model *model, const struct analysis_options *options,
		  struct block_results *results)
{
	MODEL_ARRAY(struct block_usage) rows = { 0 };
	uint32_t count, end;
	struct member *members = members_of(model, options, &count);
	uint64_t *ns = reallocarray(NULL, (size_t)count + 1, sizeof(*ns));
	int err = members && ns ? 0 : -ENOMEM;

	if (!err)
		qsort(members, count, sizeof(*members), by_group);
	for (uint32_t first = 0; !err && first < count; first = end) {
		end = first + 1;
		while (end < count && same_group(&members[first], &members[end]))
			end++;
		if (!MODEL_PUSH(&rows, sum_up(model, &members[first], end - first, ns)))
			err = -ENOMEM;
	}
	if (rows.count)
		qsort(rows.row, rows.count, sizeof(*rows.row), by_total);
	results->rows = rows.row;
	results->row_count = err ? 0 : rows.count;
	add_sleeps(model, options, results);
	free(members);
	free(ns);
	return err;
}

void block_free(struct block_results *results)
{
	free(results->rows);
	*results = (struct block_results){ 0 };
}
