// The handler survives and records a fault inside a claimed mapping. It forwards every other fault to the previous
// handler.
#include "posix/sigbus_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "check.h"
#include "temporary_directory.h"

using namespace nixl_otel;

namespace {

uint8_t touch(const std::byte* place) { return *reinterpret_cast<const volatile uint8_t*>(place); }

struct MappedFile {
  explicit MappedFile(const std::string& path) : fd(::open(path.c_str(), O_CREAT | O_RDWR, 0644)) {
    if (::ftruncate(fd, 4096) != 0 || mapping.map(fd, 4096, true) != 0) std::abort();
  }
  ~MappedFile() { ::close(fd); }
  int fd;
  HeaderMapping mapping;
};

}  // namespace

TEST(readsTruncatedFileAsZerosAndRecordsFault) {
  const TemporaryDirectory directory;
  MappedFile file(directory / "ring");
  for (int i = 0; i < 1000; ++i) {
    REQUIRE_EQ(::ftruncate(file.fd, 4096), 0);
    REQUIRE_EQ(file.mapping.map(file.fd, 4096, true), 0);
    const MappingClaim claim(file.mapping);
    file.mapping.base()[0] = std::byte{7};
    CHECK(!claim.faulted());
    REQUIRE_EQ(::ftruncate(file.fd, 0), 0);
    CHECK_EQ(int{touch(file.mapping.base())}, 0);
    CHECK(claim.faulted());
  }
}

// A library that is loaded later may install its own handler.
TEST(replacesHandlerThatWasInstalledLater) {
  const TemporaryDirectory directory;
  MappedFile file(directory / "ring");
  struct sigaction before;
  REQUIRE_EQ(::sigaction(SIGBUS, nullptr, &before), 0);
  ::signal(SIGBUS, [](int) { ::_exit(3); });
  CHECK_EQ(guardMappings(), 0);
  {
    const MappingClaim claim(file.mapping);
    REQUIRE_EQ(::ftruncate(file.fd, 0), 0);
    CHECK_EQ(int{touch(file.mapping.base())}, 0);
    CHECK(claim.faulted());
  }
  ::sigaction(SIGBUS, &before, nullptr);
}

TEST(separatesClaimsOfThreads) {
  const TemporaryDirectory directory;
  std::vector<std::thread> threads;
  std::atomic<int> survived{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      MappedFile file(directory / std::to_string(t));
      for (int i = 0; i < 200; ++i) {
        if (::ftruncate(file.fd, 4096) != 0 || file.mapping.map(file.fd, 4096, true) != 0) std::abort();
        const MappingClaim claim(file.mapping);
        if (::ftruncate(file.fd, 0) != 0) std::abort();
        if (touch(file.mapping.base()) == 0 && claim.faulted()) ++survived;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(survived.load(), 800);
}

// Runs in a child process, which the fault must end as it would without this handler.
TEST(forwardsFaultOfHostToDefaultAction) {
  const TemporaryDirectory directory;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGBUS, SIG_DFL);
    MappedFile ours(directory / "ours");
    MappedFile theirs(directory / "theirs");
    const MappingClaim claim(ours.mapping);
    if (::ftruncate(theirs.fd, 0) != 0) ::_exit(9);
    touch(theirs.mapping.base());
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  // Under a sanitizer its handler ends the process with an exit code.
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS) || (check::kSanitized && WEXITSTATUS(status) != 0));
}

namespace {

// State of the host's handler, which maps a page of zeros at the fault and returns.
volatile sig_atomic_t handled = 0;
void* volatile faultAddress = nullptr;

void repair(void* address) {
  handled = handled + 1;
  void* page = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(address) & ~uintptr_t{4095});
  ::mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void withInfo(int signal, siginfo_t* info, void* context) {
  if (signal != SIGBUS || info->si_code != BUS_ADRERR || context == nullptr) ::_exit(4);
  faultAddress = info->si_addr;
  repair(info->si_addr);
}

void plain(int signal) {
  if (signal != SIGBUS) ::_exit(4);
  repair(faultAddress);
}

// Runs in a child process, which installs its handler before guardMappings(). Returns 0 if that handler gets both
// faults of the host, and the guard gets the fault between them.
int faultsUnder(const struct sigaction& handler, const std::string& directory) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // an unrepaired fault repeats without end
    ::sigaction(SIGBUS, &handler, nullptr);
    MappedFile ours(directory + "/ours");
    for (int i = 1; i <= 2; ++i) {
      MappedFile theirs(directory + "/theirs-" + std::to_string(i));
      const MappingClaim claim(ours.mapping);
      if (::ftruncate(theirs.fd, 0) != 0) ::_exit(9);
      std::byte* const place = theirs.mapping.base() + 8;
      if ((handler.sa_flags & SA_SIGINFO) == 0) faultAddress = place;
      if (touch(place) != 0 || handled != i || faultAddress != place || claim.faulted()) ::_exit(1);
      if (i == 2) ::_exit(0);
      if (::ftruncate(ours.fd, 0) != 0) ::_exit(9);
      if (touch(ours.mapping.base()) != 0 || !claim.faulted() || handled != i) ::_exit(2);
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

TEST(forwardsFaultsOfHostToEarlierHandler) {
  struct sigaction handler = {};
  ::sigemptyset(&handler.sa_mask);
  handler.sa_flags = SA_SIGINFO;
  handler.sa_sigaction = withInfo;
  const TemporaryDirectory first;
  CHECK_EQ(faultsUnder(handler, first.path), 0);
  handler.sa_flags = 0;
  handler.sa_handler = plain;
  const TemporaryDirectory second;
  CHECK_EQ(faultsUnder(handler, second.path), 0);
}

// Zeros in place of a failed page of memory would hide the failure. A process may send itself what the kernel then
// sends.
TEST(forwardsMemoryErrorsOfClaimedMappings) {
  const TemporaryDirectory directory;
  const pid_t child = ::fork();
  if (child == 0) {
    struct sigaction handler = {};
    handler.sa_flags = SA_SIGINFO;
    handler.sa_sigaction = [](int, siginfo_t* info, void*) { ::_exit(info->si_code == BUS_MCEERR_AR ? 3 : 4); };
    ::sigaction(SIGBUS, &handler, nullptr);
    MappedFile file(directory / "ring");
    const MappingClaim claim(file.mapping);
    siginfo_t info = {};
    info.si_signo = SIGBUS;
    info.si_code = BUS_MCEERR_AR;
    info.si_addr = file.mapping.base();
    if (::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), ::gettid(), SIGBUS, &info) != 0) ::_exit(5);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK_EQ(WEXITSTATUS(status), 3);
}

int main() { return check::run("sigbus_guard_test"); }
