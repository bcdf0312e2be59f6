/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/capture/refusal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#define LOG_BEGIN "-- BEGIN PROG LOAD LOG --\n"
#define LOG_END "-- END PROG LOAD LOG --"

static _Thread_local struct refusal last;

static void copy(char *to, size_t size, const char *text, size_t length)
{
	if (length >= size)
		length = size - 1;
	memcpy(to, text, length);
	to[length] = '\0';
}

/* The reason is the last line before the verifier's summary ("processed 12 insns ..."). */
static void read_reason(const char *log, const char *end, struct refusal *refusal)
{
	while (end > log) {
		const char *line = end - 1;

		while (line > log && line[-1] != '\n')
			line--;
		if (end - line > 1 && strncmp(line, "processed ", strlen("processed ")) != 0) {
			copy(refusal->reason, sizeof(refusal->reason), line,
			     (size_t)(end - line) - 1);
			return;
		}
		end = line;
	}
}

bool refusal_read(const char *message, struct refusal *refusal)
{
	const char *name = strstr(message, "prog '");
	const char *quote = name ? strchr(name + strlen("prog '"), '\'') : NULL;
	const char *log, *end;

	if (!quote)
		return false;
	log = strstr(quote, LOG_BEGIN);
	if (!log && !strstr(quote, "program load failed"))
		return false;
	name += strlen("prog '");
	copy(refusal->program, sizeof(refusal->program), name, (size_t)(quote - name));
	refusal->reason[0] = '\0';
	end = log ? strstr(log, LOG_END) : NULL;
	if (end)
		read_reason(log + strlen(LOG_BEGIN), end, refusal);
	return true;
}

static int keep(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char *message = NULL;

	if (level != LIBBPF_WARN)
		return 0;
	/* Most of libbpf's warnings are from probes of features: only warnings about programs are formatted. */
	if (strncmp(format, "libbpf: prog '%s'", strlen("libbpf: prog '%s'")) != 0)
		return 0;
	if (vasprintf(&message, format, arguments) < 0)
		return 0;
	refusal_read(message, &last);
	free(message);
	return 0;
}

static int keep_and_print(enum libbpf_print_level level, const char *format, va_list arguments)
{
	va_list again;

	va_copy(again, arguments);
	if (level != LIBBPF_DEBUG)
		vfprintf(stderr, format, again);
	va_end(again);
	return keep(level, format, arguments);
}

void refusal_listen(bool aloud)
{
	libbpf_set_print(aloud ? keep_and_print : keep);
}

void refusal_forget(void)
{
	last = (struct refusal){ 0 };
}

bool refusal_last(struct refusal *refusal)
{
	*refusal = last;
	return last.program[0];
}
