/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer_losses.h - reads the buffers of perf events, one per CPU, and notices that the kernel had no room for a record.
 *
 * The kernel's own record of a loss comes with the next event of the same CPU, which may be minutes later or never. Since
 * Linux 6.0 each perf event also has a count of its lost records. Reading it interrupts the CPU, so it is read only if
 * the buffer was nearly full.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_BUFFER_LOSSES_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_BUFFER_LOSSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bpf/libbpf.h>

struct perf_event_attr;

struct buffer_losses {
	struct perf_buffer *buffer;
	uint64_t *counts; /* lost records of each CPU's event, as last read; NULL: this kernel does not count them */
	bool told; /* on_event() has seen PERF_RECORD_LOST; the caller sets it */
};

/*
 * buffer_losses_open - opens buffers of @pages pages for events like @attr, in @map (perf_buffer__new_raw())
 *
 * Returns 0 or a negative errno.
 */
int buffer_losses_open(struct buffer_losses *losses, int map, size_t pages, struct perf_event_attr *attr,
		       perf_buffer_event_fn on_event, void *context);

/* buffer_losses_read - passes all records to on_event(); returns whether records were lost since the last call */
bool buffer_losses_read(struct buffer_losses *losses);

void buffer_losses_close(struct buffer_losses *losses);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_BUFFER_LOSSES_H */
