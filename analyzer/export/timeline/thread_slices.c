/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/timeline/thread_slices.h"

void thread_slices_begin(struct thread_slices *slices, const struct model *model,
			 const struct export_window *window, uint32_t thread)
{
	*slices = (struct thread_slices){ .model = model, .window = window };
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
		if (call_is_next(call, ioctl)) {
			slices->call++;
			slice->call = call;
			slice->start_ns = call->start_ns;
			slice->end_ns = call->end_ns;
			slice->open = call->flags & MODEL_CALL_OPEN;
		} else {
			slices->ioctl++;
			slice->ioctl = ioctl;
			slice->start_ns = ioctl->start_ns;
			slice->end_ns = ioctl->end_ns;
			slice->open = ioctl->flags & MODEL_CALL_OPEN;
		}
		if (export_clip(slices->window, &slice->start_ns, &slice->end_ns, &slice->cut)) {
			slice->cut |= slice->ioctl && slice->ioctl->flags & MODEL_IOCTL_BEFORE;
			return true;
		}
	}
	return false;
}
