/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_screen.h - shows frames on a terminal with ncurses, and handles its keys.
 *
 * q ends; c r b i m p sort by CPU, ready, blocked, I/O, memory, pid; t shows targets
 * only; v makes a tree; w shows the verdict on the jobs; / filters; h shows the keys; arrows, Page Up and Page Down scroll; space
 * pauses.
 */
#ifndef PROFBPF_DAEMON_PROFCTL_TOP_TOP_SCREEN_H
#define PROFBPF_DAEMON_PROFCTL_TOP_TOP_SCREEN_H

#include "daemon/profctl/top/top_view.h"

struct top_screen;

/* top_screen_new - takes the terminal over; NULL after saying why */
struct top_screen *top_screen_new(void);

/* top_screen_free - gives it back; NULL is fine */
void top_screen_free(struct top_screen *screen);

/*
 * top_screen_show - draws @frame; with a duration of 0 it says that it waits for the first frame
 *
 * @why: the verdict on the jobs (top_why_text()), or NULL.
 */
void top_screen_show(struct top_screen *screen, struct top_frame *frame, const char *why,
		     uint64_t own_cpu_ns);

/* top_screen_why - is that wanted? */
bool top_screen_why(const struct top_screen *screen);

/*
 * top_screen_keys - act on all keys that were pressed, and on a new size
 *
 * Returns false when the user wants to leave. *@redraw is set if the screen has to be
 * drawn again, *@hold as long as it is to stand still.
 */
bool top_screen_keys(struct top_screen *screen, bool *redraw, bool *hold);

#endif /* PROFBPF_DAEMON_PROFCTL_TOP_TOP_SCREEN_H */
