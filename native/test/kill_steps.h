// Kills a consumer at a chosen step: before or after one of its accesses to memory that it shares with agents, or with
// the next consumer. The product needs no hook for it. The mappings of rings and state files are protected. So each
// access raises SIGSEGV, runs alone (the processor's trap flag), raises SIGTRAP, and the mapping is protected again.
//
// Replaces functions of the C library in the whole program. Needs the trap flag of x86-64.

#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstring>
#include <iterator>
#include <string_view>

#include "kill_agents.h"
#include "state/state_sections.h"

namespace nixl_otel::kills {

enum class Step : uint8_t {
  kRecovery,     // an access before the first slots are read: the last consumer's record is examined
  kRead,         // an access after slots were read, before their tally is written
  kFill,         // a store of the tally and the record to the idle half
  kCommit,       // before the store that makes this half the valid one
  kCommitted,    // after it
  kEmptyRecord,  // after the same store, with a record without a chunk
  kSwap,         // before the swap of read_pos
  kSwapped,      // after it
  kRest,         // before the store that notes that the ring has come to rest
  kRested,       // after it
  kMark,         // before the swap of the mark
  kMarked,       // after it
};
inline constexpr size_t kSteps = 12;
inline constexpr const char* kStepNames[kSteps] = {"recovery", "read",    "fill", "commit", "committed", "empty record",
                                                   "swap",     "swapped", "rest", "rested", "mark",      "marked"};

// Where a consumer dies. `after`: number of such steps that it survives. `meetsRebuild`: when it is about to swap
// read_pos of an interrupted agent, it first waits until this agent has rebuilt its ring.
struct DeathPlan {
  Step step;
  uint32_t after;
  bool meetsRebuild;
};

// A sanitizer maps memory and catches signals itself.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
inline constexpr bool kCanKillAtSteps = true;

// Thread safety: the collector's thread maps files and accesses them.
class StepTrap {
 public:
  static StepTrap& instance() {
    static StepTrap* const one = new StepTrap();
    return *one;
  }

  // Applies to files that this process maps from now on.
  void arm(Board& board, const DeathPlan& plan, std::atomic<uint32_t>& died) {
    board_ = &board;
    plan_ = plan;
    died_ = &died;
    struct sigaction action{};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int, siginfo_t* info, void* context) {
      instance().onAccess(static_cast<std::byte*>(info->si_addr), *static_cast<ucontext_t*>(context));
    };
    ::sigaction(SIGSEGV, &action, nullptr);
    action.sa_sigaction = [](int, siginfo_t*, void* context) {
      instance().onAccessEnd(*static_cast<ucontext_t*>(context));
    };
    ::sigaction(SIGTRAP, &action, nullptr);
  }
  bool armed() const { return board_ != nullptr; }

  void add(void* base, size_t bytes, int fd) {
    char link[64];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    char path[4096];
    const ssize_t length = ::readlink(link, path, sizeof path);
    if (length < 0) return;
    const std::string_view name(path, static_cast<size_t>(length));
    for (Region& region : regions_) {
      if (region.base != nullptr) continue;
      region = {static_cast<std::byte*>(base), bytes, name.find("/.nixl-otel/") != name.npos, nullptr};
      // A trap takes some ten microseconds. The first page has the word, and the beginning of a half.
      if (region.isState && plan_.step != Step::kFill) region.bytes = std::min<size_t>(bytes, kPageBytes);
      for (AgentLog& log : board_->log) {
        if (name.substr(name.rfind('/') + 1) == log.name) region.log = &log;
      }
      protect(region, PROT_NONE);
      return;
    }
    std::abort();
  }
  void remove(const void* base) {
    for (Region& region : regions_) {
      if (region.base == base) region = {};
    }
  }
  void noteSlotsRead() { slotsRead_ = everRead_ = true; }

 private:
  struct Region {
    std::byte* base = nullptr;
    size_t bytes = 0;
    bool isState = false;
    AgentLog* log = nullptr;
  };

  static void protect(const Region& region, int how) {
    if (::mprotect(region.base, region.bytes, how) != 0) std::abort();
  }

  void onAccess(std::byte* address, ucontext_t& context) {
    Region* found = nullptr;
    for (Region& region : regions_) {
      if (region.base != nullptr && address >= region.base && address < region.base + region.bytes) found = &region;
    }
    if (found == nullptr || accessed_ != nullptr) {
      ::signal(SIGSEGV, SIG_DFL);  // a fault of the product
      return;
    }
    accessed_ = found;
    const bool isStore = (context.uc_mcontext.gregs[REG_ERR] & 2) != 0;
    const auto offset = static_cast<size_t>(address - found->base);
    protect(*found, PROT_READ | PROT_WRITE);
    next_ = isStore ? beforeStore(*found, offset) : nullptr;
    if (!isStore) reach(everRead_ ? Step::kRead : Step::kRecovery);
    context.uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
  }

  void onAccessEnd(ucontext_t& context) {
    context.uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
    protect(*std::exchange(accessed_, nullptr), PROT_NONE);
    if (next_ != nullptr) (this->*std::exchange(next_, nullptr))();
  }

  using AfterStore = void (StepTrap::*)();
  AfterStore beforeStore(const Region& region, size_t offset) {
    if (!everRead_) reach(Step::kRecovery);
    if (region.isState && offset != StateHead::kWordOffset) {
      reach(Step::kFill);
      return nullptr;
    }
    if (region.isState) {
      const bool commits = hasFilledHalf(region.base);
      reach(commits ? Step::kCommit : Step::kRest);
      return commits ? &StepTrap::afterCommit : &StepTrap::afterRest;
    }
    if (offset == kVersionOffset + sizeof(int32_t)) {
      reach(Step::kMark);
      return &StepTrap::afterMark;
    }
    if (plan_.meetsRebuild) awaitRebuild(region.log);
    reach(Step::kSwap);
    return &StepTrap::afterSwap;
  }
  // True if the half that is not the valid one has the sequence of the next commit.
  static bool hasFilledHalf(const std::byte* base) {
    const StateWord word{loadField<uint64_t>(base, StateHead::kWordOffset)};
    const uint32_t idle = 1 - word.half();
    const auto place = loadField<StatePlace>(base, offsetof(StateHead, halves) + idle * sizeof(StatePlace));
    return loadField<HalfHead>(base, place.offset).sequence == word.sequence() + 1;
  }
  void afterCommit() { reach(std::exchange(slotsRead_, false) ? Step::kCommitted : Step::kEmptyRecord); }
  void afterRest() { reach(Step::kRested); }
  void afterMark() { reach(Step::kMarked); }
  void afterSwap() { reach(Step::kSwapped); }

  void reach(Step step) {
    if (step != plan_.step || plan_.after-- != 0) return;
    ++*died_;
    ::kill(::getpid(), SIGKILL);
    for (;;) ::pause();
  }

  // The agent must have settled: at most one of its rebuilds may begin during a drain.
  void awaitRebuild(const AgentLog* log) const {
    if (log == nullptr || log->habit != Habit::kInterrupted) return;
    const uint32_t count = log->count;
    if (log->settled != count || count >= kMostInterruptions) return;
    ++board_->interrupts;
    while (log->count == count && !board_->ending) ::sched_yield();
  }

  static constexpr greg_t kTrapFlag = 0x100;
  static constexpr size_t kPageBytes = 4096;
  Board* board_ = nullptr;
  DeathPlan plan_{};
  std::atomic<uint32_t>* died_ = nullptr;
  Region regions_[4 * Board::kMostAgents];
  Region* accessed_ = nullptr;
  AfterStore next_ = nullptr;
  bool slotsRead_ = false;  // since the last commit
  bool everRead_ = false;
};

}  // namespace nixl_otel::kills

extern "C" __attribute__((visibility("default"))) void* mmap(void* at, size_t bytes, int access, int flags, int fd,
                                                             off_t offset) noexcept {
  const long result = ::syscall(SYS_mmap, at, bytes, access, flags, fd, offset);
  void* const base = reinterpret_cast<void*>(result);
  auto& trap = nixl_otel::kills::StepTrap::instance();
  if (base != MAP_FAILED && fd >= 0 && (access & PROT_WRITE) != 0 && trap.armed()) trap.add(base, bytes, fd);
  return base;
}
extern "C" __attribute__((visibility("default"))) int munmap(void* base, size_t bytes) noexcept {
  nixl_otel::kills::StepTrap::instance().remove(base);
  return static_cast<int>(::syscall(SYS_munmap, base, bytes));
}
extern "C" __attribute__((visibility("default"))) ssize_t pread(int fd, void* bytes, size_t size, off_t offset) {
  if (offset >= nixl_otel::kHeaderA.size) nixl_otel::kills::StepTrap::instance().noteSlotsRead();
  return ::syscall(SYS_pread64, fd, bytes, size, offset);
}
extern "C" __attribute__((visibility("default"))) ssize_t preadv(int fd, const iovec* parts, int count, off_t offset) {
  nixl_otel::kills::StepTrap::instance().noteSlotsRead();
  return ::syscall(SYS_preadv, fd, parts, count, offset, 0);
}
#else
inline constexpr bool kCanKillAtSteps = false;

class StepTrap {
 public:
  static StepTrap& instance() {
    static StepTrap one;
    return one;
  }
  void arm(Board&, const DeathPlan&, std::atomic<uint32_t>&) { std::abort(); }
};

}  // namespace nixl_otel::kills
#endif
