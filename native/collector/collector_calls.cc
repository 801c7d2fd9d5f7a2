// Calls of other threads that need the collector's locks. The collector's thread holds these locks while it reads
// files, and a file system may hold it up for any time. Therefore each call has a time limit. If a call times out, the
// thread makes it at its next step.

#include "collector/collector.h"

namespace nixl_otel {

// Returns what is left of the call's budget. Calls keep their order, for example the opening and the closing of a
// source: while earlier calls are deferred, this one is deferred as well.
WaitBudget Collector::makeOrDefer(const Call& call) {
  WaitBudget budget = callBudget();
  FairLock lock(collectorMutex, std::defer_lock);
  if (lock.lockWithin(budget)) {
    if (deferred_.isEmpty() || !deferred_.add(call)) call(budget);
  } else if (!deferred_.add(call)) {
    lock.lock();
    call(budget);
  }
  return budget;
}

void Collector::makeDeferredCalls() {
  WaitBudget forEver;
  for (const Call& call : deferred_.take()) call(forEver);
  for (const auto& source : leaving_) source->unlinkAll();
  leaving_.clear();
}

bool Collector::drainNow(std::chrono::milliseconds limit) {
  WaitBudget budget = progress_.budget(limit);
  const uint64_t request = ++drainRequests_;
  FairLock lock(collectorMutex, std::defer_lock);
  if (!lock.lockWithin(budget) || !running_) return false;
  wakeThread();
  const auto served = [this, request]() REQUIRES(collectorMutex) { return isServed(request) || !running_; };
  if (ticked_.wait_for(collectorMutex, budget.left, served)) return true;
  budget.noteTimeout();
  return false;
}

uint64_t Collector::requestDrain() {
  const uint64_t request = ++drainRequests_;
  // Takes the lock, because the thread must not miss the notification between its check for requests and its wait.
  FairLock lock(collectorMutex, std::defer_lock);
  WaitBudget budget = callBudget();
  if (lock.lockWithin(budget))
    wakeThread();  // otherwise the thread is held up, and checks for requests before it waits
  return request;
}

uint64_t Collector::hold(const std::shared_ptr<Source>& source) {
  makeOrDefer([source](WaitBudget&) REQUIRES(collectorMutex) { source->hold(); });
  return requestDrain();
}

std::shared_ptr<EventTap> Collector::openTap(const std::shared_ptr<Source>& source, const TapWants& wants,
                                             size_t capacity) {
  auto tap = std::make_shared<EventTap>(wants, capacity);
  makeOrDefer([=, this](WaitBudget& budget) REQUIRES(collectorMutex) {
    source->addTap(tap);
    changeAgents(*source, budget, [tap](TallySlot& slot, AgentState*) { slot.taps.push_back(tap); });
  });
  return tap;
}

void Collector::closeTap(const std::shared_ptr<Source>& source, const std::shared_ptr<EventTap>& tap) {
  makeOrDefer([=, this](WaitBudget& budget) REQUIRES(collectorMutex) {
    source->removeTap(tap);
    changeAgents(*source, budget, [tap](TallySlot& slot, AgentState*) { std::erase(slot.taps, tap); });
  });
}

// Changes an agent. If the collector's thread holds the agent's lock for longer than the budget, it makes the change at
// its next step.
void Collector::changeAgent(const SourceAgent& seen, WaitBudget& budget, const Agent::Change& change) {
  if (seen.agent->change(*seen.slot, change, budget)) return;
  const Call later = [seen, change](WaitBudget& left) { seen.agent->change(*seen.slot, change, left); };
  WaitBudget forEver;
  if (!deferred_.add(later)) later(forEver);
}

void Collector::changeAgents(const Source& source, WaitBudget& budget, const Agent::Change& change) {
  for (const auto& [path, seen] : source.agents()) changeAgent(seen, budget, change);
}

void Collector::keepAttributes(const std::shared_ptr<Source>& source, uint64_t tally, const std::string& text) {
  makeOrDefer([=, this](WaitBudget& budget) REQUIRES(collectorMutex) {
    const SourceAgent* seen = source->find(tally);
    if (seen == nullptr) return;
    drainAll_ = true;
    changeAgent(*seen, budget, [text](TallySlot&, AgentState* state) {
      if (state != nullptr) state->set(&AgentRecord::attributes, text);
    });
  });
}

std::shared_ptr<const RecoveredCounts> Collector::recoveredCounts(const Source& source, uint64_t tally,
                                                                  WaitBudget& budget) {
  FairLock lock(collectorMutex, std::defer_lock);
  if (!lock.lockWithin(budget)) return nullptr;
  const SourceAgent* seen = source.find(tally);
  return seen == nullptr ? nullptr : seen->slot->recovered;
}

uint32_t Collector::addReader(const std::shared_ptr<Source>& source) {
  const uint32_t reader = source->newReader();
  makeOrDefer([source, reader](WaitBudget&) REQUIRES(collectorMutex) { source->addReader(reader); });
  return reader;
}

void Collector::removeReader(const std::shared_ptr<Source>& source, uint32_t reader) {
  makeOrDefer([source, reader](WaitBudget&) REQUIRES(collectorMutex) { source->removeReader(reader); });
}

}  // namespace nixl_otel
