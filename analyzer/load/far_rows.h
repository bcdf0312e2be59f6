/* SPDX-License-Identifier: Apache-2.0 */
/*
 * far_rows.h - batches of switches and wake-ups entirely outside the kept time. Only the loader includes it.
 *
 * Such a batch contributes only its number of rows, missing switches, the time in which each thread was named, and
 * each thread's last row before the part or first row after it (window.h). So the rows are only scanned, and a
 * thread's facts are stored once for the batch.
 */
#ifndef PROFBPF_ANALYZER_LOAD_FAR_ROWS_H
#define PROFBPF_ANALYZER_LOAD_FAR_ROWS_H

#include "analyzer/load/loader_private.h"

enum far_batch {
	FAR_NOT, /* some rows may be in the part, or need single treatment: nothing was done */
	FAR_TAKEN, /* the batch was counted and noted, with the same result as row by row */
	FAR_FAILED, /* without memory */
};

/* Columns are prepared by load_rows.c: codes of shapes are resolved, differences of times are not. */
enum far_batch far_switches(struct loader *loader, const Profbpf__Switches *switches, size_t rows);
enum far_batch far_wakes(struct loader *loader, const Profbpf__Wakes *wakes, size_t rows);

/* In load_rows.c: fill the row of an entry, except its time and the threads of a switch. */
void load_switch_values(const struct loader *loader, const Profbpf__Switches *switches, size_t entry,
			struct cpu_switch *row);
void load_wake_values(const struct loader *loader, const Profbpf__Wakes *wakes, size_t entry,
		      struct wake *row);

#endif /* PROFBPF_ANALYZER_LOAD_FAR_ROWS_H */
