// SPDX-License-Identifier: Apache-2.0
// Built with AddressSanitizer, whose report walks the stack through a probed function.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sanitizer/asan_interface.h>

#include "victim.h"

static volatile int zero;

static __attribute__((noipa)) void read_too_far(void *)
{
	volatile char *bytes = static_cast<char *>(calloc(10, 1));

	zero = bytes[10 + zero];
}

// Prints only the names of the frames of the report's first stack, because addresses differ from run to run.
static void tell(const char *report)
{
	const char *at = strstr(report, "    #0 "), *end = at ? strstr(at, "\n\n") : nullptr;

	for (; at && at < end; at = strstr(at + 1, "    #")) {
		const char *name = strstr(at, " in ");

		if (name && name < end)
			printf("frame %.*s\n", static_cast<int>(strcspn(name + 4, " (\n")),
			       name + 4);
	}
	victim_print("sanitizer", true);
}

static bool run(void)
{
	bool ok = true;

	for (int i = 0; i < victim_rounds(); i++)
		ok &= victim_catch(i) == (i & 1 ? -1 : i + 1);
	return ok;
}

int main(void)
{
	bool ok = run();

	victim_gate();
	do {
		ok &= run();
	} while (victim_again());
	__asan_set_error_report_callback(tell);
	if (ok)
		victim_work(read_too_far, nullptr);
	victim_print("sanitizer", false);
	return 1;
}
