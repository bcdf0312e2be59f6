/* SPDX-License-Identifier: Apache-2.0 */
/* What is advised for an operator is of its framework and type, and of nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/operator_advice.h"

static const char *advice(const char *framework, const char *type, bool source, char *text)
{
	struct model *model = model_new();
	struct pipelines pipelines = { 0 };
	struct pipeline *pipeline = pipeline_add(&pipelines, framework, 0);
	uint32_t op;

	assert_non_null(pipeline);
	op = pipeline_operator_add(model, pipeline, 0, "its name", type);
	assert_int_not_equal(op, INDEX_NONE);
	pipeline->operators.row[op].source = source;
	strcpy(text, operator_advice(model, pipeline, op));
	pipelines_free(&pipelines);
	model_free(model);
	return text;
}

static void by_type(void **state)
{
	static const struct {
		const char *framework, *type;
		bool source;
		const char *with; /* NULL = nothing */
	} CASES[] = {
		{ "MindData", "Generator", true, "MindRecord" },
		{ "MindData", "Map", false, "num_parallel_workers" },
		{ "MindData", "Batch", false, "prefetch_size" },
		{ "MindData", "ImageFolder", true, "This dataset: raise num_parallel_workers" },
		{ "MindData", "Shuffle", false, NULL },
		{ "torch", "worker", true, "prefetch_factor" },
		{ "torch", "DataLoader", true, "num_workers" },
		{ "torch", "pin", false, "collate_fn" },
		{ "torch", "Map", false, NULL },
		{ "tf.data", "ParallelMapV2", false, "num_parallel_calls" },
		{ "tf.data", "MapAndBatch", false, "AUTOTUNE" },
		{ "tf.data", "ParallelInterleaveV4", false, "cycle_length" },
		{ "tf.data", "TFRecord", true, "interleave" },
		{ "tf.data", "Prefetch", false, NULL },
		{ "MegEngine", "worker", true, "num_workers" },
		{ "unknown framework", "Map", true, NULL },
	};
	char text[600];

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		advice(CASES[i].framework, CASES[i].type, CASES[i].source, text);
		if (CASES[i].with)
			assert_non_null(strstr(text, CASES[i].with));
		else
			assert_string_equal(text, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
