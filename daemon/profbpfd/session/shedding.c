/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/session/shedding.h"

/* Leaving out records that cost less than this part of the total does not help. */
#define WORTH 0.1

/* Records are taken back only if they fit into this part of the budget, or of the amount that crowded the rings. */
#define ROOM 0.5

unsigned int shed_kept_permille(enum shed_what what, unsigned int level)
{
	static const unsigned int samples[] = { 1000, 250, 0 };

	if (what == SHED_SAMPLES)
		return samples[level < 2 ? level : 2];
	return level ? 0 : 1000;
}

static bool can_cut(const struct shed_watch *watch, const struct shed_look *look, enum shed_what what,
		    double budget)
{
	double most = look->total > budget || look->crowded ? look->total : budget;

	return look->recorded[what] && shed_kept_permille(what, watch->level[what]) &&
	       look->now[what] > 0 && look->now[what] >= WORTH * most;
}

/* Returns the most expensive kind of records to cut. If ends of calls cost more, the prober leaves some out instead. */
static enum shed_what dearest(const struct shed_watch *watch, const struct shed_look *look, double budget)
{
	enum shed_what found = SHED_WHATS;

	for (enum shed_what what = 0; what < SHED_WHATS; what++)
		if (can_cut(watch, look, what, budget) &&
		    (found == SHED_WHATS || look->now[what] > look->now[found]))
			found = what;
	return found;
}

static bool ends_go_first(const struct shed_watch *watch, const struct shed_look *look, double budget)
{
	enum shed_what what = dearest(watch, look, budget);

	return what == SHED_WHATS || look->ends > look->now[what];
}

/* Returns the cost of one step back. */
static double step_back(const struct shed_watch *watch, const struct shed_look *look, enum shed_what what)
{
	unsigned int level = watch->level[what];

	return look->all[what] *
	       (shed_kept_permille(what, level - 1) - shed_kept_permille(what, level)) / 1000;
}

static bool fits(const struct shed_watch *watch, const struct shed_look *look, enum shed_what what,
		 double budget)
{
	if (look->crowded || look->total + step_back(watch, look, what) > ROOM * budget)
		return false;
	return look->all[what] <= ROOM * watch->crowded_at[what] || watch->crowded_at[what] <= 0;
}

static enum shed_what to_take_back(const struct shed_watch *watch, const struct shed_look *look,
				   double budget)
{
	enum shed_what found = SHED_WHATS;

	for (enum shed_what what = 0; what < SHED_WHATS; what++)
		if (watch->level[what] && fits(watch, look, what, budget) &&
		    (found == SHED_WHATS ||
		     step_back(watch, look, what) < step_back(watch, look, found)))
			found = what;
	return found;
}

static enum shed_what cut(struct shed_watch *watch, const struct shed_look *look, double budget)
{
	enum shed_what what = dearest(watch, look, budget);

	if (what == SHED_WHATS || look->ends > look->now[what])
		return SHED_WHATS;
	watch->level[what]++;
	/* If this cut does not help, the next one follows sooner. */
	watch->above = SHED_LOOKS - 2;
	if (look->crowded && look->total <= budget)
		watch->crowded_at[what] = look->all[what];
	return what;
}

enum shed_what shed_judge(struct shed_watch *watch, const struct shed_look *look, double budget)
{
	enum shed_what what = to_take_back(watch, look, budget);

	watch->below = what == SHED_WHATS ? 0 : watch->below + 1;
	if (look->total > budget || look->crowded)
		watch->above++;
	else
		watch->above = 0;
	if (watch->above >= SHED_LOOKS)
		return cut(watch, look, budget);
	if (watch->below < SHED_LOOKS)
		return SHED_WHATS;
	watch->below = 0;
	if (!--watch->level[what])
		watch->crowded_at[what] = 0;
	return what;
}

struct ends_budget shed_ends_budget(const struct shed_watch *watch, const struct shed_look *look,
				    double budget)
{
	double room = budget - (look->total - look->ends);
	struct ends_budget ends = { .most = budget, .room = room > 0 ? room : 0 };

	if (look->ends >= WORTH * look->total && ends_go_first(watch, look, budget))
		ends.most = ends.room;
	return ends;
}
