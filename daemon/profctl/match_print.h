/* SPDX-License-Identifier: Apache-2.0 */
/* match_print.h - prints the result of `profctl catalog match`, as tables or as JSON. */
#ifndef PROFBPF_DAEMON_PROFCTL_MATCH_PRINT_H
#define PROFBPF_DAEMON_PROFCTL_MATCH_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/common/probed_file.h"
#include "daemon/profctl/json_text.h"

/* The kernel's features for probes, from the daemon. */
struct match_kernel {
	char method[16]; /* session, multi, perf, none; "" = unknown */
	bool optimized_nop;
	uint32_t calibrated_ns; /* 0 = no session has measured it yet */
	uint32_t price_ns[INSTRUCTION_CLASSES]; /* measured cost of each class; 0 = not measured */
};

struct match_totals {
	size_t files, refused;
	size_t functions[INSTRUCTION_CLASSES]; /* by class of instruction */
};

struct match_printer {
	bool as_json;
	struct json json;
	struct match_kernel kernel;
	struct match_totals totals;
};

/* match_print_begin - 0 or -ENOMEM; match_print_end - totals: 0 or a negative errno after saying why */
int match_print_begin(struct match_printer *printer, bool as_json,
		      const struct match_kernel *kernel);
int match_print_end(struct match_printer *printer);

/*
 * match_print_file - prints one file with the functions that the catalogs select
 *
 * @pid: the process that has it mapped, 0 = none. @error: the error in the file, "" if
 * there is none. Returns 0 or -ENOMEM.
 */
int match_print_file(struct match_printer *printer, pid_t pid, const char *path,
		     const struct probed_file *file, const char *error);

#endif /* PROFBPF_DAEMON_PROFCTL_MATCH_PRINT_H */
