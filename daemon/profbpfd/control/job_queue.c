/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/job_queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/profbpfd/control/priority.h"

#define THREADS 2
#define USERS_MAX JOB_QUEUE_MAX /* users with jobs at the same time */

struct list {
	struct job *first, **end;
};

/* An ordinary user with unfinished jobs. */
struct user {
	uid_t uid;
	size_t count; /* waiting and running jobs; 0 = a free place */
	uint64_t served; /* sequence number of the user's last start of a job */
};

struct worker {
	struct job_queue *queue;
	pthread_t thread;
	bool everybody; /* also takes jobs of ordinary users */
};

struct job_queue {
	struct worker workers[THREADS];
	size_t worker_count;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct list trusted, others, done;
	struct user users[USERS_MAX];
	size_t other_count; /* unfinished jobs of ordinary users */
	uint64_t served;
	int event_fd;
	bool ending;
};

static void list_init(struct list *list)
{
	list->first = NULL;
	list->end = &list->first;
}

static void append(struct list *list, struct job *job)
{
	job->next = NULL;
	*list->end = job;
	list->end = &job->next;
}

static struct job *take(struct list *list, struct job **link)
{
	struct job *job = *link;

	*link = job->next;
	if (!*link)
		list->end = link;
	return job;
}

/* Returns the user's place, or a free one; NULL if there is none. */
static struct user *find_user(struct job_queue *queue, uid_t uid)
{
	struct user *free_place = NULL;

	for (size_t i = 0; i < USERS_MAX; i++) {
		struct user *user = &queue->users[i];

		if (user->count && user->uid == uid)
			return user;
		if (!user->count && !free_place)
			free_place = user;
	}
	return free_place;
}

/* Takes the oldest job of the user who was served longest ago. */
static struct job *take_fairly(struct job_queue *queue)
{
	struct job **best = NULL;
	struct user *whose = NULL;

	for (struct job **link = &queue->others.first; *link; link = &(*link)->next) {
		struct user *user = find_user(queue, (*link)->user);

		if (best && user->served >= whose->served)
			continue;
		best = link;
		whose = user;
	}
	if (!best)
		return NULL;
	whose->served = ++queue->served;
	return take(&queue->others, best);
}

/* Waits for a job and returns it; NULL at the end. */
static struct job *next_job(struct worker *worker)
{
	struct job_queue *queue = worker->queue;
	struct job *job = NULL;

	pthread_mutex_lock(&queue->lock);
	while (!queue->ending && !job) {
		if (queue->trusted.first)
			job = take(&queue->trusted, &queue->trusted.first);
		else if (worker->everybody)
			job = take_fairly(queue);
		if (!job)
			pthread_cond_wait(&queue->changed, &queue->lock);
	}
	pthread_mutex_unlock(&queue->lock);
	return job;
}

static void give_back(struct job_queue *queue, struct job *job)
{
	uint64_t one = 1;

	pthread_mutex_lock(&queue->lock);
	append(&queue->done, job);
	if (!job->trusted) {
		find_user(queue, job->user)->count--;
		queue->other_count--;
	}
	pthread_mutex_unlock(&queue->lock);
	if (write(queue->event_fd, &one, sizeof(one)) < 0)
		return; /* the counter is full: the control loop is awake */
}

static void *run(void *context)
{
	struct worker *worker = context;
	struct job *job;

	pthread_setname_np(pthread_self(), "profbpfd/work");
	if (!worker->everybody)
		priority_raise();
	while ((job = next_job(worker))) {
		job->work(job);
		give_back(worker->queue, job);
	}
	return NULL;
}

struct job_queue *job_queue_new(void)
{
	struct job_queue *queue = calloc(1, sizeof(*queue));

	if (!queue)
		return NULL;
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->changed, NULL);
	list_init(&queue->trusted);
	list_init(&queue->others);
	list_init(&queue->done);
	queue->served = 1;
	queue->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	while (queue->event_fd >= 0 && queue->worker_count < THREADS) {
		struct worker *worker = &queue->workers[queue->worker_count];

		worker->queue = queue;
		worker->everybody = !queue->worker_count;
		if (pthread_create(&worker->thread, NULL, run, worker))
			break;
		queue->worker_count++;
	}
	if (queue->worker_count == THREADS)
		return queue;
	job_queue_free(queue, NULL);
	return NULL;
}

int job_queue_fd(const struct job_queue *queue)
{
	return queue->event_fd;
}

/* Counts a new job of an ordinary user; a negative errno if there are too many. */
static int count_job(struct job_queue *queue, uid_t uid)
{
	struct user *user = find_user(queue, uid);

	if (user && user->count >= JOB_QUEUE_PER_USER)
		return -EBUSY;
	if (!user || queue->other_count >= JOB_QUEUE_MAX)
		return -EAGAIN;
	/* A new user is served after the users who wait already, and before the one who was served last. */
	if (!user->count)
		*user = (struct user){ .uid = uid, .served = queue->served - 1 };
	user->count++;
	queue->other_count++;
	return 0;
}

int job_queue_add(struct job_queue *queue, struct job *job)
{
	int err = 0;

	pthread_mutex_lock(&queue->lock);
	if (!job->trusted)
		err = count_job(queue, job->user);
	if (!err) {
		append(job->trusted ? &queue->trusted : &queue->others, job);
		pthread_cond_broadcast(&queue->changed);
	}
	pthread_mutex_unlock(&queue->lock);
	return err;
}

struct job *job_queue_done(struct job_queue *queue)
{
	struct job *job = NULL;
	uint64_t count;

	pthread_mutex_lock(&queue->lock);
	if (queue->done.first)
		job = take(&queue->done, &queue->done.first);
	else if (read(queue->event_fd, &count, sizeof(count)) < 0)
		count = 0; /* no job has ended since the last call */
	pthread_mutex_unlock(&queue->lock);
	return job;
}

static void drop_all(struct list *list, void (*drop)(struct job *job))
{
	while (list->first)
		drop(take(list, &list->first));
}

void job_queue_free(struct job_queue *queue, void (*drop)(struct job *job))
{
	if (!queue)
		return;
	pthread_mutex_lock(&queue->lock);
	queue->ending = true;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
	for (size_t i = 0; i < queue->worker_count; i++)
		pthread_join(queue->workers[i].thread, NULL);
	drop_all(&queue->trusted, drop);
	drop_all(&queue->others, drop);
	drop_all(&queue->done, drop);
	if (queue->event_fd >= 0)
		close(queue->event_fd);
	pthread_cond_destroy(&queue->changed);
	pthread_mutex_destroy(&queue->lock);
	free(queue);
}
