/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ioctl.h - device ioctls by driver, command and process.
 *
 * An ioctl belongs to the window by the rules of API calls (api.h).
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
	uint64_t count; /* including open ioctls */
	uint64_t open; /* had not returned when recording ended */
	uint64_t open_ns; /* their time within the recording and the window: a lower bound */
	uint64_t before; /* were under way when recording began; also counted in open, if still under way at its end */
	uint64_t before_ns; /* their time without open ioctls: a lower bound */
	uint64_t returned; /* began and ended during the recording: total_ns and max_ns cover these */
	uint64_t errors; /* returned a negative value, where the return was seen */
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

/* The mean of the ioctls in usage->returned; 0 if there are none. */
uint64_t ioctl_mean_ns(const struct ioctl_usage *usage);

/*
 * ioctl_command_name - the catalogs' name of a command of a driver (index into model->drivers)
 *
 * For an unknown command, its number in the kernel's notation, "_IOWR('F', 42, 16)", if it follows
 * the convention of <linux/ioctl.h>, else the plain number: "0x5401". Returns @text or a text of
 * the model.
 */
const char *ioctl_command_name(const struct model *model, uint32_t driver, uint32_t cmd, char *text,
			       size_t size);

#endif /* PROFBPF_ANALYZER_ANALYSE_CALLS_IOCTL_H */
