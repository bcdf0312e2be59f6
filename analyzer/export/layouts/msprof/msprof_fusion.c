/* SPDX-License-Identifier: Apache-2.0 */
/* fusion_op: operators that the graph compiler fused, from the device file; sizes are kilobytes of 1,024 bytes. */
#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/export/layouts/msprof/msprof.h"

#define KILO 1024.0

static void put_size(struct csv_file *csv, uint64_t bytes)
{
	if (bytes != UINT64_MAX)
		csv_format(csv, "%.10g", (double)bytes / KILO);
	else
		csv_text(csv, "N/A");
}

static void put_fused(const struct msprof *msprof, struct csv_file *csv,
		      const struct fused_operator *fused)
{
	const struct model *model = msprof->model;

	csv_format(csv, "%u", model->devices.row[msprof->device].id);
	msprof_text(csv, model_text(model, fused->model));
	if (fused->model_id != MODEL_ID_NONE)
		csv_format(csv, "%" PRIu64, fused->model_id);
	else
		csv_text(csv, "N/A");
	msprof_text(csv, model_text(model, fused->name));
	msprof_text(csv, model_text(model, fused->originals));
	put_size(csv, fused->input_bytes);
	put_size(csv, fused->output_bytes);
	put_size(csv, fused->weight_bytes);
	put_size(csv, fused->workspace_bytes);
	put_size(csv, fused->total_bytes);
	csv_end_row(csv);
}

/* Device files do not state the device of a graph: all graphs go to the first device. */
int msprof_fusion_op(const struct msprof *msprof)
{
	const struct model *model = msprof->model;
	struct csv_file csv;
	int err;

	if (!msprof->first || !model->fused_operators.count)
		return 0;
	err = msprof_open(msprof, &csv, "fusion_op",
			  "Device_id,Model Name,Model ID,Fusion Op,Original Ops,Memory Input(KB),"
			  "Memory Output(KB),Memory Weight(KB),Memory Workspace(KB),"
			  "Memory Total(KB)");
	if (err)
		return err;
	for (uint32_t i = 0; i < model->fused_operators.count; i++)
		put_fused(msprof, &csv, &model->fused_operators.row[i]);
	return csv_close(&csv);
}
