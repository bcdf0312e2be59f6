/* SPDX-License-Identifier: Apache-2.0 */
/*
 * far_rows.h - batches of switches and wake-ups none of which is in the part of the time that is kept. Only the loader includes it.
 *
 * Of such a batch matters how many rows it has, whether switches are missing, from when to when each thread was named, and
 * each thread's last row before the part or first one after it (window.h). So each row is only looked at; what is known of a thread is
 * put down once for the batch.
 */
#ifndef PROFBPF_ANALYZER_LOAD_FAR_ROWS_H
#define PROFBPF_ANALYZER_LOAD_FAR_ROWS_H

#include "analyzer/load/loader_private.h"

enum far_batch {
	FAR_NOT, /* some rows may be in the part, or must be looked at one by one: nothing was done */
	FAR_TAKEN, /* the batch was counted and noted, as all of its rows would have been one by one */
	FAR_FAILED, /* without memory */
};

/* Columns are as load_rows.c prepares them: codes of shapes are resolved, differences of times are not. */
enum far_batch far_switches(struct loader *loader, const Profbpf__Switches *switches, size_t rows);
enum far_batch far_wakes(struct loader *loader, const Profbpf__Wakes *wakes, size_t rows);

/* load_rows.c's: the row of an entry, but for its time and the threads of a switch. */
void load_switch_values(const struct loader *loader, const Profbpf__Switches *switches, size_t entry,
			struct cpu_switch *row);
void load_wake_values(const struct loader *loader, const Profbpf__Wakes *wakes, size_t entry,
		      struct wake *row);

#endif /* PROFBPF_ANALYZER_LOAD_FAR_ROWS_H */
