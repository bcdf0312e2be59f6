/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/pipeline/operator_advice.h"
#include "analyzer/model/translate.h"

#include <string.h>

/*
 * The first row counts whose framework and aim match and whose type is a prefix of the operator's; "one" matches an
 * operator with one worker, which cannot be reduced.
 */
static const struct {
	const char *framework;
	enum advice_aim aim;
	const char *type; /* "" matches any operator; "source" any that reads from outside */
	const char *advice;
} ADVICE[] = {
	{ "MindData", ADVISE_FASTER, "Generator",
	  N_("GeneratorDataset: raise num_parallel_workers, with python_multiprocessing=True; or turn "
	  "the data into MindRecord once and read that with MindDataset.") },
	{ "MindData", ADVISE_FASTER, "Map",
	  N_("map(): raise num_parallel_workers; replace Python functions by MindSpore's own "
	  "transforms, or make them faster.") },
	{ "MindData", ADVISE_FASTER, "Batch",
	  N_("batch(): change the length of the queues, dataset.config.set_prefetch_size(); with a "
	  "per_batch_map raise num_parallel_workers.") },
	{ "MindData", ADVISE_FASTER, "PaddedBatch", N_("padded_batch(): raise num_parallel_workers.") },
	{ "MindData", ADVISE_FASTER, "Filter", N_("filter(): raise num_parallel_workers.") },
	{ "MindData", ADVISE_FASTER, "source",
	  N_("This dataset: raise num_parallel_workers where it is opened.") },
	{ "MindData", ADVISE_UNLOCK, "Generator",
	  N_("GeneratorDataset: python_multiprocessing=True and num_parallel_workers=2 or more; a "
	     "single worker is always a thread.") },
	{ "MindData", ADVISE_UNLOCK, "Batch",
	  N_("batch(): python_multiprocessing=True, so that per_batch_map runs in processes.") },
	{ "MindData", ADVISE_UNLOCK, "Map",
	  N_("map(): python_multiprocessing=True, or MindSpore's own transforms instead of Python "
	  "functions.") },
	{ "MindData", ADVISE_FEWER, "",
	  N_("num_parallel_workers of the operator, or dataset.config.set_num_parallel_workers() "
	     "for all, sets the number of workers.") },
	{ "MindData", ADVISE_STORAGE, "source",
	  N_("MindRecord files, read with MindDataset, keep many samples in one file.") },

	{ "torch", ADVISE_FASTER, "DataLoader", N_("DataLoader: give it workers, num_workers=2 or more.") },
	{ "torch", ADVISE_FASTER, "worker",
	  N_("DataLoader: raise num_workers, or prefetch_factor where batches differ in cost.") },
	{ "torch", ADVISE_KEEP, "",
	  N_("DataLoader: persistent_workers=True, for a loader that is made once, before the loop over epochs.") },
	{ "torch", ADVISE_SHARE, "",
	  N_("An IterableDataset divides its data itself, by get_worker_info(): into equal parts, one or more for each worker.") },
	{ "torch", ADVISE_FASTER, "pin",
	  N_("pin_memory: pass on fewer and larger tensors (collate_fn), so that there are fewer copies.") },
	{ "torch", ADVISE_UNLOCK, "",
	  N_("DataLoader: num_workers=1 or more, so that the data is made in other processes; without "
	  "pin_memory there is no thread that unpacks it beside the trainer's.") },
	{ "torch", ADVISE_FEWER, "one",
	  N_("torch.set_num_threads() sets how many CPUs the trainer's own operators use.") },
	{ "torch", ADVISE_FEWER, "",
	  N_("DataLoader: lower num_workers; torch.set_num_threads() sets how many CPUs the "
	     "trainer's own operators use.") },

	{ "tf.data", ADVISE_FASTER, "MapAndBatch",
	  N_("map() and batch(), fused by TensorFlow: raise num_parallel_calls, or set it to "
	     "tf.data.AUTOTUNE; cache() what is the same in each epoch.") },
	{ "tf.data", ADVISE_FASTER, "Map",
	  N_("map(): num_parallel_calls=tf.data.AUTOTUNE; batch first, and map batches.") },
	{ "tf.data", ADVISE_FASTER, "ParallelMap",
	  N_("map(): raise num_parallel_calls, or set it to tf.data.AUTOTUNE; batch first, and map "
	  "batches; cache() what is the same in each epoch.") },
	{ "tf.data", ADVISE_FASTER, "ParallelInterleave",
	  N_("interleave(): raise cycle_length and num_parallel_calls, so that more files are read at "
	  "once.") },
	{ "tf.data", ADVISE_FASTER, "Interleave", N_("interleave(): num_parallel_calls=tf.data.AUTOTUNE.") },
	{ "tf.data", ADVISE_FASTER, "FlatMap",
	  N_("flat_map(): interleave() with num_parallel_calls=tf.data.AUTOTUNE does the same with "
	  "several inputs at once.") },
	{ "tf.data", ADVISE_FASTER, "Batch", N_("batch(): num_parallel_calls=tf.data.AUTOTUNE.") },
	{ "tf.data", ADVISE_FASTER, "ParallelBatch",
	  N_("batch(): raise num_parallel_calls, or set it to tf.data.AUTOTUNE.") },
	{ "tf.data", ADVISE_FASTER, "Filter",
	  N_("filter() has one thread: do what is costly in a map() with num_parallel_calls before it.") },
	{ "tf.data", ADVISE_FASTER, "Generator",
	  N_("from_generator() runs Python in one thread: read with TFRecordDataset or another of "
	  "TensorFlow's own, or do the work in a map() after it.") },
	{ "tf.data", ADVISE_FASTER, "source",
	  N_("Read several files at once: interleave() with num_parallel_calls.") },
	{ "tf.data", ADVISE_UNLOCK, "",
	  N_("Python in a pipeline (from_generator(), py_function(), numpy_function()) holds the "
	     "trainer's interpreter lock: use TensorFlow's own operations.") },
	{ "tf.data", ADVISE_FEWER, "",
	  N_("tf.data.Options limit its threads: threading.private_threadpool_size, or "
	  "autotune.cpu_budget; so does a number instead of AUTOTUNE for num_parallel_calls.") },
	{ "tf.data", ADVISE_STORAGE, "",
	  N_("TFRecord files keep many samples in one file; cache() keeps what was read.") },

	{ "MegEngine", ADVISE_FASTER, "worker", N_("DataLoader: raise num_workers.") },
	{ "MegEngine", ADVISE_FEWER, "one", "" },
	{ "MegEngine", ADVISE_FEWER, "", N_("DataLoader: lower num_workers.") },
};

static bool fits(const struct pipeline_operator *op, const char *type, const char *wanted)
{
	if (strcmp(wanted, "source") == 0)
		return op->source;
	if (strcmp(wanted, "one") == 0)
		return op->workers == 1 || op->in_trainer;
	return strncmp(type, wanted, strlen(wanted)) == 0;
}

const char *operator_advice(const struct model *model, const struct pipeline *pipeline, uint32_t op,
			    enum advice_aim aim)
{
	const struct pipeline_operator *row = &pipeline->operators.row[op];
	const char *type = model_text(model, row->type);

	for (size_t i = 0; i < sizeof(ADVICE) / sizeof(ADVICE[0]); i++)
		if (strcmp(pipeline->framework, ADVICE[i].framework) == 0 && aim == ADVICE[i].aim &&
		    fits(row, type, ADVICE[i].type))
			return tr(ADVICE[i].advice);
	return "";
}

const char *operator_advice_text(size_t i, const char **framework)
{
	if (i >= sizeof(ADVICE) / sizeof(ADVICE[0]))
		return NULL;
	*framework = ADVICE[i].framework;
	return ADVICE[i].advice;
}
