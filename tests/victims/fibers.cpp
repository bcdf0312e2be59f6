// SPDX-License-Identifier: Apache-2.0
// Fibers of Boost.Context that are suspended inside probed functions.
#include <boost/context/fiber.hpp>

#include "victim.h"

namespace context = boost::context;

static const int FIBERS = 4;

static void suspend(void *caller)
{
	context::fiber *of = static_cast<context::fiber *>(caller);

	victim_leaf(1);
	*of = std::move(*of).resume();
	victim_leaf(2);
}

static context::fiber make_fiber(void)
{
	return context::fiber([](context::fiber &&caller) {
		for (;;)
			victim_work(suspend, &caller);
		return std::move(caller);
	});
}

static bool run(context::fiber *fibers)
{
	bool ok = true;

	for (int i = 0; i < victim_rounds(); i++) {
		context::fiber &one = fibers[i * 3 % FIBERS];

		one = std::move(one).resume();
		ok &= victim_leaf(i) == 3 * i;
	}
	return ok;
}

int main(void)
{
	// Destroying a suspended fiber unwinds its stack through probed functions, so it happens only at the end.
	static context::fiber fibers[FIBERS];
	bool ok;

	for (context::fiber &one : fibers)
		one = make_fiber();
	ok = run(fibers);
	victim_gate();
	do {
		ok &= run(fibers);
	} while (victim_again());
	for (context::fiber &one : fibers)
		one = context::fiber();
	victim_print("boost_fibers", ok);
	return ok ? 0 : 1;
}
