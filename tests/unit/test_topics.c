/* SPDX-License-Identifier: Apache-2.0 */
/* --topics: names to bits, and a message with the invalid word and the valid ones. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/common/topics.h"

static void expect(const char *text, unsigned int expected)
{
	char error[256] = "";
	unsigned int topics = 0;
	int err = topics_parse(text, &topics, error, sizeof(error));

	if (err || topics != expected)
		fail_msg("'%s': %d, %#x, %s", text, err, topics, error);
}

static void expect_error(const char *text, const char *words)
{
	unsigned int topics = 0x100;
	char error[256] = "";

	assert_int_equal(topics_parse(text, &topics, error, sizeof(error)), -EINVAL);
	if (!strstr(error, words) || !strstr(error, "topics are api ioctl sched device"))
		fail_msg("'%s': expected '%s' and the list in '%s'", text, words, error);
	assert_int_equal(topics, 0x100);
}

static void test_good(void **state)
{
	expect("api", TOPIC_API);
	expect("api,sched", TOPIC_API | TOPIC_SCHED);
	expect("api sched", TOPIC_API | TOPIC_SCHED);
	expect(" ioctl ,\tdevice,", TOPIC_IOCTL | TOPIC_DEVICE);
	expect("api,api", TOPIC_API);
	expect("api ioctl sched device account irq fault sample", TOPICS_DEFAULT);
}

static void test_sums(void **state)
{
	expect("default", TOPICS_DEFAULT);
	expect("all", TOPICS_DEFAULT | TOPIC_STACK | TOPIC_IO);
	expect("+stack,-irq", (TOPICS_DEFAULT | TOPIC_STACK) & ~TOPIC_IRQ);
	expect(" -sched +io", (TOPICS_DEFAULT & ~TOPIC_SCHED) | TOPIC_IO);
	expect("api,+io", TOPIC_API | TOPIC_IO);
	expect("all,-stack", TOPICS_DEFAULT | TOPIC_IO);
	expect("default,-fault,fault", TOPICS_DEFAULT);
	expect("-default,+io", TOPIC_IO);
	expect_error("api,-api", "no topic is left");
	expect_error("+shed", "unknown topic '+shed'");
	expect_error("+", "unknown topic '+'");
	expect_error("+-io", "unknown topic '+-io'");
	expect_error("alls", "unknown topic 'alls'");
}

static void test_bad(void **state)
{
	expect_error("", "no topic given");
	expect_error(" , ,", "no topic given");
	expect_error("api,shed", "unknown topic 'shed'");
	expect_error("API", "unknown topic 'API'");
	expect_error("apis", "unknown topic 'apis'");
	expect_error("ap", "unknown topic 'ap'");
	expect_error("api;sched", "unknown topic 'api;sched'");
}

static void test_names(void **state)
{
	unsigned int count = 0, all = 0;

	for (; topic_name(count); count++) {
		expect(topic_name(count), 1u << count);
		all |= 1u << count;
	}
	assert_int_equal(all & TOPICS_DEFAULT, TOPICS_DEFAULT);
	assert_null(topic_name(count));
	assert_null(topic_name(~0u));
}

/* A message that does not fit is truncated, not written beyond its buffer. */
static void test_small_message(void **state)
{
	char error[24];
	unsigned int topics;

	memset(error, 'x', sizeof(error));
	assert_int_equal(topics_parse("nonsense", &topics, error, 16), -EINVAL);
	assert_int_equal(strlen(error), 15);
	assert_int_equal(error[16], 'x');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),	      cmocka_unit_test(test_sums),
		cmocka_unit_test(test_bad),	      cmocka_unit_test(test_names),
		cmocka_unit_test(test_small_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
