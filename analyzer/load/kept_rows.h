/* SPDX-License-Identifier: Apache-2.0 */
/* kept_rows.h - the kinds of a trace's rows that need not be kept. */
#ifndef PROFBPF_ANALYZER_LOAD_KEPT_ROWS_H
#define PROFBPF_ANALYZER_LOAD_KEPT_ROWS_H

/* Rows that are kept; other rows are counted (model.survey), which takes a fraction of the time and memory. */
enum load_rows {
	LOAD_CALLS = 1 << 0,
	LOAD_IOCTLS = 1 << 1,
	LOAD_SCHEDULE = 1 << 2, /* switches, wake-ups, interrupts */
	LOAD_TASKS = 1 << 3, /* of devices */
	LOAD_ALL = (1 << 4) - 1, /* the default */
};

#endif /* PROFBPF_ANALYZER_LOAD_KEPT_ROWS_H */
