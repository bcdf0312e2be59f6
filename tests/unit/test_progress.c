/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that a terminal shows during long operations. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/profctl/live_line.h"
#include "lib/base/progress.h"
#include "lib/base/ticker.h"

#define LONG_AGO_NS 10000000000ull

struct terminal {
	int master;
	FILE *to;
};

static void terminal_open(struct terminal *terminal, unsigned short columns)
{
	struct winsize size = { .ws_row = 24, .ws_col = columns };
	int slave;

	terminal->master = posix_openpt(O_RDWR | O_NOCTTY);
	assert_true(terminal->master >= 0);
	assert_false(grantpt(terminal->master) || unlockpt(terminal->master));
	slave = open(ptsname(terminal->master), O_RDWR | O_NOCTTY);
	assert_true(slave >= 0);
	assert_false(ioctl(slave, TIOCSWINSZ, &size));
	terminal->to = fdopen(slave, "w");
	assert_non_null(terminal->to);
	assert_false(fcntl(terminal->master, F_SETFL, O_NONBLOCK));
}

static const char *terminal_read(const struct terminal *terminal)
{
	static char text[512];
	ssize_t count = read(terminal->master, text, sizeof(text) - 1);

	text[count < 0 ? 0 : count] = '\0';
	return text;
}

static void terminal_close(struct terminal *terminal)
{
	fclose(terminal->to);
	close(terminal->master);
}

static void shows_nothing_in_the_first_second(void **state)
{
	struct terminal terminal;
	struct progress progress;

	terminal_open(&terminal, 80);
	progress_begin(&progress, terminal.to);
	assert_false(progress_wanted(&progress));
	progress_show(&progress, "too early");
	progress_wipe(&progress);
	assert_string_equal(terminal_read(&terminal), "");
	terminal_close(&terminal);
}

static void shows_a_line_and_takes_it_away(void **state)
{
	struct terminal terminal;
	struct progress progress;

	terminal_open(&terminal, 20);
	progress_begin(&progress, terminal.to);
	progress.begin_ns -= LONG_AGO_NS;
	progress_show(&progress, "longer than the terminal is wide");
	assert_string_equal(terminal_read(&terminal), "\rlonger than the ter\033[K");
	progress_show(&progress, "too soon after it");
	assert_string_equal(terminal_read(&terminal), "");
	progress_wipe(&progress);
	progress_wipe(&progress);
	assert_string_equal(terminal_read(&terminal), "\r\033[K");
	terminal_close(&terminal);
}

static void says_how_much_is_left(void **state)
{
	struct terminal terminal;
	struct progress progress;

	terminal_open(&terminal, 80);
	progress_begin(&progress, terminal.to);
	progress.begin_ns -= LONG_AGO_NS;
	progress_part(&progress, "reading a", 11 << 20, 44 << 20);
	assert_string_equal(terminal_read(&terminal),
			    "\rreading a: 25 % of 44.0 MiB, 1.1 MiB/s, 30 s left\033[K");
	progress.last_ns = 0;
	progress_part(&progress, "reading a", 22 << 20, 0);
	assert_string_equal(terminal_read(&terminal), "\rreading a: 22.0 MiB, 2.2 MiB/s\033[K");
	terminal_close(&terminal);
}

static void a_file_gets_nothing(void **state)
{
	FILE *file = tmpfile();
	struct progress progress, none = { 0 };

	assert_non_null(file);
	progress_begin(&progress, file);
	progress.begin_ns -= LONG_AGO_NS;
	progress_show(&progress, "nobody reads this");
	progress_show(&none, "nor this");
	progress_wipe(&none);
	fseek(file, 0, SEEK_END);
	assert_int_equal(ftell(file), 0);
	fclose(file);
}

static void live_line_adds_up(void **state)
{
	Profbpf__Control__LostSummary full = PROFBPF__CONTROL__LOST_SUMMARY__INIT;
	Profbpf__Control__LostSummary *losses[] = { &full, &full };
	Profbpf__Control__SourceSummary api = PROFBPF__CONTROL__SOURCE_SUMMARY__INIT;
	Profbpf__Control__SourceSummary sched = PROFBPF__CONTROL__SOURCE_SUMMARY__INIT;
	Profbpf__Control__SourceSummary *sources[] = { &api, &sched };
	Profbpf__Control__SessionInfo session = PROFBPF__CONTROL__SESSION_INFO__INIT;
	struct live_line line = { 0 };
	char text[256];

	full.count = 3;
	api.delivered = 100;
	api.lost = losses;
	api.n_lost = 2;
	sched.delivered = 300;
	session.sources = sources;
	session.n_sources = 2;
	session.age_ns = 2000000000;
	session.bytes = 2048;
	assert_string_equal(live_line_text(&line, &session, text, sizeof(text)),
			    "recording 2.00 s: 400 records (200/s), 6 lost, 2.0 KiB; Ctrl-C ends it");
	session.age_ns = 3000000000;
	session.duration_ns = 4000000000;
	sched.delivered = 350;
	assert_string_equal(live_line_text(&line, &session, text, sizeof(text)),
			    "recording 3.00 s of 4.00 s: 450 records (50/s), 6 lost, 2.0 KiB");
}

/* While the recording waits for a step nothing is recorded; --duration counts in the meantime, too. */
static void live_line_of_steps(void **state)
{
	Profbpf__Control__SessionInfo session = PROFBPF__CONTROL__SESSION_INFO__INIT;
	Profbpf__Control__Steps steps = PROFBPF__CONTROL__STEPS__INIT;
	struct live_line line = { 0 };
	char text[256];

	(void)state;
	session.steps = &steps;
	session.age_ns = 2000000000;
	session.bytes = 2048;
	steps.first = 100;
	steps.count = 5;
	steps.begun = 7;
	assert_string_equal(live_line_text(&line, &session, text, sizeof(text)),
			    "waiting for step 100 for 2.00 s: 7 have begun; Ctrl-C ends it");
	session.duration_ns = 5000000000;
	assert_string_equal(live_line_text(&line, &session, text, sizeof(text)),
			    "waiting for step 100 for 2.00 s: 7 have begun; gives up in 3.00 s");
	steps.recording = true;
	steps.begun = 102;
	assert_string_equal(live_line_text(&line, &session, text, sizeof(text)),
			    "recording step 101 of 100 to 104: 0 records (0/s), 0 lost, 2.0 KiB; ends at the latest in 3.00 s");
	session.duration_ns = 0;
	steps.begun = 106;
	assert_string_equal(live_line_text(&line, &session, text, sizeof(text)),
			    "recording step 104 of 100 to 104: 0 records (0/s), 0 lost, 2.0 KiB; Ctrl-C ends it");
}

/* Checks that the terminal's output contains these words within ten seconds. */
static void await_words(const struct terminal *terminal, const char *words)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	char all[8192] = "";

	for (int i = 0; i < 1000 && !strstr(all, words); i++) {
		const char *more = terminal_read(terminal);

		if (strlen(all) + strlen(more) < sizeof(all))
			strcat(all, more);
		nanosleep(&pause, NULL);
	}
	assert_non_null(strstr(all, words));
}

static void a_thread_tells_what_is_done(void **state)
{
	char path[] = "/tmp/profbpf-test-XXXXXX";
	struct terminal terminal;
	struct ticker ticker;
	int file = mkstemp(path);

	assert_false(ftruncate(file, 2048));
	terminal_open(&terminal, 80);
	ticker_begin(&ticker, terminal.to);
	ticker_say(&ticker, "analysing: %d of %d", 7, 19);
	await_words(&terminal, "analysing: 7 of 19, for ");
	ticker_watch(&ticker, path, "writing %s", "x");
	await_words(&terminal, "writing x: 2.0 KiB, ");
	ticker_end(&ticker);
	await_words(&terminal, "\r\033[K");
	ticker_end(&ticker);
	terminal_close(&terminal);
	close(file);
	unlink(path);
}

static void a_thread_tells_nobody(void **state)
{
	FILE *file = tmpfile();
	struct ticker ticker;

	ticker_begin(&ticker, file);
	assert_false(ticker.runs);
	ticker_say(&ticker, "nobody reads this");
	ticker_say(NULL, "nor this");
	ticker_end(&ticker);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_nothing_in_the_first_second),
		cmocka_unit_test(shows_a_line_and_takes_it_away),
		cmocka_unit_test(says_how_much_is_left),
		cmocka_unit_test(a_file_gets_nothing),
		cmocka_unit_test(live_line_adds_up),
		cmocka_unit_test(live_line_of_steps),
		cmocka_unit_test(a_thread_tells_what_is_done),
		cmocka_unit_test(a_thread_tells_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
