/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/step_names.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PROFILER "ProfilerStep#"
#define EXECUTE "execute_"
#define RUN "model_run"

/* Characters allowed between the word and the number, or behind both. */
#define BETWEEN " _#:=-[("

static uint64_t number_in(const char *text)
{
	uint64_t number;
	char *end;

	if (!isdigit((unsigned char)*text))
		return UINT64_MAX;
	errno = 0;
	number = strtoull(text, &end, 10);
	return errno ? UINT64_MAX : number;
}

enum step_name step_name_of(const char *text, uint64_t *number)
{
	static const char *const WORDS[] = { "train_step",    "training_step", "train step",
					     "training step", "step",	       "iteration",
					     "iter" };

	*number = UINT64_MAX;
	if (strncmp(text, PROFILER, strlen(PROFILER)) == 0) {
		*number = number_in(text + strlen(PROFILER));
		return *number != UINT64_MAX ? STEP_NAME_PROFILER : STEP_NAME_NONE;
	}
	if (strncmp(text, EXECUTE, strlen(EXECUTE)) == 0 || strcmp(text, RUN) == 0)
		return STEP_NAME_EXECUTE;
	for (size_t i = 0; i < sizeof(WORDS) / sizeof(*WORDS); i++) {
		size_t length = strlen(WORDS[i]);

		if (strncasecmp(text, WORDS[i], length) != 0)
			continue;
		if (!text[length])
			return STEP_NAME_STEP;
		/* "step[train]" and "step 3", but not "steps" or "step_size". */
		*number = number_in(text + length + strspn(text + length, BETWEEN));
		if (*number != UINT64_MAX || text[length] == '[')
			return STEP_NAME_STEP;
	}
	return STEP_NAME_NONE;
}
