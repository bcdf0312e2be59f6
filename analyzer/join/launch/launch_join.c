/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/launch/launch_join.h"

#include <string.h>

bool launches_complete(const struct model *model)
{
	for (uint32_t i = 0; i < model->sources.count; i++) {
		const struct source_loss *source = &model->sources.row[i];

		if (strcmp(model_text(model, source->name), "api") == 0)
			return source->produced == source->delivered && model->info.ended &&
			       !model->info.min_duration_ns;
	}
	return false;
}
