/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/common/privilege.h"

#include <linux/capability.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

uint64_t privilege_effective(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data))
		return 0;
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

void privilege_missing(uint64_t capabilities, char *text, size_t size)
{
	static const struct {
		unsigned int capability;
		const char *name;
	} needed[] = {
		{ CAP_BPF, "CAP_BPF" },
		{ CAP_PERFMON, "CAP_PERFMON" },
		{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE" },
	};
	size_t used = 0;

	text[0] = '\0';
	if (capabilities >> CAP_SYS_ADMIN & 1)
		return;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]) && used < size; i++)
		if (!(capabilities >> needed[i].capability & 1))
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
						 needed[i].name);
}

bool privilege_to_trace(void)
{
	char missing[64];

	privilege_missing(privilege_effective(), missing, sizeof(missing));
	return !missing[0];
}
