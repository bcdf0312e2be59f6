/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/page/page_fill.h"

#include <errno.h>
#include <string.h>

#include "analyzer/view/render/written.h"

int page_fill(FILE *out, const char *text, const struct page_part *parts, size_t count,
	      const void *page)
{
	const char *at = text;
	int err = 0;

	errno = 0; /* the stream does not keep the cause of a failure */
	for (size_t i = 0; i < count && !err; i++) {
		const char *mark = strstr(at, parts[i].mark);

		if (!mark || fwrite(at, 1, (size_t)(mark - at), out) != (size_t)(mark - at))
			return errno ? -errno : -EIO;
		err = parts[i].put(out, page);
		at = mark + strlen(parts[i].mark);
	}
	if (!err && fputs(at, out) < 0)
		err = -EIO;
	if (err == -EIO && errno)
		err = -errno;
	return err ? err : stream_flush(out);
}
