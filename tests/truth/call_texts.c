/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_texts.c - calls with string arguments: thousands of different strings, from several threads at
 * once, in each thread at one address; the argument "bytes" determines the expected string.
 */
#include <string.h>

#include "tests/truth/truth.h"

#define THREADS 4
#define TEXTS 6000
#define ROUNDS 2
#define LETTERS 140 /* longer than the recorded length */
#define EMPTY 1000000
#define UNREADABLE 1000001

static void call(const char *text, uint64_t number)
{
	uint64_t out;

	truth_arguments(text, number, &out, 1, 1, 1, 0, &out);
}

/* Each thread uses a different order. */
static void *work(void *argument)
{
	static const unsigned int steps[THREADS] = { 1, 7, 1009, 5999 };
	unsigned int step = steps[(long)argument];
	char text[64 + LETTERS];

	for (int i = 0; i < TEXTS * ROUNDS; i++) {
		unsigned int number = (unsigned int)i * step % TEXTS;
		int length = snprintf(text, sizeof(text), "text_%u_", number);

		memset(text + length, 'x', number % LETTERS);
		text[length + number % LETTERS] = '\0';
		call(text, number);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	truth_ready();
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	call("", EMPTY);
	call((const char *)8, UNREADABLE);
	printf("calls=%d\ntexts=%d\n", THREADS * TEXTS * ROUNDS + 2, TEXTS);
	truth_done();
	return 0;
}
