/* SPDX-License-Identifier: Apache-2.0 */
/* hot.c - calls one function very often for some seconds, then rarely (with "hot" never), and another rarely. */
#include <string.h>

#include "tests/truth/truth.h"

#define TURN_NS 10000000l
#define HOT_TURNS 600
#define CALM_TURNS 800
#define HOT_CALLS 200 /* per turn: 20,000 a second */
#define CALM_CALLS 2

int main(int argc, char **argv)
{
	int turns = argc > 1 && !strcmp(argv[1], "hot") ? HOT_TURNS : HOT_TURNS + CALM_TURNS;
	long calls = 0, rare = 0;

	truth_ready();
	for (int turn = 0; turn < turns; turn++) {
		int times = turn < HOT_TURNS ? HOT_CALLS : CALM_CALLS;

		for (int i = 0; i < times; i++)
			truth_noop(i);
		truth_make(1);
		calls += times;
		rare++;
		sleep_ns(TURN_NS);
	}
	printf("calls=%ld\nrare=%ld\n", calls, rare);
	truth_done();
	return 0;
}
