/* SPDX-License-Identifier: Apache-2.0 */
/* Advice for an operator depends on its framework, its type and its problem only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/pipeline/operator_advice.h"

static const char *advice(const char *framework, const char *type, bool source, enum advice_aim aim,
			  uint32_t workers)
{
	struct model *model = model_new();
	struct pipelines pipelines = { 0 };
	struct pipeline *pipeline = pipeline_add(&pipelines, framework, 0);
	const char *text;
	uint32_t op;

	assert_non_null(pipeline);
	op = pipeline_operator_add(model, pipeline, 0, "its name", type);
	assert_int_not_equal(op, INDEX_NONE);
	pipeline->operators.row[op].source = source;
	pipeline->operators.row[op].workers = workers;
	text = operator_advice(model, pipeline, op, aim);
	pipelines_free(&pipelines);
	model_free(model);
	return text;
}

static const struct {
	const char *framework, *type;
	bool source;
	enum advice_aim aim;
	const char *with; /* NULL = no advice */
	uint32_t workers;
} CASES[] = {
	{ "MindData", "Generator", true, ADVISE_FASTER, "MindRecord" },
	{ "MindData", "Map", false, ADVISE_FASTER, "num_parallel_workers" },
	{ "MindData", "Batch", false, ADVISE_FASTER, "prefetch_size" },
	{ "MindData", "PaddedBatch", false, ADVISE_FASTER, "padded_batch(): raise num_parallel" },
	{ "MindData", "Filter", false, ADVISE_FASTER, "filter()" },
	{ "MindData", "ImageFolder", true, ADVISE_FASTER, "This dataset: raise num_parallel_workers" },
	{ "MindData", "Shuffle", false, ADVISE_FASTER, NULL },
	{ "MindData", "Generator", true, ADVISE_UNLOCK, "python_multiprocessing=True" },
	{ "MindData", "Batch", false, ADVISE_UNLOCK, "per_batch_map runs in processes" },
	{ "MindData", "Map", false, ADVISE_UNLOCK, "python_multiprocessing=True" },
	{ "MindData", "Shuffle", false, ADVISE_UNLOCK, NULL },
	{ "MindData", "Map", false, ADVISE_FEWER, "set_num_parallel_workers" },
	{ "MindData", "ImageFolder", true, ADVISE_STORAGE, "MindRecord" },
	{ "MindData", "Map", false, ADVISE_STORAGE, NULL },
	{ "torch", "worker", true, ADVISE_FASTER, "prefetch_factor" },
	{ "torch", "worker", true, ADVISE_KEEP, "persistent_workers=True" },
	{ "MegEngine", "worker", true, ADVISE_KEEP, NULL },
	{ "torch", "worker", true, ADVISE_SHARE, "get_worker_info()" },
	{ "torch", "DataLoader", true, ADVISE_FASTER, "num_workers=2" },
	{ "torch", "pin", false, ADVISE_FASTER, "collate_fn" },
	{ "torch", "Map", false, ADVISE_FASTER, NULL },
	{ "torch", "pin", false, ADVISE_UNLOCK, "num_workers=1" },
	{ "torch", "worker", true, ADVISE_FEWER, "lower num_workers", 2 },
	{ "torch", "worker", true, ADVISE_FEWER, "set_num_threads", 1 },
	{ "torch", "worker", true, ADVISE_STORAGE, NULL },
	{ "tf.data", "Map", false, ADVISE_FASTER, "batch first" },
	{ "tf.data", "ParallelMapV2", false, ADVISE_FASTER, "cache()" },
	{ "tf.data", "MapAndBatch", false, ADVISE_FASTER, "fused by TensorFlow" },
	{ "tf.data", "ParallelInterleaveV4", false, ADVISE_FASTER, "cycle_length" },
	{ "tf.data", "Interleave", false, ADVISE_FASTER, "AUTOTUNE" },
	{ "tf.data", "FlatMap", false, ADVISE_FASTER, "interleave()" },
	{ "tf.data", "BatchV2", false, ADVISE_FASTER, "batch(): num_parallel_calls=" },
	{ "tf.data", "ParallelBatch", false, ADVISE_FASTER, "batch(): raise num_parallel_calls" },
	{ "tf.data", "Filter", false, ADVISE_FASTER, "before it" },
	{ "tf.data", "Generator", true, ADVISE_FASTER, "TFRecordDataset" },
	{ "tf.data", "TFRecord", true, ADVISE_FASTER, "interleave" },
	{ "tf.data", "Prefetch", false, ADVISE_FASTER, NULL },
	{ "tf.data", "FlatMap", false, ADVISE_UNLOCK, "py_function" },
	{ "tf.data", "MapAndBatch", false, ADVISE_FEWER, "private_threadpool_size" },
	{ "tf.data", "TensorSlice", true, ADVISE_STORAGE, "TFRecord" },
	{ "MegEngine", "worker", true, ADVISE_FASTER, "raise num_workers" },
	{ "MegEngine", "worker", true, ADVISE_FEWER, "lower num_workers", 2 },
	{ "MegEngine", "worker", true, ADVISE_FEWER, NULL, 1 },
	{ "unknown", "Map", true, ADVISE_FASTER, NULL },
};

static void by_type(void **state)
{
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		const char *text = advice(CASES[i].framework, CASES[i].type, CASES[i].source,
					  CASES[i].aim, CASES[i].workers);

		if (CASES[i].with)
			assert_non_null(strstr(text, CASES[i].with));
		else
			assert_string_equal(text, "");
	}
}

/* There cannot be fewer workers than one. */
static void one_worker(void **state)
{
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
		assert_null(strstr(advice(CASES[i].framework, CASES[i].type, CASES[i].source,
					  CASES[i].aim, 1),
				   "lower num_workers"));
}

/* No row of the table is hidden by an earlier one, and each has a case above. */
static void each_is_given(void **state)
{
	const char *framework, *text;

	for (size_t i = 0; (text = operator_advice_text(i, &framework)); i++) {
		bool given = false;

		for (size_t k = 0; k < sizeof(CASES) / sizeof(CASES[0]) && !given; k++)
			given = strcmp(framework, CASES[k].framework) == 0 &&
				advice(framework, CASES[k].type, CASES[k].source, CASES[k].aim,
				       CASES[k].workers) == text;
		if (!given)
			fail_msg("nothing leads to: %s", text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_type),
		cmocka_unit_test(one_worker),
		cmocka_unit_test(each_is_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
