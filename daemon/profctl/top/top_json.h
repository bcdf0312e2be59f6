/* SPDX-License-Identifier: Apache-2.0 */
/* top_json.h - a frame as JSON, for scripts. */
#ifndef PROFBPF_DAEMON_PROFCTL_TOP_TOP_JSON_H
#define PROFBPF_DAEMON_PROFCTL_TOP_TOP_JSON_H

#include "daemon/profctl/top/top_order.h"

/* top_json - prints the frame on standard output, with the chosen processes; 0, or -EIO after printing the reason */
int top_json(struct top_frame *frame, const struct top_choice *choice);

#endif /* PROFBPF_DAEMON_PROFCTL_TOP_TOP_JSON_H */
