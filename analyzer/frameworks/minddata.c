/* SPDX-License-Identifier: Apache-2.0 */
/* MindSpore's MindData. */
#include "analyzer/frameworks/minddata.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DATASET "_ZN9mindspore7dataset"

static const struct framework_function FUNCTIONS[] = {
	{ DATASET "4TaskclEv", MD_TASK },
	{ DATASET "13ExecutionTree6LaunchEv", MD_LAUNCH },
	{ DATASET "5MapOp6LaunchEv", MD_OPERATOR_LAUNCH },
	{ DATASET "7BatchOp6LaunchEv", MD_OPERATOR_LAUNCH },
	{ DATASET "16IteratorConsumer15GetNextAsVectorE", MD_FETCH },
	{ DATASET "16IteratorConsumer12GetNextAsMapE", MD_FETCH },
	{ DATASET "16IteratorConsumer20GetNextAsOrderedPairE", MD_FETCH },
	{ DATASET "*Op10GetNextRowE", MD_INLINED },
	{ DATASET "9DatasetOp10GetNextRowE", MD_NEXT },
	{ DATASET "5QueueINS0_9TensorRowEE3AddE", MD_PUSH },
	{ DATASET "5QueueINS0_9TensorRowEE11EmplaceBackI", MD_PUSH },
	{ DATASET "5MapOp13WorkerComputeE", MD_WORK },
	{ DATASET "9ShuffleOp21AddRowToShuffleBufferE", MD_SHUFFLE },
	{ DATASET "7BatchOp14MakeBatchedRowE", MD_WORK },
	{ DATASET "8PyFuncOp7ComputeE", MD_PYTHON },
	{ "acltdtSendTensor", MD_SEND },
	{ "acltdtQueryChannelSize", MD_DEVICE_SIZE },
};

struct pipeline *minddata_pipeline(struct minddata *md, uint32_t tree)
{
	return &md->pipelines->list.row[md->trees.row[tree].pipeline];
}

static int prepare(struct minddata *md)
{
	md->tree_of = indices_none(md->model->threads.count);
	md->operator_of = indices_none(md->model->threads.count);
	return md->tree_of && md->operator_of ? 0 : -ENOMEM;
}

static void release(struct minddata *md)
{
	for (uint32_t i = 0; i < md->trees.count; i++) {
		free(md->trees.row[i].handles.row);
		free(md->trees.row[i].popped.row);
		free(md->trees.row[i].in.row);
		free(md->trees.row[i].out.row);
		free(md->trees.row[i].bursts.row);
	}
	free(md->trees.row);
	free(md->launches.row);
	free(md->tree_of);
	free(md->operator_of);
	free(md->what);
}

static int build(struct model *model, struct pipelines *pipelines)
{
	struct minddata md = {
		.model = model,
		.pipelines = pipelines,
		.arguments = strcmp(model_text(model, model->info.arch), "aarch64") != 0,
	};
	bool any = false;
	int err;

	md.what = framework_classify(model, NULL, FUNCTIONS,
				     sizeof(FUNCTIONS) / sizeof(FUNCTIONS[0]), &any);
	err = md.what ? 0 : -ENOMEM;
	if (!err && any) {
		err = prepare(&md);
		if (!err)
			err = minddata_tasks(&md);
		if (!err)
			err = minddata_calls(&md);
		if (!err)
			err = minddata_finish(&md);
	}
	release(&md);
	return err;
}

const struct framework FRAMEWORK_MINDDATA = { "MindData", build };
