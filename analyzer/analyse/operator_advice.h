/* SPDX-License-Identifier: Apache-2.0 */
/* operator_advice.h - what can be done about a slow operator of a framework, in its own terms. */
#ifndef PROFBPF_ANALYZER_ANALYSE_OPERATOR_ADVICE_H
#define PROFBPF_ANALYZER_ANALYSE_OPERATOR_ADVICE_H

#include <stdint.h>

#include "analyzer/frameworks/pipeline.h"

/*
 * operator_advice - one or two sentences, or "" for operators of which nothing special is known
 *
 * @op is an index into the pipeline's operators. Names of options are those of the framework's Python
 * interface; for MindData it is what MindInsight advises for the type. Constant texts.
 */
const char *operator_advice(const struct model *model, const struct pipeline *pipeline, uint32_t op);

#endif /* PROFBPF_ANALYZER_ANALYSE_OPERATOR_ADVICE_H */
