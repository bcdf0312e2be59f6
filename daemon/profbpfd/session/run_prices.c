/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/session/run_prices.h"

#include <stdlib.h>
#include <string.h>

#define TIMED_MIN 4 /* fewer timed runs are not representative */

struct run_prices {
	int cpus;
	struct call_prices call_ns;
	double ends_seen; /* calls per second */
	bool looked;
	double ns[RUN_KINDS]; /* duration of one run; 0 = not known yet */
	struct run_counts before[]; /* one per CPU */
};

struct run_prices *run_prices_new(int cpus, struct call_prices calls)
{
	struct run_prices *p = calloc(1, sizeof(*p) + cpus * sizeof(p->before[0]));

	if (!p)
		return NULL;
	p->cpus = cpus;
	p->call_ns = calls;
	return p;
}

void run_prices_free(struct run_prices *prices)
{
	free(prices);
}

void run_prices_ends_seen(struct run_prices *p, double calls_per_second)
{
	p->ends_seen = calls_per_second;
}

static void take_price(struct run_prices *p, const struct run_counts *counts, int kind)
{
	uint64_t timed = 0, ns = 0;
	double price;

	for (int cpu = 0; cpu < p->cpus; cpu++) {
		timed += counts[cpu].runs[kind].timed - p->before[cpu].runs[kind].timed;
		ns += counts[cpu].runs[kind].timed_ns - p->before[cpu].runs[kind].timed_ns;
	}
	if (timed < TIMED_MIN)
		return;
	price = (double)ns / (double)timed;
	p->ns[kind] = p->ns[kind] > 0 ? (p->ns[kind] + price) / 2 : price;
}

/* Returns a part of the CPU's time. */
static double spent(const struct run_prices *p, const struct run_counts *counts, int cpu, int kind,
		    double seconds)
{
	uint64_t runs = counts[cpu].runs[kind].runs - p->before[cpu].runs[kind].runs;

	return (double)runs * p->ns[kind] / seconds / 1e9;
}

/* Returns the part of all calls whose ends are seen the expensive way; it is assumed to be the same on each CPU. */
static double part_of_ends(const struct run_prices *p, const struct run_counts *counts, double seconds)
{
	double calls = 0;

	for (int cpu = 0; cpu < p->cpus; cpu++)
		calls += (double)(counts[cpu].calls - p->before[cpu].calls);
	return calls > p->ends_seen * seconds ? p->ends_seen * seconds / calls : 1;
}

static void look_at(const struct run_prices *p, const struct run_counts *counts, int cpu, double seconds,
		    const struct shed_watch *watch, double sampled, struct shed_look *look)
{
	double calls = (double)(counts[cpu].calls - p->before[cpu].calls) / seconds / 1e9;
	double ends = calls * part_of_ends(p, counts, seconds);

	look->all[SHED_SAMPLES] = spent(p, counts, cpu, RUN_SAMPLE, seconds) / sampled;
	look->all[SHED_WAKES] = spent(p, counts, cpu, RUN_WAKE, seconds);
	look->all[SHED_SLEEPS] = spent(p, counts, cpu, RUN_SLEEP, seconds);
	look->ends = ends * p->call_ns.end_seen_ns;
	look->total = spent(p, counts, cpu, RUN_SWITCH, seconds) + look->ends +
		      (calls - ends) * p->call_ns.other_ns;
	for (enum shed_what what = 0; what < SHED_WHATS; what++) {
		look->now[what] =
			look->all[what] * shed_kept_permille(what, watch->level[what]) / 1000;
		look->total += look->now[what];
	}
}

static void take_dearest(struct run_prices *p, const struct run_counts *counts, double seconds,
			 const struct shed_watch *watch, double sampled, struct shed_look *look)
{
	for (int cpu = 0; cpu < p->cpus; cpu++) {
		struct shed_look here = { 0 };

		look_at(p, counts, cpu, seconds, watch, sampled, &here);
		if (cpu && here.total <= look->total)
			continue;
		look->total = here.total;
		look->ends = here.ends;
		memcpy(look->now, here.now, sizeof(look->now));
	}
	/* Each kind of records that is left out may be most expensive on another CPU. */
	for (int cpu = 0; cpu < p->cpus; cpu++) {
		struct shed_look here = { 0 };

		look_at(p, counts, cpu, seconds, watch, sampled, &here);
		for (enum shed_what what = 0; what < SHED_WHATS; what++)
			if (here.all[what] > look->all[what])
				look->all[what] = here.all[what];
	}
}

void run_prices_look(struct run_prices *p, const struct run_counts *counts, double seconds,
		     const struct shed_watch *watch, double sampled, struct shed_look *look)
{
	if (p->looked && seconds > 0) {
		for (int kind = 0; kind < RUN_KINDS; kind++)
			take_price(p, counts, kind);
		take_dearest(p, counts, seconds, watch, sampled, look);
	}
	memcpy(p->before, counts, p->cpus * sizeof(p->before[0]));
	p->looked = true;
}
