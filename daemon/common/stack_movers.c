/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/common/stack_movers.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

/* Names of files, without the folder. */
static const char *const patterns[] = {
	"_greenlet*.so", /* greenlet, and gevent and eventlet by it: copies parts of the stack */
	"greenlet*.so", /* before greenlet 1.0 */
	"libboost_context.so*",
	"libboost_coroutine.so*",
	"libboost_fiber.so*",
	"libbrpc.so*", /* bthread: work stealing */
	"libbthread.so*",
	"libfolly.so*", /* fibers */
	"libgo.so*", /* gccgo's runtime moves goroutines between threads */
};

bool stack_mover_file(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (!fnmatch(patterns[i], name, 0))
			return true;
	return false;
}
