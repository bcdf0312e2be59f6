/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/common/privilege.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool has(const struct __user_cap_data_struct *data, unsigned int capability)
{
	return data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

bool privilege_to_trace(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data))
		return false;
	return has(data, CAP_SYS_ADMIN) ||
	       (has(data, CAP_BPF) && has(data, CAP_PERFMON) && has(data, CAP_SYS_PTRACE));
}
