/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pass_arrows.h - arrows of PyTorch's profilers from forward operators to the matching backward operators.
 *
 * Flow events of category "fwdbwd": "s" at the start of the forward operator, "f" with the same id at the start of
 * the backward operator.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_PASS_ARROWS_H
#define PROFBPF_ANALYZER_IMPORT_PASS_ARROWS_H

#include <stdint.h>

#include "analyzer/import/import_rows.h"

#define PASS_ARROW_CATEGORY "fwdbwd"

/* One end of an arrow. */
struct pass_arrow_end {
	uint64_t id;
	uint64_t tid;
	int64_t ns; /* in the file's clock */
	uint32_t pid;
	bool begins;
};

/* Zeroed is empty. */
struct pass_arrow_ends {
	MODEL_ARRAY(struct pass_arrow_end) list;
};

/*
 * pass_arrows_put - adds arrows with both ends on known threads to the model
 *
 * @move_ns is added to the file's times. Of several ends with one id the first two make an arrow. With a trace it
 * does nothing. Returns 0 or -ENOMEM.
 */
int pass_arrows_put(struct import_rows *rows, struct pass_arrow_ends *ends, int64_t move_ns);

#endif /* PROFBPF_ANALYZER_IMPORT_PASS_ARROWS_H */
