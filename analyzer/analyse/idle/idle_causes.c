/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/idle_causes.h"

const char *idle_cause_name(uint8_t cause)
{
	static const char *const names[IDLE_CAUSES] = {
		[IDLE_UNKNOWN] = "unknown",
		[IDLE_USER_CODE] = "user_code",
		[IDLE_RUNTIME] = "runtime",
		[IDLE_DRIVER] = "driver",
		[IDLE_RUNNABLE] = "runnable",
		[IDLE_LOCK] = "lock",
		[IDLE_IO] = "io",
		[IDLE_PAGE_FAULT] = "page_fault",
		[IDLE_PIPELINE] = "pipeline",
		[IDLE_NETWORK] = "network",
		[IDLE_SLEEP] = "sleep",
		[IDLE_IRQ] = "irq",
		[IDLE_THROTTLED] = "throttled",
		[IDLE_DEVICE_WAIT] = "device_wait",
		[IDLE_NO_WORK] = "no_work",
	};

	return cause < IDLE_CAUSES ? names[cause] : "unknown";
}

const char *idle_cause_text(uint8_t cause)
{
	static const char *const texts[IDLE_CAUSES] = {
		[IDLE_UNKNOWN] = "cause not known",
		[IDLE_USER_CODE] = "on CPU outside of runtime calls",
		[IDLE_RUNTIME] = "on CPU in a runtime call",
		[IDLE_DRIVER] = "in an ioctl of the driver",
		[IDLE_RUNNABLE] = "ready to run, but without a CPU",
		[IDLE_LOCK] = "waiting for another thread (lock)",
		[IDLE_IO] = "waiting for I/O",
		[IDLE_PAGE_FAULT] = "in a page fault",
		[IDLE_PIPELINE] = "waiting for another stage or process",
		[IDLE_NETWORK] = "waiting for the network",
		[IDLE_SLEEP] = "sleeping until a time",
		[IDLE_IRQ] = "interrupted",
		[IDLE_THROTTLED] = "held back by a CPU quota",
		[IDLE_DEVICE_WAIT] = "waiting for the device",
		[IDLE_NO_WORK] = "waiting for work from outside",
	};

	return cause < IDLE_CAUSES ? texts[cause] : texts[IDLE_UNKNOWN];
}

uint8_t idle_cause_ranked(const uint64_t ns[IDLE_CAUSES], uint32_t rank)
{
	for (uint8_t cause = 0; cause < IDLE_CAUSES; cause++) {
		uint32_t before = 0;

		for (uint8_t other = 0; other < IDLE_CAUSES; other++)
			before += ns[other] > ns[cause] ||
				  (ns[other] == ns[cause] && other < cause);
		if (before == rank)
			return ns[cause] ? cause : IDLE_CAUSES;
	}
	return IDLE_CAUSES;
}
