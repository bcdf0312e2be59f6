/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/operator_advice.h"

#include <string.h>

static const struct {
	const char *framework;
	const char *type; /* begins with; "" is any source, which reads from outside */
	const char *advice;
} ADVICE[] = {
	{ "MindData", "Generator",
	  "GeneratorDataset: raise num_parallel_workers, with python_multiprocessing=True; or turn "
	  "the data into MindRecord once and read that with MindDataset." },
	{ "MindData", "Map",
	  "map(): raise num_parallel_workers; replace Python functions by MindSpore's own "
	  "transforms, or make them faster." },
	{ "MindData", "Batch",
	  "batch(): change the length of the queues, dataset.config.set_prefetch_size(); with a "
	  "per_batch_map raise num_parallel_workers." },
	{ "MindData", "", "This dataset: raise num_parallel_workers where it is opened." },
	{ "torch", "DataLoader", "DataLoader: give it workers, num_workers=2 or more." },
	{ "torch", "worker",
	  "DataLoader: raise num_workers, or prefetch_factor where batches differ in cost; "
	  "persistent_workers=True keeps the processes from epoch to epoch." },
	{ "torch", "pin",
	  "pin_memory: hand on fewer and larger tensors (collate_fn), so that there is less to copy "
	  "one by one." },
	{ "tf.data", "Map", "map(): num_parallel_calls=tf.data.AUTOTUNE; batch first, and map batches." },
	{ "tf.data", "ParallelMap",
	  "map(): raise num_parallel_calls, or set it to tf.data.AUTOTUNE; batch first, and map "
	  "batches; cache() what is the same in each epoch." },
	{ "tf.data", "ParallelInterleave",
	  "interleave(): raise cycle_length and num_parallel_calls, so that more files are read at "
	  "once." },
	{ "tf.data", "Interleave", "interleave(): num_parallel_calls=tf.data.AUTOTUNE." },
	{ "tf.data", "Batch", "batch(): num_parallel_calls=tf.data.AUTOTUNE." },
	{ "tf.data", "", "Read several files at once: interleave() with num_parallel_calls." },
	{ "MegEngine", "worker", "DataLoader: raise num_workers." },
};

const char *operator_advice(const struct model *model, const struct pipeline *pipeline, uint32_t op)
{
	const struct pipeline_operator *row = &pipeline->operators.row[op];
	const char *type = model_text(model, row->type);

	for (size_t i = 0; i < sizeof(ADVICE) / sizeof(ADVICE[0]); i++) {
		size_t length = strlen(ADVICE[i].type);

		if (strcmp(pipeline->framework, ADVICE[i].framework) == 0 &&
		    (length ? strncmp(type, ADVICE[i].type, length) == 0 : row->source))
			return ADVICE[i].advice;
	}
	return "";
}
