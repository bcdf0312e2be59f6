/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/summary.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/duration.h"
#include "lib/base/size.h"
#include "daemon/profctl/message.h"

#define SAFE_WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+,:@%="

static void print_source(FILE *to, const Profbpf__Control__SourceSummary *source)
{
	uint64_t lost = 0;
	char safe[64];

	for (size_t i = 0; i < source->n_lost; i++)
		lost += source->lost[i]->count;
	fprintf(to, "  %-8s %14" PRIu64 " %14" PRIu64, printable(source->name, safe, sizeof(safe)),
		source->delivered, lost);
	for (size_t i = 0; i < source->n_lost; i++)
		fprintf(to, "%s%" PRIu64 " %s", i ? ", " : "  (", source->lost[i]->count,
			printable(source->lost[i]->reason, safe, sizeof(safe)));
	fputs(source->n_lost ? ")" : "", to);
	if (source->dropped)
		fprintf(to, "  %" PRIu64 " dropped before", source->dropped);
	fputc('\n', to);
}

void summary_print_sources(FILE *to, Profbpf__Control__SourceSummary *const *sources, size_t count)
{
	if (count)
		fprintf(to, "  %-8s %14s %14s\n", "source", "records", "lost");
	for (size_t i = 0; i < count; i++)
		print_source(to, sources[i]);
}

/* Prints the text quoted as one word for a shell. */
static void print_word(FILE *to, const char *word)
{
	if (*word && word[strspn(word, SAFE_WORD)] == '\0') {
		fputs(word, to);
		return;
	}
	fputc('\'', to);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", to);
		else
			fputc((unsigned char)*word < ' ' || *word == 0x7f ? '?' : *word, to);
	}
	fputc('\'', to);
}

/* Prints the command for the part with these steps, if there are any: up to the microsecond in which the next step begins. */
static void print_next(FILE *to, const char *output, const Profbpf__Control__Steps *steps)
{
	if (!*output || !strcmp(output, "-"))
		return;
	fputs("next: analyzer report ", to);
	if (steps)
		fprintf(to, "--from %.6fs ", (double)(steps->from_ns / 1000) / 1e6);
	if (steps && steps->to_ns)
		fprintf(to, "--to %.6fs ", (double)(steps->to_ns / 1000) / 1e6);
	/* A name that begins with '-' would be parsed as an option. */
	if (*output == '-')
		fputs("./", to);
	print_word(to, output);
	fputc('\n', to);
}

void summary_print(FILE *to, const Profbpf__Control__Ended *ended, const char *output)
{
	char duration[32], bytes[32], safe[512];

	for (size_t i = 0; i < ended->n_warnings; i++)
		message("warning: %s", ended->warnings[i]);
	fprintf(to, "recorded %s; ended: %s\n",
		duration_format(ended->duration_ns, duration, sizeof(duration)),
		ended->failed	 ? "by an error"
		: *ended->reason ? printable(ended->reason, safe, sizeof(safe))
				 : "unknown");
	summary_print_sources(to, ended->sources, ended->n_sources);
	fprintf(to, "  %s written%s%s\n", size_format(ended->bytes, bytes, sizeof(bytes)),
		!*output	      ? ""
		: strcmp(output, "-") ? " to "
				      : " to standard output",
		strcmp(output, "-") ? printable(output, safe, sizeof(safe)) : "");
	print_next(to, output, ended->steps);
}

void summary_print_next(FILE *to, const char *output)
{
	print_next(to, output, NULL);
}
