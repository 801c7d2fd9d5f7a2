// Preloaded into a process (LD_PRELOAD), it holds up the collector's thread, and no other, like a frozen disk. The first
// byte of the file HELD_UP_FILE chooses the call: 's' the next stat() (in a search for rings), 'p' the next pread() or
// preadv() (in a drain). The thread waits until that byte changes. Meanwhile the second byte is 1.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static volatile char *control;

__attribute__((constructor)) static void begin(void) {
  const char *file = getenv("HELD_UP_FILE");
  int fd = file == NULL ? -1 : open(file, O_RDWR | O_CLOEXEC);
  if (fd < 0) abort();
  void *bytes = mmap(NULL, 2, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (bytes == MAP_FAILED) abort();
  control = bytes;
  close(fd);
}

static void hold_up(char where) {
  char name[17] = "";
  if (control == NULL || control[0] != where) return;
  prctl(PR_GET_NAME, name);
  if (strcmp(name, "nixl-otel") != 0) return;
  control[1] = 1;
  while (control[0] == where) usleep(1000);
  control[1] = 0;
}

int stat(const char *path, struct stat *info) {
  static int (*real)(const char *, struct stat *);
  if (real == NULL) real = (int (*)(const char *, struct stat *))dlsym(RTLD_NEXT, "stat");
  hold_up('s');
  return real(path, info);
}

// The name of stat() in glibc before 2.33, which the binaries of the package call. The struct of all callers is the same.
int __xstat(int version, const char *path, struct stat *info) {
  (void)version;
  return stat(path, info);
}

ssize_t pread(int fd, void *bytes, size_t size, off_t offset) {
  static ssize_t (*real)(int, void *, size_t, off_t);
  if (real == NULL) real = (ssize_t (*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");
  hold_up('p');
  return real(fd, bytes, size, offset);
}

ssize_t preadv(int fd, const struct iovec *parts, int count, off_t offset) {
  static ssize_t (*real)(int, const struct iovec *, int, off_t);
  if (real == NULL) real = (ssize_t (*)(int, const struct iovec *, int, off_t))dlsym(RTLD_NEXT, "preadv");
  hold_up('p');
  return real(fd, parts, count, offset);
}
