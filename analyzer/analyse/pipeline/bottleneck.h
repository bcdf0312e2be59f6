/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bottleneck.h - the operator that holds up the training, the reason, and the remedy.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_PIPELINE_BOTTLENECK_H
#define PROFBPF_ANALYZER_ANALYSE_PIPELINE_BOTTLENECK_H

#include <stddef.h>

#include "analyzer/analyse/pipeline/peer_rules.h"
#include "analyzer/analyse/pipeline/steps.h"

#define BOTTLENECK_HIGH_PERCENT 30 /* of the steps' time: advice of high severity */

enum bottleneck_kind {
	BOTTLENECK_NONE = 0, /* no operator costs the steps BOTTLENECK_PERCENT of their time */
	BOTTLENECK_BUSY, /* the trainer waits for it; its workers are on a CPU */
	BOTTLENECK_SLEEPS, /* the same; its workers sleep during their work: a remote read, a lock */
	BOTTLENECK_STORAGE, /* the same; its workers wait for a disk */
	BOTTLENECK_STARVED, /* the same; its workers are ready but other threads have the CPUs */
	BOTTLENECK_LOCK, /* its Python code has the interpreter lock that the trainer needs */
	BOTTLENECK_TAKES_CPU, /* its threads have the CPUs that the trainer needs */
	BOTTLENECK_SLOW, /* the trainer waits for it; the activity of its workers is not known */
	BOTTLENECK_RESTARTS, /* its worker processes are started anew for each epoch; percent is of the time of all epochs */
};

struct bottleneck {
	enum bottleneck_kind kind;
	uint32_t op; /* index into the pipeline's operators, or INDEX_NONE */
	double percent; /* of the judged steps' time */
	char reason[512]; /* with figures; for BOTTLENECK_NONE, why there is none */
};

#define ADVICE_RULES_MAX 6

struct advice {
	const char *id; /* "pipeline_storage"; stable, for scripts */
	uint32_t pipeline; /* the pipeline whose bottleneck it is about: row of pipeline_results; INDEX_NONE = none */
	double gain_percent; /* upper bound of the gain, of the analysed time; 0 = not known */
	const char *severity; /* "high", "medium", "low" */
	char title[160];
	char evidence[512];
	char remedy[600]; /* for this case, and for this type of operator */
	struct peer_rule_hit rules[ADVICE_RULES_MAX]; /* rules of other profilers that say the same */
	uint32_t rule_count;
};

struct advice_results {
	struct bottleneck *bottlenecks; /* one per row of pipeline_results */
	uint32_t count;
	struct advice *list; /* most urgent first */
	uint32_t advice_count;
};

/* Returns a kind's name in JSON: "busy sleeps storage starved lock takes_cpu slow restarts none". */
const char *bottleneck_name(enum bottleneck_kind kind);

/*
 * advice_analyse - finds the bottleneck of each pipeline, and gives advice
 *
 * @idle_cpus: the mean number of idle CPUs; NAN = not known. Returns 0 or -ENOMEM; in both cases the caller calls
 * advice_free().
 */
int advice_analyse(const struct model *model, const struct step_results *steps, double idle_cpus,
		   struct advice_results *results);
void advice_free(struct advice_results *results);

/* advice_new - appends advice to the list; the pointer is valid until the next call. NULL without memory. */
struct advice *advice_new(struct advice_results *results, const char *id, double percent,
			  const char *title, const char *remedy);

/* advice_cite - adds a rule of another profiler that says the same, with @value; once, and as long as there is room */
void advice_cite(struct advice *advice, enum peer_rule_id rule, double value);

/* advice_sort - sorts the list, most urgent first, after additions */
void advice_sort(struct advice_results *results);

/*
 * bottleneck_remedy - writes the remedy for an operator that holds up the training in this way
 *
 * The text respects the job's settings and uses its framework's terms; @idle_cpus as above. @kind is not
 * BOTTLENECK_NONE. The text is cut to @size and terminated.
 */
void bottleneck_remedy(const struct model *model, const struct pipeline *pipeline, uint32_t op,
		       enum bottleneck_kind kind, double idle_cpus, char *text, size_t size);

#endif /* PROFBPF_ANALYZER_ANALYSE_PIPELINE_BOTTLENECK_H */
