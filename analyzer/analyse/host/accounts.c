/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/host/accounts.h"

#include "analyzer/analyse/host/interpolate.h"
#include "proto/trace.pb-c.h"
#include "lib/base/bisect.h"

#define PERIOD_DEFAULT_NS 1000000000ull

/* Accounts are sorted by thread. */
static uint32_t first_of(const struct model *model, uint32_t thread)
{
	return BISECT(i, 0, model->accounts.count, model->accounts.row[i].thread < thread);
}

uint32_t accounts_of(const struct model *model, uint32_t thread, uint32_t *first)
{
	*first = first_of(model, thread);
	return first_of(model, thread + 1) - *first;
}

/*
 * Accounts are taken once an interval, of threads that were active since: the growth of an account
 * happened in the @period before it, however old the previous account is.
 */
static struct account between(const struct account *before, const struct account *after,
			      uint64_t period, uint64_t ts_ns)
{
	uint64_t since_ns = before->ts_ns;
	struct account at = *before;
	struct place place;

	if (after->ts_ns > period && since_ns < after->ts_ns - period)
		since_ns = after->ts_ns - period;
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
	at.io_ns = interpolate(before->io_ns, after->io_ns, place);
	at.read_bytes = interpolate(before->read_bytes, after->read_bytes, place);
	at.write_bytes = interpolate(before->write_bytes, after->write_bytes, place);
	at.read_chars = interpolate(before->read_chars, after->read_chars, place);
	at.write_chars = interpolate(before->write_chars, after->write_chars, place);
	return at;
}

static struct account account_at(const struct account *rows, uint32_t count, uint64_t period,
				 const struct account *birth, uint64_t ts_ns)
{
	uint32_t next = BISECT(i, 0, count, rows[i].ts_ns <= ts_ns);

	if (next == count)
		return rows[count - 1];
	if (next > 0)
		return between(&rows[next - 1], &rows[next], period, ts_ns);
	return birth ? between(birth, &rows[0], period, ts_ns) : rows[0];
}

/* The start of a thread's figures: 0 at its birth; NULL if the first account includes earlier activity. */
static const struct account *birth_of(const struct model *model, uint32_t thread, uint32_t first,
				      struct account *birth)
{
	const struct thread *of = &model->threads.row[thread];
	bool born_here = of->start_ns ? of->start_ns >= model->info.session_start_ns
				      : of->first_ns > model->info.session_start_ns;

	*birth = (struct account){ .thread = thread, .ts_ns = of->first_ns };
	if (model->accounts.row[first].flags & PROFBPF__ACCOUNTS__FLAG__FIRST)
		born_here = false;
	return born_here ? birth : NULL;
}

bool accounts_at(const struct model *model, uint32_t thread, uint64_t ts_ns, struct account *at)
{
	uint64_t period = model->info.interval_ns ? model->info.interval_ns : PERIOD_DEFAULT_NS;
	uint32_t first, count = accounts_of(model, thread, &first);
	struct account birth;

	if (count == 0)
		return false;
	*at = account_at(&model->accounts.row[first], count, period,
			 birth_of(model, thread, first, &birth), ts_ns);
	return true;
}

bool accounts_growth(const struct model *model, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		     struct account *growth)
{
	struct account before, after;

	if (!accounts_at(model, thread, from_ns, &before) ||
	    !accounts_at(model, thread, to_ns, &after))
		return false;
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
	growth->io_ns = grown(before.io_ns, after.io_ns);
	growth->read_bytes = grown(before.read_bytes, after.read_bytes);
	growth->write_bytes = grown(before.write_bytes, after.write_bytes);
	growth->read_chars = grown(before.read_chars, after.read_chars);
	growth->write_chars = grown(before.write_chars, after.write_chars);
	return true;
}
