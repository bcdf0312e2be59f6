/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/idle_sleep.h"

/* The waker of a sleeping thread. */
enum waker {
	BY_UNKNOWN,
	BY_JOB, /* a thread of a traced process, or of the sleeper's own */
	BY_OTHER, /* another thread */
	BY_TIMER,
	BY_SOFTIRQ,
	BY_HARDIRQ,
};

static enum waker waker_of(const struct model *model, const struct span *span, uint32_t thread)
{
	uint32_t process;

	if (span_woken_by_thread(span) && span->other < model->threads.count) {
		process = model->threads.row[span->other].process;
		if (thread < model->threads.count && model->threads.row[thread].process == process)
			return BY_JOB;
		return process < model->processes.count && model->processes.row[process].target
			       ? BY_JOB
			       : BY_OTHER;
	}
	if (span->flags & SPAN_NO_WAKE)
		return BY_UNKNOWN;
	if (span->flags & SPAN_WOKEN_TIMER)
		return BY_TIMER;
	if (span->flags & SPAN_WOKEN_SOFTIRQ)
		return BY_SOFTIRQ;
	return span->flags & SPAN_WOKEN_HARDIRQ ? BY_HARDIRQ : BY_UNKNOWN;
}

static void blame_waker(struct idle_piece *piece, const struct span *span, uint8_t cause)
{
	piece->cause = cause;
	piece->why = WHY_WOKEN;
	piece->who_kind = WHO_THREAD;
	piece->who = piece->subject = span->other;
}

static void set(struct idle_piece *piece, uint8_t cause, uint8_t why)
{
	piece->cause = cause;
	piece->why = why;
}

static void judge_lock(struct idle_piece *piece, const struct span *span, enum waker waker)
{
	switch (waker) {
	case BY_JOB:
	case BY_OTHER: blame_waker(piece, span, IDLE_LOCK); break;
	case BY_TIMER: set(piece, IDLE_SLEEP, WHY_TIMEOUT); break;
	case BY_SOFTIRQ:
	case BY_HARDIRQ: set(piece, IDLE_LOCK, WHY_INTERRUPT); break;
	default: set(piece, IDLE_LOCK, WHY_ASLEEP); break;
	}
}

static void judge_poll(struct idle_piece *piece, const struct span *span, enum waker waker)
{
	switch (waker) {
	case BY_JOB: blame_waker(piece, span, IDLE_PIPELINE); break;
	case BY_OTHER: blame_waker(piece, span, IDLE_NO_WORK); break;
	case BY_TIMER: set(piece, IDLE_SLEEP, WHY_TIMEOUT); break;
	case BY_SOFTIRQ: set(piece, IDLE_NETWORK, WHY_INTERRUPT); break;
	case BY_HARDIRQ: set(piece, IDLE_UNKNOWN, WHY_INTERRUPT); break;
	default: set(piece, IDLE_UNKNOWN, WHY_ASLEEP); break;
	}
}

static void judge_transfer(struct idle_piece *piece, const struct span *span, enum waker waker,
			   uint8_t from_outside)
{
	if (span->state == STATE_DISK) {
		set(piece, IDLE_IO, WHY_ASLEEP);
		return;
	}
	switch (waker) {
	case BY_JOB: blame_waker(piece, span, IDLE_PIPELINE); break;
	case BY_OTHER: blame_waker(piece, span, from_outside); break;
	case BY_TIMER: set(piece, IDLE_SLEEP, WHY_TIMEOUT); break;
	case BY_SOFTIRQ: set(piece, IDLE_NETWORK, WHY_INTERRUPT); break;
	case BY_HARDIRQ: set(piece, IDLE_IO, WHY_INTERRUPT); break;
	default: set(piece, IDLE_UNKNOWN, WHY_ASLEEP); break;
	}
}

static void judge_network(struct idle_piece *piece, const struct span *span, enum waker waker)
{
	switch (waker) {
	case BY_JOB: blame_waker(piece, span, IDLE_PIPELINE); break;
	case BY_OTHER: blame_waker(piece, span, IDLE_NETWORK); break;
	case BY_TIMER: set(piece, IDLE_NETWORK, WHY_TIMEOUT); break;
	case BY_SOFTIRQ:
	case BY_HARDIRQ: set(piece, IDLE_NETWORK, WHY_INTERRUPT); break;
	default: set(piece, IDLE_NETWORK, WHY_ASLEEP); break;
	}
}

static void judge_rest(struct idle_piece *piece, const struct span *span, enum waker waker)
{
	bool by_thread = waker == BY_JOB || waker == BY_OTHER;

	if (span->state == STATE_DISK && by_thread)
		blame_waker(piece, span, IDLE_LOCK);
	else if (span->state == STATE_DISK)
		set(piece, IDLE_IO, WHY_ASLEEP);
	else if (by_thread)
		blame_waker(piece, span, IDLE_UNKNOWN);
	else
		set(piece, IDLE_UNKNOWN, WHY_ASLEEP);
}

void idle_sleep_judge(const struct model *model, struct syscall_table *syscalls, bool in_ioctl,
		      struct idle_piece *piece)
{
	const struct span *span = &model->spans.row[piece->span];
	enum waker waker = waker_of(model, span, piece->thread);
	enum syscall_class class = syscall_class(syscalls, span->syscall);

	if (span->flags & SPAN_FAULT) {
		set(piece, IDLE_PAGE_FAULT, WHY_ASLEEP);
		return;
	}
	if (span->state == STATE_STOPPED) {
		set(piece, IDLE_UNKNOWN, WHY_STOPPED);
		return;
	}
	if (in_ioctl || class == SYSCALL_IOCTL) {
		set(piece, IDLE_DRIVER, WHY_ASLEEP);
		return;
	}
	if (span->flags & SPAN_IOWAIT) {
		set(piece, IDLE_IO, WHY_ASLEEP);
		return;
	}
	switch (class) {
	case SYSCALL_LOCK: judge_lock(piece, span, waker); break;
	case SYSCALL_SLEEP: set(piece, IDLE_SLEEP, WHY_TIMEOUT); break;
	case SYSCALL_POLL: judge_poll(piece, span, waker); break;
	case SYSCALL_READ: judge_transfer(piece, span, waker, IDLE_NO_WORK); break;
	case SYSCALL_WRITE: judge_transfer(piece, span, waker, IDLE_PIPELINE); break;
	case SYSCALL_NETWORK: judge_network(piece, span, waker); break;
	case SYSCALL_FILE: set(piece, IDLE_IO, WHY_ASLEEP); break;
	case SYSCALL_WAIT:
		if (waker == BY_JOB || waker == BY_OTHER)
			blame_waker(piece, span, IDLE_PIPELINE);
		else
			set(piece, IDLE_PIPELINE, WHY_ASLEEP);
		break;
	default: judge_rest(piece, span, waker); break;
	}
}
