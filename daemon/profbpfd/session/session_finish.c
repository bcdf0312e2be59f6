/* SPDX-License-Identifier: Apache-2.0 */
/* session_finish.c - ends a session: from its last instant to the complete file. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "daemon/common/topics.h"
#include "daemon/profbpfd/host/host_stats.h"
#include "daemon/profbpfd/session/session_private.h"
#include "daemon/profbpfd/stacks/unwinder.h"

#define EVENTS_PER_SECOND 10 /* the kernel's rate of removing perf events of probes, for the whole machine */
#define EVENTS_TOLD 20 /* with fewer events there is no message */

#define GIVE_UP_NS 5000000000ull /* if the output's reader reads nothing for this time */

/* Waits for calls of plain functions, which should end soon; warns if some do not. */
static void wait_for_returns(struct session *s)
{
	uint32_t calls = s->probes ? capture_wait_returns(s->capture) : 0;
	char text[256];

	if (!calls)
		return;
	snprintf(text, sizeof(text),
		 "%u calls of plain functions did not end within a second; they still return "
		 "through the kernel, although recording has ended",
		 calls);
	session_warn(s, text);
}

/*
 * From here on calls are not recorded. If the kernel removes probes one by one, they are only disabled here, and
 * removed when the file is complete.
 */
static void end_calls(struct session *s)
{
	size_t events = s->probes ? probes_events(s->probes) : 0;
	char text[256];

	if (s->probes && !events)
		probes_detach(s->probes);
	if (!events)
		return;
	capture_close_calls(s->capture);
	if (events < EVENTS_TOLD)
		return;
	snprintf(text, sizeof(text),
		 "this kernel removes the %zu probes one by one, which takes about %zu s; until "
		 "then each costs its caller a trap, but records nothing",
		 events, events / EVENTS_PER_SECOND);
	session_warn(s, text);
}

static void warn_of_stacks(struct session *s)
{
	struct unwinder_left_out out = unwinder_left_out(s->unwinding);
	char text[256];

	if (!out.files && !out.mappings && !out.processes)
		return;
	snprintf(text, sizeof(text),
		 "some user stacks were walked with frame pointers: the unwind tables of %" PRIu64 " "
		 "files, %" PRIu64 " mappings of a process and %" PRIu64 " processes did not fit "
		 "into memory",
		 out.files, out.mappings, out.processes);
	session_warn(s, text);
}

/* The order matters: nothing may be recorded after its counter was read. */
void session_finish_capture(struct session *s)
{
	s->end_ns = session_now_ns();
	/*
	 * Reads the figures at once, because the programs take long to stop, and figures at the end are interpolated to
	 * the next reading. Reads all threads: a process that begins after the end has no records except these figures.
	 */
	session_read_figures(s, true);
	session_set_state(s, SESSION_ENDING);
	capture_stop(s->capture);
	sampler_free(s->sampler);
	s->sampler = NULL;
	sampler_free(s->faults);
	s->faults = NULL;
	session_read_figures(s, true);
	session_push(s, host_stats_clocks());
	capture_wait_exited(s->capture);
	/* What was mapped, or could not be reported, since the last look: before the addresses in it, and in the counts. */
	if (s->maps)
		map_events_read(s->maps);
	session_drain(s, true);
	prober_free(s->prober);
	s->prober = NULL;
	wait_for_returns(s);
	end_calls(s);
	capture_set_end(s->capture, s->end_ns);
	capture_flush_open(s->capture);
	capture_close(s->capture);
	session_drain(s, true);
	if (s->unwinding)
		warn_of_stacks(s);
	if (s->code_names)
		code_names_resolve(s->code_names);
	if (s->devices)
		device_feed_finish(s->devices, session_now_ns(), s->end_ns);
}

void session_finish_writer(struct session *s)
{
	struct item *end = item_new(ITEM_END, 0);
	uint64_t last = 0, since = session_now_ns();

	session_push_statistics(s, true);
	if (end)
		item_queue_push(s->queue, end);
	/* Waits while the output accepts data. */
	while (!writer_ended(s->writer)) {
		struct timespec pause = { .tv_nsec = 2000000 };
		uint64_t bytes = writer_bytes(s->writer);

		nanosleep(&pause, NULL);
		if (bytes != last) {
			last = bytes;
			since = session_now_ns();
		} else if (session_now_ns() - since > GIVE_UP_NS) {
			writer_give_up(s->writer);
		}
	}
	writer_finish(s->writer);
	session_check_writer(s);
	session_steps_end(s);
}
