/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/common/end_way.h"

enum end_way end_way_of(const struct probed_function *function, bool return_probes)
{
	if (function->entry->plain && return_probes)
		return END_BY_RETURN_PROBE;
	return function->exits.count ? END_BY_EXITS : END_UNSEEN;
}

const char *end_way_name(enum end_way way)
{
	switch (way) {
	case END_BY_RETURN_PROBE: return "return probe";
	case END_BY_EXITS: return "exits";
	case END_UNSEEN: return "entry only";
	}
	return "?";
}

const char *end_way_reason(const struct probed_function *function, enum end_way way)
{
	switch (way) {
	case END_BY_RETURN_PROBE: return function->entry->plain;
	case END_BY_EXITS:
		return function->entry->plain
			       ? "plain, but this kernel cannot leave out single return probes"
			       : "no catalog vouches that it is plain";
	case END_UNSEEN: return exit_doubt_text(function->exits.doubt);
	}
	return "?";
}
