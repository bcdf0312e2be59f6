/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/interpreters/python/python_live.h"

#include <stdlib.h>

struct live_thread {
	uint32_t tid;
	uint32_t look; /* the last check that found it */
	uint64_t state;
};

struct python_live {
	struct interpreted *process;
	uint32_t look;
	size_t count;
	struct live_thread threads[PYTHON_THREADS_MAX];
};

/* Until 3.10 each frame enters the loop; 3.11 marks frames that do; later versions have frames of C code between. */
static struct python_layout layout_of(const struct python_offsets *o, uint64_t lock)
{
	return (struct python_layout){
		.state_id = o->thread_id,
		.state_cframe = o->thread_cframe,
		.state_frame = o->thread_frame,
		.frame_previous = o->frame_previous,
		.frame_code = o->frame_code,
		.frame_instruction = o->frame_instruction,
		.frame_owner = o->frame_owner,
		.frame_entry = o->frame_entry,
		.lock_locked = o->lock_locked,
		.lock_holder = o->lock_holder,
		.lock = lock,
	};
}

struct python_live *python_live_new(struct interpreted *process, const struct python_offsets *offsets, uint64_t lock)
{
	struct python_layout layout = layout_of(offsets, lock);
	struct python_live *live = calloc(1, sizeof(*live));

	_Static_assert(PYTHON_NONE == PYTHON_LAYOUT_NONE, "the programs know another number for none");
	if (!live)
		return NULL;
	live->process = process;
	interpreted_layout(process, &layout);
	return live;
}

void python_live_free(struct python_live *live)
{
	free(live);
}

void python_live_thread(struct python_live *live, uint32_t tid, uint64_t state)
{
	struct live_thread *row = live->threads;

	while (row < live->threads + live->count && row->tid != tid)
		row++;
	if (row == live->threads + live->count) {
		if (live->count == PYTHON_THREADS_MAX)
			return;
		live->count++;
		*row = (struct live_thread){ .tid = tid };
	}
	row->look = live->look;
	if (row->state == state)
		return;
	row->state = state;
	interpreted_state(live->process, tid, state);
}

void python_live_looked(struct python_live *live)
{
	for (size_t i = live->count; i-- > 0;) {
		struct live_thread *row = &live->threads[i];

		if (row->look == live->look)
			continue;
		interpreted_state(live->process, row->tid, 0);
		*row = live->threads[--live->count];
	}
	live->look++;
}

void python_live_forget(struct python_live *live)
{
	for (size_t i = 0; i < live->count; i++)
		interpreted_state(live->process, live->threads[i].tid, 0);
	live->count = 0;
	interpreted_layout(live->process, NULL);
}
