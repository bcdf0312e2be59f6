/* SPDX-License-Identifier: Apache-2.0 */
/* session_shed.c - measures a session's cost, and leaves out records that are too expensive (shedding.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/common/topics.h"
#include "daemon/profbpfd/session/run_prices.h"
#include "daemon/profbpfd/session/session_private.h"
#include "daemon/profbpfd/session/shedding.h"

#define FULL 0.75 /* above this part, a ring is nearly too small */
#define COUNTED_PART 16 /* samples that are left out are counted at the requested rate divided by this */

struct session_shed {
	struct run_prices *prices;
	struct shed_watch watch;
	uint64_t looked_ns, lost;
	uint32_t rate; /* samples per second and CPU, taken or counted */
	bool told;
	struct run_counts *counts; /* one per CPU */
	struct run_cost *costs;
	uint64_t *calls;
};

void session_shed_free(struct session_shed *shed)
{
	if (!shed)
		return;
	run_prices_free(shed->prices);
	free(shed->counts);
	free(shed->costs);
	free(shed->calls);
	free(shed);
}

static struct session_shed *new_shed(int cpus, struct call_prices calls)
{
	struct session_shed *shed = calloc(1, sizeof(*shed));

	if (!shed)
		return NULL;
	shed->prices = run_prices_new(cpus, calls);
	shed->counts = calloc(cpus, sizeof(*shed->counts));
	shed->costs = calloc(cpus, sizeof(*shed->costs));
	shed->calls = calloc(cpus, sizeof(*shed->calls));
	if (shed->prices && shed->counts && shed->costs && shed->calls)
		return shed;
	session_shed_free(shed);
	return NULL;
}

void session_shed_start(struct session *s)
{
	struct call_prices calls = { 0 };

	if (s->request.budget <= 0 || !(s->request.topics & (TOPIC_SCHED | TOPICS_SAMPLED)))
		return;
	if (s->request.topics & TOPIC_API)
		calls = (struct call_prices){
			.end_seen_ns = price_to_exit(&s->probe_costs),
			.other_ns = s->probe_costs.by_class[INSTRUCTION_EMULATED].whole_ns,
		};
	s->shed = new_shed(capture_cpus(s->capture), calls);
	if (s->shed)
		s->shed->rate = s->request.stack_rate;
	else
		session_warn(s, "out of memory: the session's costs are not checked (--budget)");
}

static int read_counts(struct session *s, struct session_shed *shed)
{
	int cpus = capture_cpus(s->capture);
	int err = capture_calls(s->capture, shed->calls);

	for (int cpu = 0; cpu < cpus && !err; cpu++)
		shed->counts[cpu].calls = shed->calls[cpu];
	for (int kind = 0; kind < RUN_KINDS && !err; kind++) {
		err = capture_run_costs(s->capture, kind, shed->costs);
		for (int cpu = 0; cpu < cpus && !err; cpu++)
			shed->counts[cpu].runs[kind] = shed->costs[cpu];
	}
	return err;
}

/* Returns the records of all sources that were lost for lack of room, by the latest counts. */
static uint64_t lost_so_far(const struct session *s)
{
	uint64_t lost = 0;

	for (unsigned int source = 0; source < SOURCES; source++) {
		const struct source_count *count = &s->counts[source];

		if (count->lost_count)
			lost += count->lost[LOSS_RING_FULL].count +
				count->lost[count->lost_count - 1].count;
	}
	return lost;
}

static bool is_crowded(struct session *s, struct session_shed *shed)
{
	uint64_t lost = lost_so_far(s);
	bool more = lost > shed->lost;

	shed->lost = lost;
	return capture_fullest(s->capture) > FULL || more;
}

/* Samples that were taken at the old rate are drained first, so that they are marked with it. */
static void change_rate(struct session *s, struct session_shed *shed, unsigned int kept)
{
	uint32_t rate = kept ? s->request.stack_rate * kept / 1000 : s->request.stack_rate / COUNTED_PART;
	char error[256];

	shed->rate = rate ? rate : 1;
	sampler_free(s->sampler);
	capture_shed(s->capture, RUN_SAMPLE, !kept);
	session_drain(s, true);
	stacks_set_rate(s->stacks, shed->rate);
	s->sampler = sampler_new(capture_sample_program(s->capture), shed->rate, error, sizeof(error));
	if (!s->sampler)
		session_warn(s, error);
}

static void tell(struct session *s, const struct shed_row *row)
{
	struct item *item = item_new(ITEM_SHED, sizeof(*row));

	if (item && !item_append(item, row, sizeof(*row)))
		session_push(s, item);
	else
		item_free(item);
}

/* On the way back, sleeps that began before now leave no stack, because they were not followed. */
static void leave_out(struct session *s, enum shed_what what, bool shed)
{
	if (what == SHED_SLEEPS && !shed)
		capture_follow_sleeps(s->capture, session_now_ns());
	capture_shed(s->capture, what == SHED_SLEEPS ? RUN_SLEEP : RUN_WAKE, shed);
}

static const Profbpf__Shed__What whats[SHED_WHATS] = {
	[SHED_SAMPLES] = PROFBPF__SHED__WHAT__SAMPLES,
	[SHED_WAKES] = PROFBPF__SHED__WHAT__WAKES,
	[SHED_SLEEPS] = PROFBPF__SHED__WHAT__SLEEPS,
};

static void apply(struct session *s, struct session_shed *shed, enum shed_what what,
		  const struct shed_look *look, uint64_t now_ns)
{
	unsigned int kept = shed_kept_permille(what, shed->watch.level[what]);
	struct shed_row row = {
		.what = whats[what],
		.reason = look->crowded && look->total <= s->request.budget ?
				  PROFBPF__SHED__REASON__ROOM :
				  PROFBPF__SHED__REASON__COST,
		.kept_permille = kept,
		.cost_ppm = (uint32_t)(look->total * 1e6),
		.ts_ns = now_ns,
	};

	if (what == SHED_SAMPLES)
		change_rate(s, shed, kept);
	else
		leave_out(s, what, !kept);
	tell(s, &row);
	pthread_mutex_lock(&s->lock);
	s->shedding[what] = (struct session_shedding){ kept, now_ns };
	pthread_mutex_unlock(&s->lock);
	if (shed->told)
		return;
	shed->told = true;
	session_warn(s, "some records are left out for some time because of their cost (--budget): "
			"section capture of the report lists which, and when");
}

void session_shed_look(struct session *s)
{
	struct session_shed *shed = s->shed;
	uint64_t now_ns = session_now_ns();
	enum shed_what what;
	struct shed_look look = {
		.recorded = { [SHED_SAMPLES] = s->sampler != NULL,
			      [SHED_WAKES] = s->request.topics & TOPIC_SCHED,
			      [SHED_SLEEPS] = s->request.topics & TOPIC_STACK },
	};

	if (!shed || read_counts(s, shed))
		return;
	look.crowded = is_crowded(s, shed);
	if (s->probes)
		run_prices_ends_seen(shed->prices, probes_ends_seen(s->probes));
	run_prices_look(shed->prices, shed->counts, (double)(now_ns - shed->looked_ns) / 1e9, &shed->watch,
			(double)shed->rate / s->request.stack_rate, &look);
	shed->looked_ns = now_ns;
	pthread_mutex_lock(&s->lock);
	s->cost = look.total;
	s->cost_known = true;
	pthread_mutex_unlock(&s->lock);
	if (s->probes)
		probes_set_budget(s->probes, shed_ends_budget(&shed->watch, &look, s->request.budget));
	what = shed_judge(&shed->watch, &look, s->request.budget);
	if (what < SHED_WHATS)
		apply(s, shed, what, &look, now_ns);
}
