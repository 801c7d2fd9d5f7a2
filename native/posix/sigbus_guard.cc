#include "posix/sigbus_guard.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace nixl_otel {
namespace {

// No lock is needed: the handler runs on the thread that faulted, and a claim covers only accesses of its thread. The
// claim's constructor has written to this variable, so the thread-local memory exists before a fault.
thread_local MappingClaim* volatile innermost = nullptr;
thread_local volatile sig_atomic_t forwarding = 0;

// Statics without destructors: other threads may still fault while the process exits.
struct sigaction previous;
pthread_mutex_t installing = PTHREAD_MUTEX_INITIALIZER;

uintptr_t pageSize() {
  static const uintptr_t size = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

void forward(int signal, siginfo_t* info, void* context) {
  // True if the previous handler forwarded the fault to this handler again: then no handler accepts it.
  const bool loop = forwarding != 0;
  if (!loop && previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    forwarding = 1;
    if ((previous.sa_flags & SA_SIGINFO) != 0) {
      previous.sa_sigaction(signal, info, context);
    } else {
      previous.sa_handler(signal);
    }
    forwarding = 0;
    return;
  }
  // Restores the default action. The thread then repeats the instruction, which dumps core at the fault. A SIGBUS from
  // kill() has no such instruction, so it is raised again.
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  ::sigaction(signal, &standard, nullptr);
  if (info->si_code <= 0) ::raise(signal);
}

void onSigbus(int signal, siginfo_t* info, void* context) {
  const int savedErrno = errno;
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  MappingClaim* claim = innermost;
  while (claim != nullptr && !claim->covers(address)) claim = claim->outer();
  if (info->si_code == BUS_ADRERR && claim != nullptr) {
    const uintptr_t page = address & ~(pageSize() - 1);
    // mmap is not listed as async-signal-safe, but it is only a system call. systemd-journald does the same.
    void* zeros = ::mmap(reinterpret_cast<void*>(page), pageSize(), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (zeros != MAP_FAILED) {
      claim->noteFault();
      errno = savedErrno;
      return;
    }
  }
  forward(signal, info, context);
  errno = savedErrno;
}

}  // namespace

int guardMappings() {
  pageSize();
  ::pthread_mutex_lock(&installing);
  struct sigaction current;
  int problem = ::sigaction(SIGBUS, nullptr, &current) == 0 ? 0 : errno;
  const bool ours = (current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == onSigbus;
  if (problem == 0 && !ours) {
    previous = current;
    struct sigaction action = {};
    action.sa_sigaction = onSigbus;
    // SA_ONSTACK: Go programs and sanitizers run threads on stacks that are too small for a handler.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&action.sa_mask);
    problem = ::sigaction(SIGBUS, &action, nullptr) == 0 ? 0 : errno;
  }
  ::pthread_mutex_unlock(&installing);
  return problem;
}

int HeaderMapping::map(int fd, size_t bytes, bool writable) {
  unmap();
  if (const int problem = guardMappings(); problem != 0) return problem;
  void* base = ::mmap(nullptr, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) return errno;
  base_ = static_cast<std::byte*>(base);
  bytes_ = bytes;
  return 0;
}

void HeaderMapping::unmap() {
  if (base_ != nullptr) ::munmap(base_, bytes_);
  base_ = nullptr;
  bytes_ = 0;
}

MappingClaim::MappingClaim(const std::byte* base, size_t bytes)
    : begin_(reinterpret_cast<uintptr_t>(base)), end_(begin_ + bytes), outer_(innermost) {
  innermost = this;
}

MappingClaim::~MappingClaim() { innermost = outer_; }

}  // namespace nixl_otel
