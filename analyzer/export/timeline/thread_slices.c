/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/timeline/thread_slices.h"

void thread_slices_begin(struct thread_slices *slices, const struct model *model,
			 const struct export_window *window, const struct ranges *ranges,
			 uint32_t thread)
{
	*slices = (struct thread_slices){ .model = model, .window = window, .ranges = ranges };
	slices->call_end = model_thread_calls(model, thread, &slices->call);
	slices->call_end += slices->call;
	slices->ioctl_end = model_thread_ioctls(model, thread, &slices->ioctl);
	slices->ioctl_end += slices->ioctl;
}

static bool call_is_next(const struct call *call, const struct ioctl_call *ioctl)
{
	if (!call || !ioctl)
		return call;
	if (call->start_ns != ioctl->start_ns)
		return call->start_ns < ioctl->start_ns;
	return call->end_ns >= ioctl->end_ns;
}

/* The end of an open range: the end of its thread, or of the window. */
static uint64_t open_end(const struct thread_slices *slices, const struct call *call)
{
	uint64_t exit_ns = slices->model->threads.row[call->thread].exit_ns;
	uint64_t end_ns = exit_ns ? exit_ns : slices->window->end_ns;

	return end_ns > call->end_ns ? end_ns : call->end_ns;
}

/* Takes the next call, or the range that it begins; returns false for a call that ends a range. */
static bool take_call(struct thread_slices *slices, struct thread_slice *slice)
{
	const struct call *calls = slices->model->calls.row, *call = &calls[slices->call];
	uint32_t range = range_of_call(slices->ranges, slices->call++);

	slice->call = call;
	slice->start_ns = call->start_ns;
	slice->end_ns = call->end_ns;
	slice->open = call->flags & MODEL_CALL_OPEN;
	if (range == RANGE_ENDS)
		return false;
	if (range != RANGE_NONE) {
		slice->range = true;
		slice->open = range == RANGE_OPEN;
		slice->end_ns = slice->open ? open_end(slices, call) : calls[range].end_ns;
	}
	return true;
}

static void take_ioctl(struct thread_slices *slices, struct thread_slice *slice)
{
	slice->ioctl = &slices->model->ioctls.row[slices->ioctl++];
	slice->start_ns = slice->ioctl->start_ns;
	slice->end_ns = slice->ioctl->end_ns;
	slice->open = slice->ioctl->flags & MODEL_CALL_OPEN;
}

bool thread_slices_next(struct thread_slices *slices, struct thread_slice *slice)
{
	while (slices->call < slices->call_end || slices->ioctl < slices->ioctl_end) {
		const struct call *call = NULL;
		const struct ioctl_call *ioctl = NULL;

		if (slices->call < slices->call_end)
			call = &slices->model->calls.row[slices->call];
		if (slices->ioctl < slices->ioctl_end)
			ioctl = &slices->model->ioctls.row[slices->ioctl];
		*slice = (struct thread_slice){ 0 };
		if (!call_is_next(call, ioctl))
			take_ioctl(slices, slice);
		else if (!take_call(slices, slice))
			continue;
		if (export_clip(slices->window, &slice->start_ns, &slice->end_ns, &slice->cut)) {
			slice->cut |= slice->ioctl && slice->ioctl->flags & MODEL_IOCTL_BEFORE;
			return true;
		}
	}
	return false;
}
