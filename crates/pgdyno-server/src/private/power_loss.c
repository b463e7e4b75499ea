/*
 * Preloaded into a private server for the fault power-loss. Before a file below PGDYNO_JOURNAL_OF is changed, what the change
 * overwrites is appended to PGDYNO_JOURNAL; fsync and fdatasync mark a file as safe. power_loss.rs reads the journal and
 * undoes what is not safe.
 *
 * Not seen: O_DSYNC and O_SYNC, mmap, truncations, the content of removed files, copies inside of the kernel.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAGIC 0x6a6f75726e616c31ULL
enum kind { WRITTEN = 1, SYNCED = 2, RENAMED = 3, REMOVED = 4 };

/* The header of a record; the path, the second path and the former content follow. */
struct record {
	uint64_t magic;
	uint64_t offset;
	uint64_t size_before;
	uint32_t kind;
	uint32_t written;
	uint32_t path_length;
	uint32_t other_length;
	uint32_t kept;
	uint32_t padding;
};

static int journal = -1;
static char root[PATH_MAX];
static size_t root_length;

static void *real(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

#define REAL(type, name) \
	static type original; \
	if (!original) \
		original = (type) real(name)

typedef ssize_t (*write_fn)(int, const void *, size_t);
typedef ssize_t (*pwrite_fn)(int, const void *, size_t, off64_t);
typedef ssize_t (*pwritev_fn)(int, const struct iovec *, int, off64_t);
typedef int (*sync_fn)(int);
typedef int (*two_paths_fn)(const char *, const char *);
typedef int (*path_fn)(const char *);

static ssize_t real_write(int fd, const void *bytes, size_t length)
{
	REAL(write_fn, "write");
	return original(fd, bytes, length);
}

__attribute__((constructor)) static void begin(void)
{
	const char *directory = getenv("PGDYNO_JOURNAL_OF"), *path = getenv("PGDYNO_JOURNAL");

	if (!directory || !path || !realpath(directory, root))
		return;
	root_length = strlen(root);
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return;
	/* The server hands out low numbers by itself. */
	journal = fcntl(fd, F_DUPFD_CLOEXEC, 700);
	if (journal < 0)
		journal = fd;
	else
		close(fd);
}

static int is_below_root(const char *path)
{
	return strncmp(path, root, root_length) == 0 && path[root_length] == '/' && !strstr(path, "/pgsql_tmp");
}

/* Writes the path of an open file. Returns 0 if the file is not one of the server's. */
static int path_of(int fd, char *path)
{
	char link[64];

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t length = readlink(link, path, PATH_MAX - 1);
	if (length <= 0)
		return 0;
	path[length] = 0;
	return is_below_root(path);
}

/* Makes a path absolute: the server's working directory is the data directory. */
static int absolute(const char *path, char *whole)
{
	int length = path[0] == '/' ? snprintf(whole, PATH_MAX, "%s", path) : snprintf(whole, PATH_MAX, "%s/%s", root, path);

	return length > 0 && length < PATH_MAX && is_below_root(whole);
}

/* Appends a record in one write, so that records of several processes do not mix. */
static void append(struct record *record, const char *path, const char *other, const void *kept)
{
	record->magic = MAGIC;
	record->path_length = strlen(path);
	record->other_length = other ? strlen(other) : 0;
	size_t length = sizeof *record + record->path_length + record->other_length + record->kept;
	char *bytes = malloc(length), *end = bytes;
	if (!bytes)
		abort();
	end = mempcpy(end, record, sizeof *record);
	end = mempcpy(end, path, record->path_length);
	if (other)
		end = mempcpy(end, other, record->other_length);
	if (record->kept)
		memcpy(end, kept, record->kept);
	/* A server whose journal is not whole must not go on. */
	if (real_write(journal, bytes, length) != (ssize_t) length)
		abort();
	free(bytes);
}

/* Keeps what a write is about to overwrite. */
static void keep(int fd, off64_t offset, size_t length)
{
	char path[PATH_MAX];
	struct stat status;

	if (journal < 0 || fd == journal || length == 0 || !path_of(fd, path))
		return;
	if (fstat(fd, &status) || !S_ISREG(status.st_mode))
		return;
	struct record record = { .kind = WRITTEN, .offset = offset, .size_before = status.st_size, .written = length };
	void *kept = NULL;
	if (offset < status.st_size) {
		int reader = open(path, O_RDONLY | O_CLOEXEC);
		kept = malloc(length);
		ssize_t read = reader >= 0 && kept ? pread(reader, kept, length, offset) : -1;
		if (reader >= 0)
			close(reader);
		record.kept = read > 0 ? read : 0;
	}
	append(&record, path, NULL, kept);
	free(kept);
}

static void mark(int fd)
{
	char path[PATH_MAX] = "";
	struct record record = { .kind = SYNCED };

	/* Before the call: what others write meanwhile may not be covered by it. A rename in the data directory is safe once that is. */
	if (journal >= 0 && (path_of(fd, path) || !strcmp(path, root)))
		append(&record, path, NULL, NULL);
}

static void moved(enum kind kind, const char *path, const char *other)
{
	char from[PATH_MAX], to[PATH_MAX];
	struct record record = { .kind = kind };

	if (journal >= 0 && absolute(path, from) && (!other || absolute(other, to)))
		append(&record, from, other ? to : NULL, NULL);
}

ssize_t write(int fd, const void *bytes, size_t length)
{
	if (journal >= 0 && fd > 2 && fd != journal) {
		off64_t offset = lseek64(fd, 0, SEEK_CUR);
		if (offset >= 0)
			keep(fd, fcntl(fd, F_GETFL) & O_APPEND ? lseek64(fd, 0, SEEK_END) : offset, length);
	}
	return real_write(fd, bytes, length);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset)
{
	REAL(pwrite_fn, "pwrite64");
	keep(fd, offset, length);
	return original(fd, bytes, length, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset)
{
	return pwrite64(fd, bytes, length, offset);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset)
{
	REAL(pwritev_fn, "pwritev64");
	size_t length = 0;
	for (int nth = 0; nth < count; nth++)
		length += parts[nth].iov_len;
	keep(fd, offset, length);
	return original(fd, parts, count, offset);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
	return pwritev64(fd, parts, count, offset);
}

int fsync(int fd)
{
	REAL(sync_fn, "fsync");
	mark(fd);
	return original(fd);
}

int fdatasync(int fd)
{
	REAL(sync_fn, "fdatasync");
	mark(fd);
	return original(fd);
}

int rename(const char *path, const char *other)
{
	REAL(two_paths_fn, "rename");
	moved(RENAMED, path, other);
	return original(path, other);
}

int link(const char *path, const char *other)
{
	REAL(two_paths_fn, "link");
	moved(RENAMED, path, other);
	return original(path, other);
}

int unlink(const char *path)
{
	REAL(path_fn, "unlink");
	moved(REMOVED, path, NULL);
	return original(path);
}
