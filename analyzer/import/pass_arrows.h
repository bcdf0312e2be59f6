/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pass_arrows.h - arrows of PyTorch's profilers from an operator of the forward pass to that of the backward pass.
 *
 * Flow events of category "fwdbwd": "s" where the one begins, "f", of the same id, where the other does.
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
	int64_t ns; /* of the file's count */
	uint32_t pid;
	bool begins;
};

/* Zeroed is empty. */
struct pass_arrow_ends {
	MODEL_ARRAY(struct pass_arrow_end) list;
};

/*
 * pass_arrows_put - arrows of which both ends are there, to threads that are known, as rows of the model
 *
 * @move_ns: what is added to the file's times. Of ends with one id the first two make an arrow. Nothing is done with a
 * trace. Returns 0 or -ENOMEM.
 */
int pass_arrows_put(struct import_rows *rows, struct pass_arrow_ends *ends, int64_t move_ns);

#endif /* PROFBPF_ANALYZER_IMPORT_PASS_ARROWS_H */
