/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onnxruntime.h - state between reading a profile of ONNX Runtime and adding it to the model; private to
 * onnxruntime*.c.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_ONNXRUNTIME_ONNXRUNTIME_H
#define PROFBPF_ANALYZER_IMPORT_ONNXRUNTIME_ONNXRUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/import/import_rows.h"

/* A host slice. Strings are 0 if the file does not have them. */
struct ort_span {
	int64_t start_ns;
	int64_t dur_ns;
	uint64_t tid;
	uint64_t kernels_ns; /* sum of the device tasks that it launched itself */
	uint64_t in_use; /* bytes of the provider's arena when it ended, as the next; UINT64_MAX = unknown */
	uint64_t held;
	uint32_t pid;
	uint32_t name;
	uint32_t type; /* operators only, as the next two: "Conv" */
	uint32_t provider; /* "CPUExecutionProvider"; 0 = not an execution of an operator */
	uint32_t shapes; /* of its inputs: "4,3,32,32;16,3,3,3" */
	uint32_t types; /* "float;float" */
	bool kernels; /* it launched kernels */
	bool call; /* a call of a device's runtime */
};

struct ort_task {
	int64_t start_ns;
	int64_t dur_ns;
	uint64_t stream;
	uint32_t name;
	uint32_t span; /* row of spans: the launching one; INDEX_NONE = unknown */
	double blocks; /* of its grid; 0 = unknown, as the next */
	double threads; /* of a block */
};

struct ort {
	struct import *import;
	struct import_rows rows;
	MODEL_ARRAY(struct ort_span) spans;
	MODEL_ARRAY(struct ort_task) tasks;
	uint32_t last; /* latest row of spans, or INDEX_NONE */
	bool told_more; /* nodes have figures that are not imported */
	bool gpu; /* a provider of a GPU ran operators */
};

/* Adds all that was read to the model. Returns 0 or -ENOMEM, or -E2BIG with import->error. */
int ort_put_rows(struct ort *file);

#endif /* PROFBPF_ANALYZER_IMPORT_ONNXRUNTIME_ONNXRUNTIME_H */
