/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ioctl.h - device ioctls by driver, command and process.
 *
 * The same rules as for API calls (api.h) say what belongs to the window.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CALLS_IOCTL_H
#define PROFBPF_ANALYZER_ANALYSE_CALLS_IOCTL_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

struct ioctl_usage {
	uint32_t driver; /* index into model->drivers */
	uint32_t process; /* index into model->processes */
	uint32_t cmd;
	uint64_t count; /* also open ones */
	uint64_t open; /* had not returned at the end */
	uint64_t open_ns; /* in the window's part of the recording: they took longer */
	uint64_t before; /* were under way when recording began; of open, too, if they still were at its end */
	uint64_t before_ns; /* of those that are not open: they took as long at least */
	uint64_t returned; /* begun and ended while recording: of these are total_ns and max_ns */
	uint64_t errors; /* returned a negative value, where it was seen */
	uint64_t total_ns;
	uint64_t max_ns;
};

struct ioctl_results {
	struct ioctl_usage *rows; /* largest total time first */
	uint32_t row_count;
};

/*
 * ioctl_analyse - fill @results
 *
 * Returns 0 or -ENOMEM; in both cases ioctl_free() is to be called.
 */
int ioctl_analyse(const struct model *model, const struct analysis_options *options,
		  struct ioctl_results *results);
void ioctl_free(struct ioctl_results *results);

/* Mean of those in usage->returned, 0 if there are none. */
uint64_t ioctl_mean_ns(const struct ioctl_usage *usage);

/*
 * ioctl_command_name - what the catalogs call a command of a driver (index into model->drivers)
 *
 * Else its number in the kernel's notation, "_IOWR('F', 42, 16)", as far as it follows the
 * convention of <linux/ioctl.h>; drivers that do not follow it get the plain number: "0x5401".
 * Returns @text or a text of the model.
 */
const char *ioctl_command_name(const struct model *model, uint32_t driver, uint32_t cmd, char *text,
			       size_t size);

#endif /* PROFBPF_ANALYZER_ANALYSE_CALLS_IOCTL_H */
