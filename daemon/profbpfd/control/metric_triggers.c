/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/metric_triggers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "daemon/profbpfd/control/flight_recorder.h"
#include "daemon/profbpfd/metrics/exposition.h"
#include "daemon/profbpfd/metrics/metric_watch.h"

struct metric_triggers {
	const struct services *services;
	struct metric_watch *watch;
	uint32_t version; /* version of the list for which the timer was set */
	int timer_fd;
};

struct metric_triggers *metric_triggers_new(const struct services *services)
{
	struct metric_triggers *triggers = calloc(1, sizeof(*triggers));

	if (!triggers)
		return NULL;
	triggers->services = services;
	triggers->watch = metric_watch_new();
	triggers->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (triggers->watch && triggers->timer_fd >= 0)
		return triggers;
	metric_triggers_free(triggers);
	return NULL;
}

void metric_triggers_free(struct metric_triggers *triggers)
{
	if (!triggers)
		return;
	if (triggers->timer_fd >= 0)
		close(triggers->timer_fd);
	metric_watch_free(triggers->watch);
	free(triggers);
}

int metric_triggers_fd(const struct metric_triggers *triggers)
{
	return triggers->timer_fd;
}

void metric_triggers_follow(struct metric_triggers *triggers)
{
	uint32_t version = triggers_version(triggers->services->triggers);
	struct trigger rows[TRIGGERS_MAX];
	struct itimerspec timer = { 0 };
	bool any = false;
	size_t count;

	if (version == triggers->version)
		return;
	triggers->version = version;
	count = triggers_list(triggers->services->triggers, rows);
	for (size_t i = 0; i < count; i++)
		any |= rows[i].kind == TRIGGER_METRIC;
	if (any) {
		timer.it_interval.tv_sec = METRIC_TRIGGERS_NS / 1000000000;
		timer.it_value.tv_nsec = 1; /* the first values at once, to compare counters with */
	}
	timerfd_settime(triggers->timer_fd, 0, &timer, NULL);
}

/* Only sessions of the flight recorder have data to write. */
static void happened(void *context, const struct metric_hit *hit)
{
	const struct services *services = context;
	struct trigger_event event = { .trigger = hit->trigger->id, .pid = hit->pid, .of_all = !hit->session };
	struct flight_choice choice;

	if (hit->session && !flight_recorder_session(services->recorder, hit->session, &choice))
		return;
	if (hit->session) {
		event.owner = choice.owner;
		event.group = choice.group;
	}
	memcpy(event.text, hit->text, sizeof(hit->text));
	triggers_happened(services->triggers, &event);
}

void metric_triggers_look(struct metric_triggers *triggers)
{
	const struct services *services = triggers->services;
	const struct peer self = { .trusted = true };
	struct trigger rows[TRIGGERS_MAX];
	struct timespec ts;
	uint64_t expirations;
	size_t size;
	char *text;

	if (read(triggers->timer_fd, &expirations, sizeof(expirations)) < 0 || !services->recorder)
		return;
	text = exposition_write(&services->roster, &self, true, &size);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	if (text)
		metric_watch_look(triggers->watch, rows, triggers_list(services->triggers, rows), text,
				  (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec, happened, (void *)services);
	free(text);
}
