/* SPDX-License-Identifier: Apache-2.0 */
/* Names of containers from files as their runtimes write them, below a folder that stands for the machine's root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/profbpfd/host/cgroups.h"
#include "daemon/profbpfd/host/container_names.h"
#include "daemon/profbpfd/host/json_strings.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
#define BUNDLE "/run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID
#define STORAGE "/var/lib/containers/storage/overlay-containers"

static char root[64];

static int set_up(void **state)
{
	strcpy(root, "/tmp/test-names.XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

/* Writes a file below the root, and the folders that it is in. */
static void write_file(const char *path, const char *text)
{
	char full[PATH_MAX];
	FILE *out;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		assert_true(!mkdir(full, 0755) || errno == EEXIST);
		*p = '/';
	}
	out = fopen(full, "w");
	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

static struct container_names names_of(const char *id)
{
	int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct container_names names;
	bool known;

	assert_true(fd >= 0);
	known = container_names_read(fd, id, &names);
	assert_int_equal(known, names.container[0] || names.image[0] || names.pod[0]);
	close(fd);
	return names;
}

static void assert_names(const struct container_names *names, const char *container, const char *image, const char *pod,
			 const char *pod_namespace)
{
	assert_string_equal(names->container, container);
	assert_string_equal(names->image, image);
	assert_string_equal(names->pod, pod);
	assert_string_equal(names->pod_namespace, pod_namespace);
}

/* containerd's, as on a node of kind, shortened. */
#define CONTAINERD                                                                                       \
	"{\"ociVersion\":\"1.1.0\",\"process\":{\"user\":{\"uid\":0},\"args\":[\"/run\",\"annotations\"]},"     \
	"\"hostname\":\"x\",\"mounts\":[{\"destination\":\"/proc\",\"options\":[\"ro\"]}],\"annotations\":{"    \
	"\"io.kubernetes.cri.container-name\":\"trainer\",\"io.kubernetes.cri.container-type\":\"container\"," \
	"\"io.kubernetes.cri.image-name\":\"registry.example/llm:3\",\"io.kubernetes.cri.sandbox-id\":\"" OTHER \
	"\",\"io.kubernetes.cri.sandbox-name\":\"train-0\",\"io.kubernetes.cri.sandbox-namespace\":\"research\"},"   \
	"\"linux\":{\"resources\":{\"cpu\":{\"shares\":18446744073709551615}}}}"

static void of_each_runtime(void **state)
{
	struct container_names names = names_of(ID);

	assert_names(&names, "", "", "", "");
	write_file(STORAGE "/containers.json",
		   "[{\"id\":\"" OTHER "\",\"names\":[\"other\"],\"image\":\"1\",\"metadata\":\"{\\\"image-name\\\":\\\"no:1\\\"}\"},"
		   "{\"id\":\"" ID "\",\"names\":[\"job\",\"again\"],\"image\":\"0badc0de\",\"layer\":\"" OTHER "\","
		   "\"metadata\":\"{\\\"image-name\\\":\\\"localhost/job:1\\\",\\\"image-id\\\":\\\"2\\\",\\\"name\\\":\\\"job\\\"}\","
		   "\"flags\":{\"MountLabel\":\"\"}}]\n");
	names = names_of(ID);
	assert_names(&names, "job", "localhost/job:1", "", "");
	write_file("/var/lib/docker/containers/" ID "/config.v2.json",
		   "{\"Config\":{\"Hostname\":\"h\",\"Image\":\"python:3\",\"Labels\":{\"a/b\":\"c\"}},\"Image\":\"sha256:1\","
		   "\"Name\":\"/keen_lamarr\"}");
	names = names_of(ID);
	assert_names(&names, "keen_lamarr", "python:3", "", "");
	write_file("/var/lib/docker/containers/" OTHER "/config.v2.json",
		   "{\"Name\":\"/k8s_trainer_train-0_research_1\",\"Config\":{\"Labels\":{\"io.kubernetes.container.name\":\"trainer\","
		   "\"io.kubernetes.pod.name\":\"train-0\",\"io.kubernetes.pod.namespace\":\"research\"}}}");
	names = names_of(OTHER);
	assert_names(&names, "trainer", "", "train-0", "research");
	write_file("/run/containers/storage/overlay-containers/" ID "/userdata/config.json",
		   "{\"annotations\":{\"io.kubernetes.container.name\":\"c\",\"io.kubernetes.cri-o.ImageName\":\"i:2\","
		   "\"io.kubernetes.pod.name\":\"p\",\"io.kubernetes.pod.namespace\":\"n\"}}");
	names = names_of(ID);
	assert_names(&names, "c", "i:2", "p", "n");
	write_file(BUNDLE "/config.json", CONTAINERD);
	names = names_of(ID);
	assert_names(&names, "trainer", "registry.example/llm:3", "train-0", "research");
}

/* Links are followed as the machine's own processes would, and lead nowhere else; folders and pipes are no files. */
static void of_other_places(void **state)
{
	struct container_names names;
	char full[PATH_MAX];

	write_file("/data/docker/containers/" ID "/config.v2.json", "{\"Name\":\"/linked\"}");
	write_file("/var/lib/x", "");
	snprintf(full, sizeof(full), "%s/var/lib/docker", root);
	assert_int_equal(symlink("/data/docker", full), 0);
	names = names_of(ID);
	assert_names(&names, "linked", "", "", "");

	write_file(BUNDLE "/x", "");
	snprintf(full, sizeof(full), "%s" BUNDLE "/config.json", root);
	assert_int_equal(mkfifo(full, 0600), 0);
	names = names_of(ID);
	assert_names(&names, "linked", "", "", "");
	assert_int_equal(unlink(full), 0);
	assert_int_equal(mkdir(full, 0700), 0);
	names = names_of(ID);
	assert_names(&names, "linked", "", "", "");
}

/* What is damaged, too long or of another type is unknown; what stands before damage is known. */
static void of_other_texts(void **state)
{
	static const char *const nothing[] = {
		"",
		"null",
		"\"text\"",
		"[[[[\"" ID "\"]]]]",
		"{\"annotations\":[\"io.kubernetes.cri.container-name\",\"x\"]}",
		"{\"annotations\":{\"io.kubernetes.cri.container-name\":3}}",
		"{\"annotations\":{\"x\":{\"io.kubernetes.cri.container-name\":\"x\"}}}",
		"{\"io.kubernetes.cri.container-name\":\"x\"}",
		"{\"annotations\":{\"io.kubernetes.cri.container-name\":\"\\u0000x\"}}",
		"{\"annotations\":{\"io.kubernetes.cri.container-name\":\"\xff\"}}",
	};
	struct container_names names;
	char text[2000];

	for (size_t i = 0; i < sizeof(nothing) / sizeof(*nothing); i++) {
		write_file(BUNDLE "/config.json", nothing[i]);
		names = names_of(ID);
		assert_names(&names, "", "", "", "");
	}
	snprintf(text, sizeof(text), "{\"annotations\":{\"io.kubernetes.cri.container-name\":\"%0300d\",\"io.kubernetes.cri.image-name\":\"i\"}}", 1);
	write_file(BUNDLE "/config.json", text);
	names = names_of(ID);
	assert_names(&names, "", "i", "", "");
	snprintf(text, sizeof(text), "{\"%0700d\":{\"annotations\":{\"io.kubernetes.cri.image-name\":\"x\"}},"
		 "\"annotations\":{\"io.kubernetes.cri.image-name\":\"i\",", 1);
	write_file(BUNDLE "/config.json", text);
	names = names_of(ID);
	assert_names(&names, "", "i", "", "");
	/* Keys that do not fit, or have a NUL, hide nothing that follows. */
	snprintf(text, sizeof(text), "{\"annotations\":{\"%0700d\":{\"x\":\"x\"},\"\\u0000\":{\"%0700d\":\"x\"},"
		 "\"io.kubernetes.cri.image-name\":\"i\"}}", 1, 1);
	write_file(BUNDLE "/config.json", text);
	names = names_of(ID);
	assert_names(&names, "", "i", "", "");
}

/* Deeper than is looked at, and back. */
static void of_deep_texts(void **state)
{
	char text[2048] = "{\"a\":", found[8] = "", deep[8] = "";
	const struct json_place places[] = { { "b", found, sizeof(found) }, { "a/*/*", deep, sizeof(deep) } };

	for (int i = 0; i < 500; i++)
		strcat(text, "[");
	strcat(text, "\"x\"");
	for (int i = 0; i < 500; i++)
		strcat(text, "]");
	strcat(text, ",\"b\":\"yes\"}");
	assert_true(json_strings_find(&(struct json_strings){ places, 2 }, text, strlen(text)));
	assert_string_equal(found, "yes");
	assert_string_equal(deep, "");
}

/* A session is told of a group with the names of its container, if it asks for them. */
static void in_a_session(void **state)
{
	struct cgroups *cgroups;
	Profbpf__Cgroups *told;
	char full[PATH_MAX];
	struct item *item;
	struct stat st;
	bool more;

	write_file("/groups/docker/" ID "/x", "");
	write_file(BUNDLE "/config.json", CONTAINERD);
	snprintf(full, sizeof(full), "%s/groups/docker/" ID, root);
	assert_int_equal(stat(full, &st), 0);
	snprintf(full, sizeof(full), "%s/groups", root);
	for (int named = 0; named < 2; named++) {
		cgroups = cgroups_new_at(full, false);
		assert_non_null(cgroups);
		if (named)
			cgroups_name_containers(cgroups, open(root, O_PATH | O_DIRECTORY | O_CLOEXEC));
		item = cgroups_note(cgroups, st.st_ino, 0x7ffffff0, true, &more);
		assert_non_null(item);
		told = profbpf__cgroups__unpack(NULL, item->size, (const uint8_t *)item->data);
		assert_non_null(told);
		assert_int_equal(told->n_cgroup, 2);
		assert_string_equal(told->cgroup[0]->path, "/docker/" ID);
		assert_string_equal(told->cgroup[0]->container_name, named ? "trainer" : "");
		assert_string_equal(told->cgroup[0]->image, named ? "registry.example/llm:3" : "");
		assert_string_equal(told->cgroup[0]->pod_name, named ? "train-0" : "");
		assert_string_equal(told->cgroup[0]->pod_namespace, named ? "research" : "");
		assert_string_equal(told->cgroup[1]->container_name, "");
		profbpf__cgroups__free_unpacked(told, NULL);
		item_free(item);
		cgroups_free(cgroups);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(of_each_runtime, set_up, tear_down),
		cmocka_unit_test_setup_teardown(of_other_places, set_up, tear_down),
		cmocka_unit_test_setup_teardown(of_other_texts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(of_deep_texts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(in_a_session, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
