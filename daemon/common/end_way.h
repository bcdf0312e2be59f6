/* SPDX-License-Identifier: Apache-2.0 */
/* end_way.h - the way in which the end of a function's calls is seen, and the reason; docs/safety.md. */
#ifndef PROFBPF_DAEMON_COMMON_END_WAY_H
#define PROFBPF_DAEMON_COMMON_END_WAY_H

#include <stdbool.h>

#include "daemon/common/probed_file.h"

enum end_way {
	END_BY_RETURN_PROBE,
	END_BY_EXITS,
	END_UNSEEN,
};

/* end_way_of - @return_probes: the kernel can skip return probes of single calls */
enum end_way end_way_of(const struct probed_function *function, bool return_probes);

/* end_way_name - "return probe", "exits" or "entry only" */
const char *end_way_name(enum end_way way);

/* end_way_reason - the reason as a text for users; a constant, or the catalog's text */
const char *end_way_reason(const struct probed_function *function, enum end_way way);

#endif /* PROFBPF_DAEMON_COMMON_END_WAY_H */
