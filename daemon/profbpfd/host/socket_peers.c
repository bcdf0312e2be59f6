/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/host/socket_peers.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define KEPT 256 /* size of the cache; a power of two */
#define KEPT_NS 1000000000ull /* for this time socket_peers_other(), called per packet, uses even an uncertain result */
#define ROWS_MAX 65536 /* further rows of a table are ignored */

/* One end of a connection; IPv4 addresses are mapped to IPv6, so that rows of both tables are comparable. */
struct end {
	struct in6_addr address;
	uint32_t port;
};

struct row {
	struct end local, remote;
	uint64_t inode;
};

struct socket_peers {
	struct socket_peer kept[KEPT];
	bool settled[KEPT]; /* another search would not find a better result */
	uint64_t asked_ns[KEPT]; /* time of the last search, done or skipped for lack of time */
	struct row *rows;
	size_t count;
	uint64_t begin_ns;
	uint64_t spent_ns;
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

struct socket_peers *socket_peers_new(void)
{
	struct socket_peers *peers = calloc(1, sizeof(*peers));

	if (!peers)
		return NULL;
	peers->rows = calloc(ROWS_MAX, sizeof(*peers->rows));
	peers->begin_ns = clock_ns(CLOCK_MONOTONIC);
	if (peers->rows)
		return peers;
	free(peers);
	return NULL;
}

void socket_peers_free(struct socket_peers *peers)
{
	if (!peers)
		return;
	free(peers->rows);
	free(peers);
}

/* Parses "0100007F", or four such words, each in the host's byte order. */
static bool read_end(const char *text, unsigned int port, struct end *end)
{
	uint32_t word[4] = { 0, 0, htonl(0xffff), 0 };

	memset(end, 0, sizeof(*end));
	if (strlen(text) == 8) {
		if (sscanf(text, "%8x", &word[3]) != 1)
			return false;
	} else if (sscanf(text, "%8x%8x%8x%8x", &word[0], &word[1], &word[2], &word[3]) != 4) {
		return false;
	}
	memcpy(&end->address, word, sizeof(end->address));
	end->port = port;
	return true;
}

static void read_table(struct socket_peers *peers, uint32_t tid, const char *name)
{
	char path[64], line[512], local[33], remote[33];
	unsigned int local_port, remote_port;
	unsigned long inode;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/net/%s", tid, name);
	file = fopen(path, "re");
	if (!file)
		return;
	while (peers->count < ROWS_MAX && fgets(line, sizeof(line), file)) {
		struct row *row = &peers->rows[peers->count];

		if (sscanf(line, " %*d: %32[0-9A-F]:%x %32[0-9A-F]:%x %*x %*x:%*x %*x:%*x %*x %*u %*u %lu",
			   local, &local_port, remote, &remote_port, &inode) != 5 ||
		    !remote_port || !read_end(local, local_port, &row->local) ||
		    !read_end(remote, remote_port, &row->remote))
			continue;
		row->inode = inode;
		peers->count++;
	}
	fclose(file);
}

static bool same_end(const struct end *a, const struct end *b)
{
	return a->port == b->port && memcmp(&a->address, &b->address, sizeof(a->address)) == 0;
}

static void write_end(const struct end *end, char *text, size_t size)
{
	char address[INET6_ADDRSTRLEN] = "";

	if (IN6_IS_ADDR_V4MAPPED(&end->address)) {
		inet_ntop(AF_INET, &end->address.s6_addr[12], address, sizeof(address));
		snprintf(text, size, "%s:%u", address, end->port);
	} else {
		inet_ntop(AF_INET6, &end->address, address, sizeof(address));
		snprintf(text, size, "[%s]:%u", address, end->port);
	}
}

static bool has_open(const char *pid, uint64_t inode)
{
	char path[64], wanted[64], link[64];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.16s/fd", pid);
	snprintf(wanted, sizeof(wanted), "socket:[%llu]", (unsigned long long)inode);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);

		if (n <= 0)
			continue;
		link[n] = '\0';
		found = strcmp(link, wanted) == 0;
	}
	if (dir)
		closedir(dir);
	return found;
}

static bool is_thread_of(uint32_t tid, const char *pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.16s/task/%u", pid, tid);
	return access(path, F_OK) == 0;
}

/*
 * Finds a process that has a socket open, among the processes that the target's user may know about. Prefers another
 * process than the target, which may still have the socket open after it has passed it to a child.
 */
static uint32_t owner_of(uint32_t tid, uint64_t inode, bool *settled)
{
	char path[64];
	struct stat target, other;
	struct dirent *entry;
	uint32_t pid = 0;
	bool own = true;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u", tid);
	if (!inode || stat(path, &target))
		return 0;
	dir = opendir("/proc");
	while (dir && own && (entry = readdir(dir))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9' ||
		    fstatat(dirfd(dir), entry->d_name, &other, 0) ||
		    (target.st_uid && target.st_uid != other.st_uid))
			continue;
		if (!has_open(entry->d_name, inode))
			continue;
		pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		own = is_thread_of(tid, entry->d_name);
	}
	if (dir)
		closedir(dir);
	*settled = !own;
	return pid;
}

static void look(struct socket_peers *peers, uint32_t tid, struct socket_peer *peer, bool *settled)
{
	const struct row *own = NULL;

	peers->count = 0;
	read_table(peers, tid, "tcp");
	read_table(peers, tid, "tcp6");
	read_table(peers, tid, "udp");
	read_table(peers, tid, "udp6");
	for (size_t i = 0; i < peers->count && !own; i++)
		if (peers->rows[i].inode == peer->inode)
			own = &peers->rows[i];
	if (!own)
		return;
	*settled = true;
	write_end(&own->remote, peer->address, sizeof(peer->address));
	for (size_t i = 0; i < peers->count; i++)
		if (same_end(&peers->rows[i].local, &own->remote) &&
		    same_end(&peers->rows[i].remote, &own->local)) {
			peer->other = peers->rows[i].inode;
			peer->tgid = owner_of(tid, peer->other, settled);
		}
}

const struct socket_peer *socket_peers_find(struct socket_peers *peers, uint32_t tid,
					    uint64_t inode)
{
	struct socket_peer *peer = &peers->kept[inode & (KEPT - 1)];
	bool *settled = &peers->settled[inode & (KEPT - 1)];
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (peer->inode == inode && *settled)
		return peer;
	*peer = (struct socket_peer){ .inode = inode };
	*settled = false;
	peers->asked_ns[inode & (KEPT - 1)] = clock_ns(CLOCK_MONOTONIC);
	if (peers->spent_ns >
	    PEERS_AT_ONCE_NS + (clock_ns(CLOCK_MONOTONIC) - peers->begin_ns) / 100)
		return peer;
	look(peers, tid, peer, settled);
	peers->spent_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	return peer;
}

uint64_t socket_peers_other(struct socket_peers *peers, uint32_t tid, uint64_t inode,
			    uint32_t peer_tid)
{
	const struct socket_peer *peer = &peers->kept[inode & (KEPT - 1)];
	char pid[16];

	if (peer->inode != inode || clock_ns(CLOCK_MONOTONIC) - peers->asked_ns[inode & (KEPT - 1)] > KEPT_NS)
		peer = socket_peers_find(peers, tid, inode);
	snprintf(pid, sizeof(pid), "%u", peer->tgid);
	return peer->tgid && is_thread_of(peer_tid, pid) ? peer->other : 0;
}
