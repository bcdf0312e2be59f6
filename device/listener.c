/* SPDX-License-Identifier: Apache-2.0 */
#include "device/listener.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 50 /* between checks of the lease */
#define FLUSH_MS 100 /* between deliveries while a reader's lease runs */
#define EXIT_WAIT_S 2 /* the longest wait of an exiting program for the thread */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed; /* waits by CLOCK_MONOTONIC */
static bool stopping; /* under lock */
static pthread_t thread;
static pid_t owner; /* the process of the thread; a forked child has no thread */
static struct stream_writer *stream;
static const struct listener *runtime;
static bool recording; /* used by the thread, and by at_exit() after the thread has stopped */

void listener_say(const char *format, ...)
{
	char text[512];
	va_list list;

	if (!getenv("PROFBPF_VERBOSE"))
		return;
	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	dprintf(STDERR_FILENO, "profbpf: %s\n", text);
}

/* Waits. Returns true at once when the process ends. */
static bool wait_ms(long ms)
{
	struct timespec until;
	bool stop;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&lock);
	while (!stopping && pthread_cond_timedwait(&changed, &lock, &until) != ETIMEDOUT)
		;
	stop = stopping;
	pthread_mutex_unlock(&lock);
	return stop;
}

static void *follow(void *unused)
{
	bool tried = false; /* begin() failed since the reader's lease began */
	bool ready = false;
	uint64_t now, asked;

	while (!wait_ms(recording ? FLUSH_MS : LOOK_MS)) {
		bool live = stream_writer_live(stream, &now);

		if (live && !ready)
			ready = runtime->ready();
		if (live && ready && !recording && !tried) {
			recording = runtime->begin();
			tried = !recording;
		}
		if (!live && recording)
			runtime->end();
		recording = recording && live;
		tried = tried && live;
		asked = stream_writer_asked(stream);
		if (recording)
			runtime->deliver(asked != 0);
		if (asked)
			stream_writer_answer(stream, asked);
	}
	return NULL;
}

/* Delivers the last records while the driver still works: the driver's exit handlers run after this one. */
static void at_exit(void)
{
	struct timespec until;

	if (owner != getpid())
		return;
	pthread_mutex_lock(&lock);
	stopping = true;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += EXIT_WAIT_S;
	if (pthread_timedjoin_np(thread, NULL, &until) != 0)
		return;
	if (recording)
		runtime->deliver(true);
	stream_writer_answer(stream, UINT64_MAX);
}

/* The thread blocks all signals: they are for the program's own threads. */
static int start_thread(void)
{
	pthread_condattr_t attr;
	sigset_t all, before;
	int error;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&changed, &attr);
	pthread_condattr_destroy(&attr);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, NULL, follow, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!error)
		pthread_setname_np(thread, runtime->thread_name);
	return error;
}

int listener_start(struct stream_writer *writer, const struct listener *listener)
{
	int error;

	stream = writer;
	runtime = listener;
	owner = getpid();
	stream_writer_answer(stream, 1);
	error = start_thread();
	if (!error && atexit(at_exit) != 0)
		error = ENOMEM;
	return error;
}
