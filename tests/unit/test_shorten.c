/* SPDX-License-Identifier: Apache-2.0 */
/* Names that are too long for their column keep their distinguishing part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "analyzer/view/render/shorten.h"
#include "analyzer/view/render/utf8.h"
#include "analyzer/view/render/wrap.h"

static void expect(const char *text, unsigned int columns, const char *wanted)
{
	char got[512];

	assert_ptr_equal(shorten(text, columns, "…", got, sizeof(got)), got);
	assert_string_equal(got, wanted);
	assert_in_range(wrap_columns(got, strlen(got)), 0, columns);
}

static void what_fits_stays(void **state)
{
	expect("at::native::copy_", 17, "at::native::copy_");
	expect("", 0, "");
}

#define KERNEL "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int, float*)"

static void arguments_go_first(void **state)
{
	expect(KERNEL, 98, "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(…)");
	expect(KERNEL, 70, "void at::native::vectorized_elementwise_kernel<4, at::na…d<float> >(…)");
	expect(KERNEL, 53, "void at::native::vectorized_elementwise_kernel<…>(…)");
	expect("std::vector<int>::push_back", 26, "std::vector<…>::push_back");
	expect("f(int, char)::g<long, long>", 17, "f(int,…har)::g<…>");
}

static void then_namespaces_from_the_left(void **state)
{
	expect(KERNEL, 50, "…native::vectorized_elementwise_kernel<…>(…)");
	expect(KERNEL, 38, "…vectorized_elementwise_kernel<…>(…)");
	expect("torch::autograd::profiler::record_function_enter_new", 30, "…record_function_enter_new");
	expect("std::map<int, int>::find<a::b>", 12, "…find<…>");
}

static void then_the_middle(void **state)
{
	expect("torch::record_function_enter_new", 16, "torch::r…ter_new");
	expect("python3 of process 4242", 16, "python3 …ss 4242");
	expect("/usr/lib/x86_64-linux-gnu/libavfilter.so.8", 20, "/usr/lib/x…lter.so.8");
	expect("数据管道的瓶颈", 8, "数据…颈");
	expect("abc", 1, "…");
	expect("abc", 0, "");
}

static void other_brackets_are_no_arguments(void **state)
{
	expect("train.py:19 <module> of a job", 24, "train.py:19 …e> of a job");
	expect("take_lock < push < main", 16, "take_loc… < main");
	expect("Matrix::operator<(Matrix const&)", 21, "Matrix::operator<(…)");
	expect("Matrix::operator->", 14, "…operator->");
	expect("Task::operator()(int, int)", 22, "Task::operator()(…)");
	expect("(anonymous namespace)::run(int)", 29, "(anonymous namespace)::run(…)");
	expect("a<b and no end", 10, "a<b a… end");
}

/* For any name: never wider, never incomplete characters. */
static void nothing_is_wider(void **state)
{
	static const char PIECES[] = "a:<>(){} -…é数_operator::";
	char text[256], got[512];
	uint32_t seed = 21;

	for (int round = 0; round < 20000; round++) {
		size_t used = 0;
		unsigned int columns;

		while (used < 100) {
			seed = seed * 1664525 + 1013904223;
			size_t at = seed >> 16 & 31;

			at = at < sizeof(PIECES) - 1 ? at : 0;
			while (((unsigned char)PIECES[at] & 0xc0) == 0x80)
				at--;
			memcpy(text + used, PIECES + at, utf8_next(PIECES + at));
			used += utf8_next(PIECES + at);
			if ((seed & 31) == 0)
				break;
		}
		text[used] = '\0';
		columns = seed >> 20 & 63;
		shorten(text, columns, "…", got, sizeof(got));
		assert_true(utf8_valid(got));
		assert_in_range(wrap_columns(got, strlen(got)), 0, columns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_stays),
		cmocka_unit_test(arguments_go_first),
		cmocka_unit_test(then_namespaces_from_the_left),
		cmocka_unit_test(then_the_middle),
		cmocka_unit_test(other_brackets_are_no_arguments),
		cmocka_unit_test(nothing_is_wider),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
