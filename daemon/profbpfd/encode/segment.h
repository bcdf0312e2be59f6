/* SPDX-License-Identifier: Apache-2.0 */
/* segment.h - the header of a session's segments. */
#ifndef PROFBPF_DAEMON_PROFBPFD_ENCODE_SEGMENT_H
#define PROFBPF_DAEMON_PROFBPFD_ENCODE_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/profbpfd/capture/calibrate.h"
#include "daemon/profbpfd/capture/features.h"
#include "daemon/profbpfd/session/session_request.h"
#include "proto/trace.pb-c.h"

struct segment;

/*
 * segment_new - the header for a session that goes live at @start_ns
 *
 * @notes are the limits of capture on this machine, in words. Everything is copied.
 * Returns NULL without memory.
 */
struct segment *segment_new(const struct session_request *request, const struct features *features,
			    uint64_t start_ns, char *const *notes, size_t note_count,
			    const struct probe_costs *costs);
const Profbpf__Segment *segment_message(const struct segment *segment);
void segment_free(struct segment *segment);

#endif /* PROFBPF_DAEMON_PROFBPFD_ENCODE_SEGMENT_H */
