/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_sleep.h - the cause of a sleep that is not a wait for the device.
 *
 * The table of idle_rules.h, as code.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_SLEEP_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_SLEEP_H

#include <stdbool.h>

#include "analyzer/analyse/idle/idle_piece.h"

/*
 * idle_sleep_judge - fills in cause, why, who and subject of a piece
 *
 * The caller has set piece->thread and piece->span. @in_ioctl: a recorded ioctl was under
 * way; if the cause is driver, the caller fills in its driver as who.
 */
void idle_sleep_judge(const struct model *model, struct syscall_table *syscalls, bool in_ioctl,
		      struct idle_piece *piece);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_SLEEP_H */
