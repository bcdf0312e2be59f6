/* SPDX-License-Identifier: Apache-2.0 */
/* operator_advice.h - what can be done about an operator of a framework, in its own terms. */
#ifndef PROFBPF_ANALYZER_ANALYSE_PIPELINE_OPERATOR_ADVICE_H
#define PROFBPF_ANALYZER_ANALYSE_PIPELINE_OPERATOR_ADVICE_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/frameworks/pipeline_model.h"

enum advice_aim {
	ADVISE_FASTER, /* it is waited for: more of it at the same time, or less to do */
	ADVISE_UNLOCK, /* its Python code has the interpreter lock that the trainer needs */
	ADVISE_FEWER, /* its threads have the CPUs that the trainer needs */
	ADVISE_STORAGE, /* it waits for a disk */
};

/*
 * operator_advice - one or two sentences, or "" for operators of which nothing special is known
 *
 * @op is an index into the pipeline's operators. Names of functions and options are those of the framework's
 * Python interface; for MindData it is what MindInsight advises for the type. Constant texts.
 */
const char *operator_advice(const struct model *model, const struct pipeline *pipeline, uint32_t op,
			    enum advice_aim aim);

/* operator_advice_text - the i-th of all sentences and *@framework it is for, or NULL after the last */
const char *operator_advice_text(size_t i, const char **framework);

#endif /* PROFBPF_ANALYZER_ANALYSE_PIPELINE_OPERATOR_ADVICE_H */
