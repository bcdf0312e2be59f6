/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/accounts.h"

#include "analyzer/analyse/interpolate.h"
#include "bpf/events.h"

/*
 * Accounts are taken about once a second of threads that did anything since: what
 * an account adds happened in the second before it, however old the last one is.
 */
#define PERIOD_NS 1000000000ull

static uint32_t lower_bound(const struct model *model, uint32_t thread)
{
	uint32_t low = 0, high = model->accounts.count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (model->accounts.row[middle].thread < thread)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t accounts_of(const struct model *model, uint32_t thread, uint32_t *first)
{
	*first = lower_bound(model, thread);
	return lower_bound(model, thread + 1) - *first;
}

static struct account between(const struct account *before, const struct account *after,
			      uint64_t ts_ns)
{
	uint64_t since_ns = before->ts_ns;
	struct account at = *before;
	struct place place;

	if (after->ts_ns > PERIOD_NS && since_ns < after->ts_ns - PERIOD_NS)
		since_ns = after->ts_ns - PERIOD_NS;
	place = place_between(since_ns, after->ts_ns, ts_ns);
	at.run_ns = interpolate(before->run_ns, after->run_ns, place);
	at.runnable_ns = interpolate(before->runnable_ns, after->runnable_ns, place);
	at.user_ns = interpolate(before->user_ns, after->user_ns, place);
	at.system_ns = interpolate(before->system_ns, after->system_ns, place);
	at.voluntary = interpolate(before->voluntary, after->voluntary, place);
	at.involuntary = interpolate(before->involuntary, after->involuntary, place);
	at.migrations = interpolate(before->migrations, after->migrations, place);
	at.minor_faults = interpolate(before->minor_faults, after->minor_faults, place);
	at.major_faults = interpolate(before->major_faults, after->major_faults, place);
	return at;
}

static struct account account_at(const struct account *rows, uint32_t count,
				 const struct account *birth, uint64_t ts_ns)
{
	uint32_t low = 0, high = count;

	if (ts_ns >= rows[count - 1].ts_ns)
		return rows[count - 1];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (rows[middle].ts_ns <= ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0)
		return between(&rows[low - 1], &rows[low], ts_ns);
	return birth ? between(birth, &rows[0], ts_ns) : rows[0];
}

bool accounts_growth(const struct model *model, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		     struct account *growth)
{
	const struct thread *of = &model->threads.row[thread];
	struct account birth = { .thread = thread, .ts_ns = of->first_ns };
	struct account before, after;
	uint32_t first, count = accounts_of(model, thread, &first);
	bool born_here = of->start_ns ? of->start_ns >= model->info.session_start_ns
				      : of->first_ns > model->info.session_start_ns;

	if (count == 0)
		return false;
	/* The account of a session's start tells what came before it. */
	if (model->accounts.row[first].flags & ACCOUNT_FIRST)
		born_here = false;
	before = account_at(&model->accounts.row[first], count, born_here ? &birth : NULL, from_ns);
	after = account_at(&model->accounts.row[first], count, born_here ? &birth : NULL, to_ns);
	*growth = after;
	growth->run_ns = grown(before.run_ns, after.run_ns);
	growth->runnable_ns = grown(before.runnable_ns, after.runnable_ns);
	growth->user_ns = grown(before.user_ns, after.user_ns);
	growth->system_ns = grown(before.system_ns, after.system_ns);
	growth->voluntary = grown(before.voluntary, after.voluntary);
	growth->involuntary = grown(before.involuntary, after.involuntary);
	growth->migrations = grown(before.migrations, after.migrations);
	growth->minor_faults = grown(before.minor_faults, after.minor_faults);
	growth->major_faults = grown(before.major_faults, after.major_faults);
	return true;
}
