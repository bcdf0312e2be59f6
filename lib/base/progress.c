/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/progress.h"

#include <inttypes.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/size.h"

#define SECOND_NS 1000000000ull
#define AFTER_NS SECOND_NS
#define PAUSE_NS (SECOND_NS / 5)
#define TEXT_SIZE 256
#define COLUMNS_USUAL 80

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

void progress_begin(struct progress *progress, FILE *to)
{
	*progress = (struct progress){ .begin_ns = now_ns() };
	if (isatty(fileno(to)))
		progress->to = to;
}

bool progress_wanted(const struct progress *progress)
{
	uint64_t now;

	if (!progress->to)
		return false;
	now = now_ns();
	return now - progress->begin_ns >= AFTER_NS && now - progress->last_ns >= PAUSE_NS;
}

void progress_now(struct progress *progress, const char *text)
{
	progress->last_ns = 0;
	progress_show(progress, text);
}

static int columns(FILE *to)
{
	struct winsize size;

	if (ioctl(fileno(to), TIOCGWINSZ, &size) || size.ws_col < 2)
		return COLUMNS_USUAL;
	return size.ws_col;
}

void progress_show(struct progress *progress, const char *text)
{
	char line[TEXT_SIZE];

	if (!progress_wanted(progress))
		return;
	snprintf(line, sizeof(line), "%s", text);
	for (char *c = line; *c; c++) {
		/* Names come from elsewhere. */
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	}
	/* Not in the last column: some terminals would begin a new line. */
	fprintf(progress->to, "\r%.*s\033[K", columns(progress->to) - 1, line);
	fflush(progress->to);
	progress->shown = true;
	progress->last_ns = now_ns();
}

void progress_part(struct progress *progress, const char *what, uint64_t done, uint64_t total)
{
	char text[TEXT_SIZE], sizes[2][32], rate[32];
	double seconds, pace;

	if (!progress_wanted(progress))
		return;
	seconds = (double)(now_ns() - progress->begin_ns) / 1e9;
	pace = (double)done / seconds;
	size_format((uint64_t)pace, rate, sizeof(rate));
	if (total && done && done <= total)
		snprintf(text, sizeof(text), "%s: %.0f %% of %s, %s/s, %.0f s left", what,
			 100 * (double)done / (double)total,
			 size_format(total, sizes[0], sizeof(sizes[0])), rate,
			 (double)(total - done) / pace);
	else
		snprintf(text, sizeof(text), "%s: %s, %s/s", what,
			 size_format(done, sizes[1], sizeof(sizes[1])), rate);
	progress_show(progress, text);
}

void progress_wipe(struct progress *progress)
{
	if (!progress->shown)
		return;
	fputs("\r\033[K", progress->to);
	fflush(progress->to);
	progress->shown = false;
}
