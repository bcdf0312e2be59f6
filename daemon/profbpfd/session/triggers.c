/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/session/triggers.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/duration.h"

#define EVENTS_MAX 64 /* pending events; further ones are dropped, because so many files would not be written anyway */
#define SIGNAL_LAST 64
#define FACTOR_MIN 1.1
#define FACTOR_MAX 1000.0
#define METRIC_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:"

struct triggers {
	pthread_mutex_t lock;
	struct trigger trigger[TRIGGERS_MAX];
	size_t count;
	uint32_t last_id, version;
	struct trigger_event event[EVENTS_MAX];
	size_t event_count;
	int event_fd;
};

/* ---- Text form */

static int parse_signal(const char *text, struct trigger *trigger)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || !number || number > SIGNAL_LAST)
		return -EINVAL;
	trigger->signal = (uint32_t)number;
	return 0;
}

static int parse_step(const char *text, struct trigger *trigger)
{
	char *end;

	trigger->factor = strtod(text, &end);
	if (*text < '0' || *text > '9' || *end != ':' || !end[1] ||
	    !(trigger->factor >= FACTOR_MIN && trigger->factor <= FACTOR_MAX))
		return -EINVAL;
	snprintf(trigger->call, sizeof(trigger->call), "%s", end + 1);
	return 0;
}

/* "N+M:NAME" */
static int parse_steps(const char *text, struct trigger *trigger)
{
	char *end;

	errno = 0;
	trigger->first_step = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '+' || end[1] < '0' || end[1] > '9')
		return -EINVAL;
	trigger->steps = strtoull(end + 1, &end, 10);
	if (*end != ':' || !end[1] || errno || !trigger->steps || trigger->first_step > UINT32_MAX ||
	    trigger->steps > UINT32_MAX)
		return -EINVAL;
	snprintf(trigger->call, sizeof(trigger->call), "%s", end + 1);
	return 0;
}

/* "X%" or "X%:NAME" */
static int parse_data_wait(const char *text, struct trigger *trigger)
{
	char *end;

	trigger->limit = strtod(text, &end);
	if (*text < '0' || *text > '9' || *end != '%' || !(trigger->limit > 0 && trigger->limit < 100) ||
	    (end[1] && (end[1] != ':' || !end[2])))
		return -EINVAL;
	if (end[1])
		snprintf(trigger->call, sizeof(trigger->call), "%s", end + 2);
	return 0;
}

/* "NAME>X" or "NAME<X" */
static int parse_metric(const char *text, struct trigger *trigger)
{
	size_t length = strspn(text, METRIC_LETTERS);
	const char *value = text + length + 1;
	char *end;

	if (!length || length >= sizeof(trigger->call) || (text[length] != '>' && text[length] != '<'))
		return -EINVAL;
	trigger->below = text[length] == '<';
	trigger->limit = strtod(value, &end);
	memcpy(trigger->call, text, length);
	return *value && *value != ' ' && !*end && isfinite(trigger->limit) ? 0 : -EINVAL;
}

static int parse_no_launch(const char *text, struct trigger *trigger)
{
	char why[128];

	return duration_parse(text, &trigger->ns, why, sizeof(why)) || !trigger->ns ? -EINVAL : 0;
}

static int parse_any_signal(const char *text, struct trigger *trigger)
{
	(void)trigger;
	return *text ? -EINVAL : 0;
}

/* The parsers by the start of the text; the first match is used. */
static const struct {
	const char *begins;
	enum trigger_kind kind;
	int (*parse)(const char *text, struct trigger *trigger);
} FORMS[] = {
	{ "signal=", TRIGGER_SIGNAL, parse_signal },	    { "signal", TRIGGER_SIGNAL, parse_any_signal },
	{ "no-launch=", TRIGGER_NO_LAUNCH, parse_no_launch }, { "slow-step=", TRIGGER_SLOW_STEP, parse_step },
	{ "steps=", TRIGGER_STEPS, parse_steps },	    { "data-wait=", TRIGGER_DATA_WAIT, parse_data_wait },
	{ "metric=", TRIGGER_METRIC, parse_metric },
};

int trigger_parse(const char *text, struct trigger *trigger, char *error, size_t size)
{
	int err = -EINVAL;

	*trigger = (struct trigger){ 0 };
	if (strlen(text) >= sizeof(trigger->what)) {
		snprintf(error, size, "the trigger is too long: it must have less than %zu "
				      "characters", sizeof(trigger->what));
		return -EINVAL;
	}
	strcpy(trigger->what, text);
	for (size_t i = 0; i < sizeof(FORMS) / sizeof(FORMS[0]); i++) {
		size_t length = strlen(FORMS[i].begins);

		if (strncmp(text, FORMS[i].begins, length))
			continue;
		trigger->kind = FORMS[i].kind;
		err = FORMS[i].parse(text + length, trigger);
		break;
	}
	if (err)
		snprintf(error, size,
			 "'%s' is not one of signal, signal=N, no-launch=DURATION, "
			 "slow-step=K:FUNCTION (K from 1.1 to 1000), steps=N+M:FUNCTION, "
			 "data-wait=X%%, data-wait=X%%:FUNCTION, metric=NAME>X, metric=NAME<X",
			 text);
	return err;
}

/* ---- The list */

struct triggers *triggers_new(void)
{
	struct triggers *triggers = calloc(1, sizeof(*triggers));

	if (!triggers)
		return NULL;
	pthread_mutex_init(&triggers->lock, NULL);
	triggers->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (triggers->event_fd >= 0)
		return triggers;
	free(triggers);
	return NULL;
}

void triggers_free(struct triggers *triggers)
{
	if (!triggers)
		return;
	close(triggers->event_fd);
	pthread_mutex_destroy(&triggers->lock);
	free(triggers);
}

static void list_changed(struct triggers *triggers)
{
	__atomic_fetch_add(&triggers->version, 1, __ATOMIC_RELEASE);
}

uint32_t triggers_add(struct triggers *triggers, const struct trigger *trigger)
{
	uint32_t id = 0;

	pthread_mutex_lock(&triggers->lock);
	if (triggers->count < TRIGGERS_MAX) {
		triggers->trigger[triggers->count] = *trigger;
		id = triggers->trigger[triggers->count++].id = ++triggers->last_id;
		list_changed(triggers);
	}
	pthread_mutex_unlock(&triggers->lock);
	return id;
}

/* The caller holds the lock. */
static struct trigger *find(struct triggers *triggers, uint32_t id)
{
	for (size_t i = 0; i < triggers->count; i++)
		if (triggers->trigger[i].id == id)
			return &triggers->trigger[i];
	return NULL;
}

bool triggers_remove(struct triggers *triggers, uint32_t id)
{
	struct trigger *found;

	pthread_mutex_lock(&triggers->lock);
	found = find(triggers, id);
	if (found) {
		size_t after = triggers->count - (size_t)(found - triggers->trigger) - 1;

		memmove(found, found + 1, after * sizeof(*found));
		triggers->count--;
		list_changed(triggers);
	}
	pthread_mutex_unlock(&triggers->lock);
	return found != NULL;
}

/* Returns the index of the row with this text, or @count. */
static size_t place_of(const struct trigger *rows, size_t count, const char *what)
{
	size_t at = 0;

	while (at < count && strcmp(rows[at].what, what))
		at++;
	return at;
}

size_t triggers_replace(struct triggers *triggers, const struct trigger *rows, size_t count)
{
	struct trigger *kept = triggers->trigger;
	size_t left = 0, without_room = 0;

	pthread_mutex_lock(&triggers->lock);
	for (size_t i = 0; i < triggers->count; i++)
		if (!kept[i].of_settings || place_of(rows, count, kept[i].what) < count)
			kept[left++] = kept[i];
	triggers->count = left;
	for (size_t i = 0; i < count; i++) {
		size_t at = 0;

		while (at < left && !(kept[at].of_settings && !strcmp(kept[at].what, rows[i].what)))
			at++;
		if (at < left || place_of(rows, i, rows[i].what) < i)
			continue;
		if (triggers->count == TRIGGERS_MAX) {
			without_room++;
			continue;
		}
		kept[triggers->count] = rows[i];
		kept[triggers->count++].id = ++triggers->last_id;
	}
	list_changed(triggers);
	pthread_mutex_unlock(&triggers->lock);
	return without_room;
}

size_t triggers_list(struct triggers *triggers, struct trigger *rows)
{
	size_t count;

	pthread_mutex_lock(&triggers->lock);
	count = triggers->count;
	memcpy(rows, triggers->trigger, count * sizeof(*rows));
	pthread_mutex_unlock(&triggers->lock);
	return count;
}

uint32_t triggers_version(const struct triggers *triggers)
{
	return __atomic_load_n(&triggers->version, __ATOMIC_ACQUIRE);
}

/* ---- Events */

void triggers_happened(struct triggers *triggers, const struct trigger_event *event)
{
	uint64_t one = 1;

	pthread_mutex_lock(&triggers->lock);
	if (triggers->event_count < EVENTS_MAX)
		triggers->event[triggers->event_count++] = *event;
	pthread_mutex_unlock(&triggers->lock);
	if (write(triggers->event_fd, &one, sizeof(one)) < 0)
		return; /* the counter is full: the control loop is awake */
}

int triggers_fd(const struct triggers *triggers)
{
	return triggers->event_fd;
}

static bool take_event(struct triggers *triggers, struct trigger_event *event)
{
	uint64_t value;

	if (!triggers->event_count) {
		if (read(triggers->event_fd, &value, sizeof(value)) < 0)
			return false; /* the descriptor was not readable */
		return false;
	}
	*event = triggers->event[0];
	memmove(triggers->event, triggers->event + 1, --triggers->event_count * sizeof(*event));
	return true;
}

bool triggers_next(struct triggers *triggers, struct trigger_event *event, struct trigger *trigger)
{
	bool due = false;
	struct timespec ts;
	uint64_t now;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	pthread_mutex_lock(&triggers->lock);
	while (!due && take_event(triggers, event)) {
		struct trigger *found = find(triggers, event->trigger);

		if (!found)
			continue;
		found->happened++;
		due = now >= found->next_ns;
		if (!due)
			continue;
		found->next_ns = now + found->every_ns;
		*trigger = *found;
	}
	pthread_mutex_unlock(&triggers->lock);
	return due;
}

void triggers_wrote(struct triggers *triggers, uint32_t id)
{
	struct trigger *found;

	pthread_mutex_lock(&triggers->lock);
	found = find(triggers, id);
	if (found)
		found->written++;
	pthread_mutex_unlock(&triggers->lock);
}
