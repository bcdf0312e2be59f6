/* SPDX-License-Identifier: Apache-2.0 */
/* fetch_calls.h - the calls by which trainers get their next batch. analyzer/frameworks/ has more about them. */
#ifndef PROFBPF_DAEMON_PROFBPFD_SESSION_FETCH_CALLS_H
#define PROFBPF_DAEMON_PROFBPFD_SESSION_FETCH_CALLS_H

#include <fnmatch.h>
#include <stdbool.h>
#include <stddef.h>

/* is_fetch_call - does each call of this symbol fetch a batch? For MindSpore and TensorFlow */
static inline bool is_fetch_call(const char *symbol)
{
	static const char *const patterns[] = {
		"_ZN9mindspore7dataset16IteratorConsumer*GetNextAs*",
		"_ZN10tensorflow4data16IteratorResource7GetNextE*",
	};

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (!fnmatch(patterns[i], symbol, 0))
			return true;
	return false;
}

#endif /* PROFBPF_DAEMON_PROFBPFD_SESSION_FETCH_CALLS_H */
