/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/stacks/kernel_names.h"

#include <pthread.h>
#include <stdlib.h>

/* A table, which exists while it is the latest or has takers. */
struct table {
	struct table *next;
	struct address_names *names;
	uint64_t read_ns;
	unsigned int takers;
};

struct kernel_names {
	pthread_mutex_t lock;
	struct table *latest; /* head of the list of tables; NULL: there is none */
};

struct kernel_names *kernel_names_new(void)
{
	struct kernel_names *n = calloc(1, sizeof(*n));

	if (n)
		pthread_mutex_init(&n->lock, NULL);
	return n;
}

/* Frees tables without takers except the latest one; with @all every table. */
static void tidy(struct kernel_names *n, bool all)
{
	struct table **at = n->latest && !all ? &n->latest->next : &n->latest;

	while (*at) {
		struct table *table = *at;

		if (table->takers && !all) {
			at = &table->next;
			continue;
		}
		*at = table->next;
		address_names_free(table->names);
		free(table);
	}
}

void kernel_names_free(struct kernel_names *n)
{
	if (!n)
		return;
	tidy(n, true);
	pthread_mutex_destroy(&n->lock);
	free(n);
}

static struct table *read_anew(struct kernel_names *n, uint64_t now_ns,
			       struct address_names *(*read)(void *context), void *context)
{
	struct table *table = calloc(1, sizeof(*table));

	if (table)
		table->names = read(context);
	if (!table || !table->names) {
		free(table);
		return NULL;
	}
	table->read_ns = now_ns;
	table->next = n->latest;
	n->latest = table;
	tidy(n, false);
	return table;
}

/* A table without names is not shared: another session may be permitted to read the names. */
static bool is_good(const struct table *table, uint64_t now_ns)
{
	return table && address_names_count(table->names) &&
	       now_ns - table->read_ns < KERNEL_NAMES_AGE_NS;
}

struct address_names *kernel_names_take(struct kernel_names *n, uint64_t now_ns,
					struct address_names *(*read)(void *context), void *context,
					bool *shared)
{
	struct table *table;

	pthread_mutex_lock(&n->lock);
	*shared = is_good(n->latest, now_ns);
	table = *shared ? n->latest : read_anew(n, now_ns, read, context);
	if (table)
		table->takers++;
	pthread_mutex_unlock(&n->lock);
	return table ? table->names : NULL;
}

void kernel_names_give_back(struct kernel_names *n, struct address_names *taken)
{
	if (!taken)
		return;
	pthread_mutex_lock(&n->lock);
	for (struct table *table = n->latest; table; table = table->next)
		if (table->names == taken)
			table->takers--;
	tidy(n, false);
	pthread_mutex_unlock(&n->lock);
}
