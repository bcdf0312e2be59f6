/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/process_owner.h"

#include <stdio.h>

uid_t process_owner(pid_t pid)
{
	unsigned int user = (uid_t)-1;
	char path[32], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	/* A name before it cannot pass for it: its line breaks are escaped. */
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Uid: %u", &user) == 1)
			break;
	if (file)
		fclose(file);
	return user;
}
