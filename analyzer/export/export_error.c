/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/export_error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void export_explain(int error, const char *path, char *text, size_t size)
{
	if (error == -ENOMEM)
		snprintf(text, size,
			 "%s: not enough memory for the export; choose fewer processes "
			 "(--pid)",
			 path);
	else if (error == -ENOSPC || error == -EDQUOT)
		snprintf(text, size,
			 "%s: cannot write: %s; free some space, or choose another place with -o", path,
			 strerror(-error));
	else
		snprintf(text, size, "%s: cannot write: %s", path, strerror(-error));
}
