/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/timeline/pass_flows.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/base/bisect.h"
#include "lib/base/sort_rows.h"

#define SCOPES_BACK 1024 /* the most ended scopes of a thread that are searched */

/* Returns the innermost scope that a thread was in; INDEX_NONE = none, or its beginning is not shown. */
static uint32_t scope_at(const struct model *model, const struct export_window *window, uint32_t thread,
			 uint64_t ns)
{
	const struct call *calls = model->calls.row;
	uint32_t first, count, at;

	count = model_thread_calls(model, thread, &first);
	at = BISECT(i, first, first + count, calls[i].start_ns <= ns);
	for (uint32_t back = 0; at-- > first && back < SCOPES_BACK; back++) {
		uint32_t function = calls[at].function;
		uint64_t start_ns = calls[at].start_ns, end_ns = calls[at].end_ns;
		bool cut;

		if (end_ns < ns || function >= model->functions.count || !model->functions.row[function].scope)
			continue;
		return export_clip(window, &start_ns, &end_ns, &cut) && start_ns == calls[at].start_ns
			       ? at
			       : INDEX_NONE;
	}
	return INDEX_NONE;
}

static int by_call(const void *a, const void *b)
{
	const struct pass_flow *x = a, *y = b;

	if (x->call != y->call)
		return x->call < y->call ? -1 : 1;
	return x->arrow < y->arrow ? -1 : x->arrow > y->arrow;
}

int pass_flows_init(struct pass_flows *flows, const struct model *model,
		    const struct export_window *window, const bool *chosen)
{
	*flows = (struct pass_flows){ .hidden = calloc((size_t)model->pass_arrows.count + 1, sizeof(bool)) };
	if (!flows->hidden)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->pass_arrows.count; i++) {
		const struct pass_arrow *arrow = &model->pass_arrows.row[i];
		struct pass_flow from = { .arrow = i }, to = { .arrow = i };

		if (!chosen[arrow->from_thread] || !chosen[arrow->to_thread])
			continue;
		from.call = scope_at(model, window, arrow->from_thread, arrow->from_ns);
		to.call = scope_at(model, window, arrow->to_thread, arrow->to_ns);
		if (from.call == INDEX_NONE || to.call == INDEX_NONE)
			continue;
		if (!MODEL_PUSH(&flows->from, from) || !MODEL_PUSH(&flows->to, to))
			return -ENOMEM;
	}
	SORT_ARRAY(&flows->from, by_call);
	SORT_ARRAY(&flows->to, by_call);
	return 0;
}

void pass_flows_free(struct pass_flows *flows)
{
	free(flows->from.row);
	free(flows->to.row);
	free(flows->hidden);
	*flows = (struct pass_flows){ 0 };
}

uint64_t pass_flows_each(const struct pass_flows *flows, bool out, uint32_t call, uint32_t *at)
{
	const struct pass_flow *rows = out ? flows->from.row : flows->to.row;
	uint32_t count = out ? flows->from.count : flows->to.count;
	uint32_t row = BISECT(i, 0, count, rows[i].call < call) + *at;

	for (; row < count && rows[row].call == call; row++) {
		++*at;
		if (!flows->hidden[rows[row].arrow])
			return PASS_FIRST_FLOW + rows[row].arrow;
	}
	return 0;
}

void pass_flows_hide(struct pass_flows *flows, uint32_t call)
{
	for (int out = 0; out < 2; out++) {
		uint64_t flow;
		uint32_t at = 0;

		while ((flow = pass_flows_each(flows, out, call, &at))) {
			flows->hidden[flow - PASS_FIRST_FLOW] = true;
		}
	}
}
