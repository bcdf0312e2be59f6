/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bottleneck.h - which operator holds the training up, why, and what to do about it.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_PIPELINE_BOTTLENECK_H
#define PROFBPF_ANALYZER_ANALYSE_PIPELINE_BOTTLENECK_H

#include <stddef.h>

#include "analyzer/analyse/pipeline/peer_rules.h"
#include "analyzer/analyse/pipeline/steps.h"

#define BOTTLENECK_HIGH_PERCENT 30 /* of the steps' time: advice of high severity */

enum bottleneck_kind {
	BOTTLENECK_NONE = 0, /* no operator costs the steps BOTTLENECK_PERCENT of their time */
	BOTTLENECK_BUSY, /* waited for; its workers are on a CPU */
	BOTTLENECK_SLEEPS, /* waited for; its workers sleep while they work: a remote read, a lock */
	BOTTLENECK_STORAGE, /* waited for; its workers wait for a disk */
	BOTTLENECK_STARVED, /* waited for; its workers are ready but others have the CPUs */
	BOTTLENECK_LOCK, /* its Python code has the interpreter lock that the trainer needs */
	BOTTLENECK_TAKES_CPU, /* its threads have the CPUs that the trainer needs */
	BOTTLENECK_SLOW, /* waited for; what its workers did is not known */
};

struct bottleneck {
	enum bottleneck_kind kind;
	uint32_t op; /* index into the pipeline's operators, or INDEX_NONE */
	double percent; /* of the judged steps' time */
	char reason[512]; /* with figures; for BOTTLENECK_NONE, why none */
};

#define ADVICE_RULES_MAX 6

struct advice {
	const char *id; /* "pipeline_storage"; a promise to scripts */
	uint32_t pipeline; /* whose bottleneck it is about: row of pipeline_results; INDEX_NONE = none's */
	double gain_percent; /* of the time that it is about, at most; 0 = not known */
	const char *severity; /* "high", "medium", "low" */
	char title[160];
	char evidence[512];
	char remedy[600]; /* what helps here, and with this type of operator */
	struct peer_rule_hit rules[ADVICE_RULES_MAX]; /* rules of other profilers that say the same */
	uint32_t rule_count;
};

struct advice_results {
	struct bottleneck *bottlenecks; /* one per row of pipeline_results */
	uint32_t count;
	struct advice *list; /* most urgent first */
	uint32_t advice_count;
};

/* A kind's name in JSON: "busy sleeps storage starved lock takes_cpu slow none". */
const char *bottleneck_name(enum bottleneck_kind kind);

/*
 * advice_analyse - judge every pipeline, and say what to do
 *
 * @idle_cpus: how many CPUs had nothing to do, on the mean; NAN = not known. Returns 0 or -ENOMEM; in both cases advice_free() is to be called.
 */
int advice_analyse(const struct model *model, const struct step_results *steps, double idle_cpus,
		   struct advice_results *results);
void advice_free(struct advice_results *results);

/* advice_new - one more, at the end, with these; the pointer is valid until the next one. NULL without memory. */
struct advice *advice_new(struct advice_results *results, const char *id, double percent,
			  const char *title, const char *remedy);

/* advice_cite - a rule of another profiler says the same, with @value; once, and as many as there is room for */
void advice_cite(struct advice *advice, enum peer_rule_id rule, double value);

/* advice_sort - most urgent first; for whoever adds to the list */
void advice_sort(struct advice_results *results);

/*
 * bottleneck_remedy - what helps if an operator of a pipeline holds the training up in this way
 *
 * With the job's settings in mind, and in its framework's words; @idle_cpus as above. @kind is not BOTTLENECK_NONE. The text is cut to
 * @size and terminated.
 */
void bottleneck_remedy(const struct model *model, const struct pipeline *pipeline, uint32_t op,
		       enum bottleneck_kind kind, double idle_cpus, char *text, size_t size);

#endif /* PROFBPF_ANALYZER_ANALYSE_PIPELINE_BOTTLENECK_H */
