/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/top/top_job.h"

#include "daemon/live/live_feeds.h"

struct top_job top_job_of(const struct top_frame *frame, uint32_t pid)
{
	struct top_job job = { 0 };

	for (size_t i = 0; i < frame->device_count; i++) {
		if (frame->devices[i].pid != pid)
			continue;
		job.devices++;
		job.busy_ns += frame->devices[i].busy_ns;
	}
	for (size_t i = 0; i < frame->wait_count; i++) {
		if (frame->waits[i].pid != pid)
			continue;
		job.has_wait = true;
		job.wait_ns += frame->waits[i].ns;
	}
	return job;
}
