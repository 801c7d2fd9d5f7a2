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

WaitBudget Collector::budget(Clock::duration limit) const {
  const uint64_t step = steps_;
  return {limit, awaitedStep_ == step ? Clock::duration{0} : limit, step};
}

bool Collector::lockWithin(std::unique_lock<FairMutex>& lock, WaitBudget& budget) {
  if (lock.try_lock()) return true;
  if (budget.limit == WaitBudget::kForEver) {
    lock.lock();
    return true;
  }
  const Clock::time_point begun = Clock::now();
  const bool isLocked = lock.try_lock_until(begun + budget.left);
  budget.left -= std::min(budget.left, Clock::now() - begun);
  if (!isLocked) noteHeldUp(budget);
  return isLocked;
}

// A call has waited in vain. Where the thread has moved meanwhile, or the limit was short, it is not held up.
void Collector::noteHeldUp(const WaitBudget& budget) {
  if (budget.limit >= kPatience) awaitedStep_ = budget.step;
}

// Does the work with mutex_ held: now, or at the thread's next step where it does not let go of it. Not before what is
// deferred already: what was opened must be so before it is closed.
void Collector::whenFree(WaitBudget& budget, Work work) {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (!lockWithin(lock, budget) || hasDeferred()) {
    if (defer(work)) return;
    if (!lock.owns_lock()) lock.lock();
  }
  work(budget);
}

// False: no thread runs that would do it, nor one that could hold on to a lock.
bool Collector::defer(Work work) {
  const std::lock_guard lock(deferredMutex_);
  if (deferring_) deferred_.push_back(std::move(work));
  return deferring_;
}

bool Collector::hasDeferred() {
  const std::lock_guard lock(deferredMutex_);
  return !deferred_.empty();
}

// False: there is work left.
bool Collector::stopDeferring() {
  const std::lock_guard lock(deferredMutex_);
  deferring_ = !deferred_.empty();
  return !deferring_;
}

// Of the thread, with mutex_ held.
void Collector::runDeferred() {
  std::vector<Work> works;
  {
    const std::lock_guard lock(deferredMutex_);
    works.swap(deferred_);
  }
  WaitBudget forEver;
  for (const Work& work : works) work(forEver);
  for (const auto& source : leaving_) unlinkAll(*source);
  leaving_.clear();
}

std::shared_ptr<Tap> Collector::openTap(const std::shared_ptr<Source>& source, const TapWants& wants, size_t capacity) {
  auto tap = std::make_shared<Tap>(wants, capacity);
  WaitBudget limit = patience();
  whenFree(limit, [=, this](WaitBudget& budget) {
    source->taps_.push_back(tap);
    onEach(*source, budget, [tap](Agent& agent, TallySlot& slot) { agent.addTap(slot, tap); });
  });
  return tap;
}

void Collector::closeTap(const std::shared_ptr<Source>& source, const std::shared_ptr<Tap>& tap) {
  WaitBudget limit = patience();
  whenFree(limit, [=, this](WaitBudget& budget) {
    std::erase(source->taps_, tap);
    onEach(*source, budget, [tap](Agent& agent, TallySlot& slot) { agent.removeTap(slot, tap); });
  });
}

// mutex_ is held. An agent that the thread holds on to for longer has its turn at the thread's next step.
void Collector::onEach(Source& source, WaitBudget& budget, const std::function<void(Agent&, TallySlot&)>& work) {
  // No structured binding: clang before 16 cannot capture one.
  for (const auto& entry : source.agents_) {
    const auto& seen = entry.second;
    auto lock = seen.agent->lockLater();
    if (lockWithin(lock, budget)) {
      work(*seen.agent, *seen.slot);
      continue;
    }
    const auto later = [seen, work](WaitBudget&) {
      auto free = seen.agent->lockLater();
      free.lock();
      work(*seen.agent, *seen.slot);
    };
    if (!defer(later)) later(budget);
  }
}

uint32_t Collector::addReader(const std::shared_ptr<Source>& source) {
  const uint32_t reader = source->nextReader_++;
  WaitBudget limit = patience();
  whenFree(limit, [source, reader](WaitBudget&) { source->lastRead_.emplace(reader, Clock::time_point{}); });
  return reader;
}

void Collector::removeReader(const std::shared_ptr<Source>& source, uint32_t reader) {
  WaitBudget limit = patience();
  whenFree(limit, [source, reader](WaitBudget&) { source->lastRead_.erase(reader); });
}

}  // namespace nixl_otel
