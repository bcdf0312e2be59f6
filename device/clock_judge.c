/* SPDX-License-Identifier: Apache-2.0 */
#include "device/clock_judge.h"

#include <string.h>
#include <time.h>

#define MONOTONIC (STREAM_CLOCK_MONOTONIC - 1)
#define BOOTTIME (STREAM_CLOCK_BOOTTIME - 1)
#define SAME_NS 1000000 /* a suspend lasts longer than this, two readings in a row do not */

static const clockid_t clock_ids[CLOCK_JUDGE_CLOCKS] = {
	CLOCK_MONOTONIC,
	CLOCK_MONOTONIC_RAW,
	CLOCK_BOOTTIME,
	CLOCK_REALTIME,
};

void clock_reading_take(struct clock_reading *reading)
{
	struct timespec ts;
	int i;

	for (i = 0; i < CLOCK_JUDGE_CLOCKS; i++) {
		reading->ns[i] = 0;
		if (clock_gettime(clock_ids[i], &ts) == 0)
			reading->ns[i] = (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
	}
}

bool clock_judge_wants(const struct clock_judge *judge, uint64_t now_ns)
{
	if (judge->done)
		return false;
	return judge->readings < CLOCK_JUDGE_MAX || now_ns - judge->last_ns >= CLOCK_JUDGE_RETRY_NS;
}

static void settle(struct clock_judge *judge, enum stream_clock clock)
{
	judge->done = true;
	judge->clock = clock;
}

/* A clock remains possible if at least 90 % of the readings agree with it. */
static bool agrees(uint32_t count, const struct clock_judge *judge)
{
	return (uint64_t)count * 10 >= (uint64_t)judge->readings * 9;
}

/* The only entry of counts that agrees, or -1 (none) or -2 (several). */
static int only(const uint32_t *counts, const struct clock_judge *judge, bool skip_boottime)
{
	int i, found = -1;

	for (i = 0; i < CLOCK_JUDGE_CLOCKS; i++) {
		if (!agrees(counts[i], judge) || (i == BOOTTIME && skip_boottime))
			continue;
		if (found >= 0)
			return -2;
		found = i;
	}
	return found;
}

static bool never_suspended(const struct clock_reading *reading)
{
	return reading->ns[BOOTTIME] - reading->ns[MONOTONIC] < SAME_NS;
}

bool clock_judge_add(struct clock_judge *judge, const struct clock_reading *before,
		     const struct clock_reading *after, uint64_t queued_ns)
{
	bool skip_boottime = never_suspended(before);
	int i, clock;

	if (judge->done)
		return false;
	judge->readings++;
	judge->last_ns = after->ns[MONOTONIC];
	for (i = 0; i < CLOCK_JUDGE_CLOCKS; i++) {
		if (before->ns[i] == 0)
			continue;
		judge->exact[i] += queued_ns >= before->ns[i] && queued_ns <= after->ns[i];
		judge->fits[i] += queued_ns + CLOCK_JUDGE_TOLERANCE_NS >= before->ns[i] &&
				  queued_ns <= after->ns[i] + CLOCK_JUDGE_TOLERANCE_NS;
	}
	if (judge->readings < CLOCK_JUDGE_MIN)
		return false;
	clock = only(judge->fits, judge, skip_boottime);
	if (clock == -2)
		clock = only(judge->exact, judge, skip_boottime);
	else if (clock == -1 && judge->readings >= CLOCK_JUDGE_MAX)
		settle(judge, STREAM_CLOCK_UNDECLARED);
	if (clock >= 0)
		settle(judge, (enum stream_clock)(clock + 1));
	return judge->done;
}
