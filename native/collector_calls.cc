// Calls of other threads that need the collector's locks. The thread holds these while it reads files, and a file
// system, a debugger or the machine may hold it up there for any time. So each call has a deadline; what it could not
// do until then is deferred, and the thread does it when it runs again.

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "collector.h"

namespace nixl_otel {
namespace {

constexpr std::chrono::microseconds kLockPause{200};

}  // namespace

Clock::time_point Collector::patience() const {
  return awaitedStep_ == steps_ ? Clock::now() : Clock::now() + kPatience;
}

// Polls: a mutex with a time limit needs a newer C library than the prebuilt binaries do.
bool Collector::lockBefore(std::unique_lock<std::mutex>& lock, Clock::time_point deadline) {
  if (deadline == kForEver) {
    lock.lock();
    return true;
  }
  while (!lock.try_lock()) {
    if (Clock::now() >= deadline) {
      awaitedStep_ = steps_.load();
      return false;
    }
    std::this_thread::sleep_for(kLockPause);
  }
  return true;
}

// Does the work with mutex_ held: now, or at the thread's next step where it does not let go of it.
void Collector::whenFree(Clock::time_point deadline, std::function<void()> work) {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (!lockBefore(lock, deadline)) {
    if (defer(work)) return;
    lock.lock();
  }
  work();
}

// False: no thread runs that would do it, nor one that could hold on to a lock.
bool Collector::defer(std::function<void()> work) {
  const std::lock_guard lock(deferredMutex_);
  if (deferring_) deferred_.push_back(std::move(work));
  return deferring_;
}

// False: there is work left.
bool Collector::stopDeferring() {
  const std::lock_guard lock(deferredMutex_);
  deferring_ = !deferred_.empty();
  return !deferring_;
}

// mutex_ is held.
void Collector::runDeferred() {
  std::vector<std::function<void()>> works;
  {
    const std::lock_guard lock(deferredMutex_);
    works.swap(deferred_);
  }
  for (const auto& work : works) work();
}

std::shared_ptr<Tap> Collector::openTap(const std::shared_ptr<Source>& source, const TapWants& wants, size_t capacity) {
  auto tap = std::make_shared<Tap>(wants, capacity);
  const Clock::time_point deadline = patience();
  whenFree(deadline, [=, this] {
    source->taps_.push_back(tap);
    onEach(*source, deadline, [tap](Agent& agent, TallySlot& slot) { agent.addTap(slot, tap); });
  });
  return tap;
}

void Collector::closeTap(const std::shared_ptr<Source>& source, const std::shared_ptr<Tap>& tap) {
  const Clock::time_point deadline = patience();
  whenFree(deadline, [=, this] {
    std::erase(source->taps_, tap);
    onEach(*source, deadline, [tap](Agent& agent, TallySlot& slot) { agent.removeTap(slot, tap); });
  });
}

// mutex_ is held. An agent that the thread holds on to beyond the deadline has its turn at the thread's next step.
void Collector::onEach(Source& source, Clock::time_point deadline,
                       const std::function<void(Agent&, TallySlot&)>& work) {
  for (const auto& [path, seen] : source.agents_) {
    auto lock = seen.agent->lockLater();
    if (lockBefore(lock, deadline)) {
      work(*seen.agent, *seen.slot);
      continue;
    }
    const auto later = [seen, work] {
      auto free = seen.agent->lockLater();
      free.lock();
      work(*seen.agent, *seen.slot);
    };
    if (!defer(later)) later();
  }
}

uint32_t Collector::addReader(const std::shared_ptr<Source>& source) {
  const uint32_t reader = source->nextReader_++;
  whenFree(patience(), [source, reader] { source->lastRead_.emplace(reader, Clock::time_point{}); });
  return reader;
}

void Collector::removeReader(const std::shared_ptr<Source>& source, uint32_t reader) {
  whenFree(patience(), [source, reader] { source->lastRead_.erase(reader); });
}

}  // namespace nixl_otel
