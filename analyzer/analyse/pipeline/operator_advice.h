/* SPDX-License-Identifier: Apache-2.0 */
/* operator_advice.h - advice about an operator of a framework, in the framework's terms. */
#ifndef PROFBPF_ANALYZER_ANALYSE_PIPELINE_OPERATOR_ADVICE_H
#define PROFBPF_ANALYZER_ANALYSE_PIPELINE_OPERATOR_ADVICE_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/frameworks/pipeline_model.h"

enum advice_aim {
	ADVISE_FASTER, /* the trainer waits for it: more parallelism, or less work */
	ADVISE_UNLOCK, /* its Python code has the interpreter lock that the trainer needs */
	ADVISE_FEWER, /* its threads have the CPUs that the trainer needs */
	ADVISE_STORAGE, /* it waits for a disk */
	ADVISE_KEEP, /* its worker processes are started anew for each epoch */
	ADVISE_SHARE, /* few of its worker processes have most of the work */
};

/*
 * operator_advice - returns one or two sentences, or "" for operators without specific advice
 *
 * @op is an index into the pipeline's operators. Names of functions and options are those of the framework's
 * Python interface; for MindData the advice is MindInsight's for the type. Static text.
 */
const char *operator_advice(const struct model *model, const struct pipeline *pipeline, uint32_t op,
			    enum advice_aim aim);

/* operator_advice_text - returns the i-th of all texts and sets *@framework to its framework; NULL after the last */
const char *operator_advice_text(size_t i, const char **framework);

#endif /* PROFBPF_ANALYZER_ANALYSE_PIPELINE_OPERATOR_ADVICE_H */
