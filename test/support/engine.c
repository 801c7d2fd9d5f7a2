// A process of an engine: `engine TITLE [RING]`. It renames itself as vLLM's processes do, by setproctitle: the memory of
// its arguments and its environment holds the title and zeros then. An empty title changes nothing. With a ring it maps
// that file as an agent does.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char** argv, char** environment) {
  if (argc > 2) {
    const int file = open(argv[2], O_RDWR);
    if (file < 0 || mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) == MAP_FAILED) return 1;
    close(file);
  }
  if (argv[1][0] != 0) {
    char title[64];
    snprintf(title, sizeof title, "%s", argv[1]);
    char* end = argv[argc - 1];
    while (*environment != 0) end = *environment++;
    memset(argv[0], 0, (size_t)(end + strlen(end) - argv[0]));
    strcpy(argv[0], title);
    prctl(PR_SET_NAME, title);
  }
  puts("ready");
  fflush(stdout);
  pause();
}
