/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/render/written.h"

#include <errno.h>

int stream_flush(FILE *out)
{
	errno = 0;
	if (fflush(out) != 0 || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
