/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/idle_causes.h"
#include "analyzer/model/translate.h"

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
		[IDLE_UNKNOWN] = N_("cause not known"),
		[IDLE_USER_CODE] = N_("on CPU outside of runtime calls"),
		[IDLE_RUNTIME] = N_("on CPU in a runtime call"),
		[IDLE_DRIVER] = N_("in an ioctl of the driver"),
		[IDLE_RUNNABLE] = N_("ready to run, but without a CPU"),
		[IDLE_LOCK] = N_("waiting for another thread (lock)"),
		[IDLE_IO] = N_("waiting for I/O"),
		[IDLE_PAGE_FAULT] = N_("in a page fault"),
		[IDLE_PIPELINE] = N_("waiting for another stage or process"),
		[IDLE_NETWORK] = N_("waiting for the network"),
		[IDLE_SLEEP] = N_("sleeping until a time"),
		[IDLE_IRQ] = N_("interrupted"),
		[IDLE_THROTTLED] = N_("held back by a CPU quota"),
		[IDLE_DEVICE_WAIT] = N_("waiting for the device"),
		[IDLE_NO_WORK] = N_("waiting for work from outside"),
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
