// SPDX-License-Identifier: Apache-2.0
// Called by Go, and calls Go back: on a stack of the system, that of the thread.
#include "victim.h"

extern void goCallback(int i);

__attribute__((noipa)) int victim_go(int i)
{
	int epoch = victim_enters(VICTIM_go);

	goCallback(i);
	victim_returns(VICTIM_go, epoch);
	return i;
}
