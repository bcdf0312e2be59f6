/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_sleep.h - the cause of a sleep that is no wait for the device.
 *
 * The table in idle_rules.h, as code.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_SLEEP_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_SLEEP_H

#include <stdbool.h>

#include "analyzer/analyse/idle/idle_piece.h"

/*
 * idle_sleep_judge - fill cause, why, who and subject of a piece
 *
 * piece->thread and piece->span are set; @in_ioctl tells that a recorded ioctl was under
 * way, whose driver the caller fills in as who when the cause is driver.
 */
void idle_sleep_judge(const struct model *model, struct syscall_table *syscalls, bool in_ioctl,
		      struct idle_piece *piece);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_SLEEP_H */
