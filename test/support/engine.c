// A process of an engine: `engine TITLE [RING [TITLE RING]...]`. It renames itself as vLLM's processes do, by setproctitle: the
// memory of its arguments and its environment holds the title and zeros then. An empty title changes nothing. With a ring that
// is not empty it maps that file as an agent does. A second pair is a child, a third the child of that.
// Under another name, as `vllm serve MODEL`, it is the command of an engine: the variable WORKERS has arguments for one process
// in each line, with tabs between them.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static void start(char** arguments) {
  if (fork() != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  execv("/proc/self/exe", arguments);
  _exit(1);
}

// Starts a process for each line of WORKERS.
static void launch(char* lines) {
  for (char* line = strtok_r(lines, "\n", &lines); line != 0; line = strtok_r(0, "\n", &lines)) {
    char* arguments[16] = {"engine"};
    int count = 1;
    // Unlike strtok(), strsep() keeps an empty ring.
    for (char* one; count < 15 && (one = strsep(&line, "\t")) != 0;) arguments[count++] = one;
    start(arguments);
  }
  for (;;) pause();
}

int main(int argc, char** argv, char** environment) {
  if (getenv("WORKERS") != 0 && strcmp(argv[0], "engine") != 0) launch(strdup(getenv("WORKERS")));
  if (argc > 3) {
    char* arguments[16] = {"engine"};
    for (int i = 3; i < argc && i < 16; i++) arguments[i - 2] = argv[i];
    start(arguments);
  }
  if (argc > 2 && argv[2][0] != 0) {
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
