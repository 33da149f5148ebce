/*
 * Faults of the disk for one process, by LD_PRELOAD. What to do is read from the file DISK_FAULT_FILE at
 * each sync, for files below DISK_FAULT_DIRECTORY:
 *   slow MS    fsync and fdatasync take so long more
 *   eio        they fail with EIO
 * An empty file is no fault. Each sync that succeeds is noted in DISK_SYNC_FILE as "SIZE PATH": what lies
 * beyond that size of a file has never been promised to anybody, and a cut of the power may take it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int path_of(int fd, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return -1;
  path[length] = 0;
  return 0;
}

static int is_ours(const char *path) {
  const char *directory = getenv("DISK_FAULT_DIRECTORY");
  return directory && strncmp(path, directory, strlen(directory)) == 0;
}

static void fault_of(char *fault, size_t size) {
  fault[0] = 0;
  const char *file = getenv("DISK_FAULT_FILE");
  int fd = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return;
  ssize_t length = read(fd, fault, size - 1);
  fault[length > 0 ? length : 0] = 0;
  close(fd);
}

static void note(int fd, const char *path) {
  const char *file = getenv("DISK_SYNC_FILE");
  struct stat found;
  if (!file || fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) return;
  char line[PATH_MAX + 32];
  int length = snprintf(line, sizeof line, "%lld %s\n", (long long)found.st_size, path);
  int out = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (out < 0) return;
  if (write(out, line, length) != length) abort();
  close(out);
}

static int sync_with_faults(int fd, long number) {
  char path[PATH_MAX];
  if (path_of(fd, path) != 0 || !is_ours(path)) return syscall(number, fd);
  char fault[64];
  fault_of(fault, sizeof fault);
  if (strncmp(fault, "slow ", 5) == 0) {
    long ms = atol(fault + 5);
    struct timespec pause = {ms / 1000, (ms % 1000) * 1000000L};
    nanosleep(&pause, NULL);
  } else if (strncmp(fault, "eio", 3) == 0) {
    errno = EIO;
    return -1;
  }
  int result = syscall(number, fd);
  if (result == 0) note(fd, path);
  return result;
}

int fsync(int fd) { return sync_with_faults(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_with_faults(fd, SYS_fdatasync); }
