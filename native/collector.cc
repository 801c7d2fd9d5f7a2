#include "collector.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

namespace nixl_otel {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kScanInterval{50};
constexpr milliseconds kCrowdedInterval{1};
// After so long without an event anywhere the rings are looked at half as often.
constexpr milliseconds kQuiet{1000};
// How long a request waits for rings that have more than was drained by then.
constexpr milliseconds kBehindPatience{250};

std::string canonicalDirectory(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string canonical(resolved);
  std::free(resolved);
  return canonical;
}

// Signals are the host's business: only what this thread itself does wrong may reach it.
void blockSignals() {
  sigset_t set;
  ::sigfillset(&set);
  for (const int mine : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGPROF}) ::sigdelset(&set, mine);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

double toMs(Clock::duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

}  // namespace

Source::Source(SourceOptions options) : options_(std::move(options)), tallyPlan_(planFor(options_.tally)) {
  for (const auto& [directory, pattern] : options_.places) {
    trees_.emplace_back(canonicalDirectory(directory), pattern);
  }
  hadRings_.resize(trees_.size());
}

Collector& Collector::instance() {
  static Collector* const collector = new Collector;
  return *collector;
}

std::shared_ptr<Source> Collector::open(SourceOptions options, std::vector<std::shared_ptr<Tap>> taps) {
  auto source = std::make_shared<Source>(std::move(options));
  source->taps_ = std::move(taps);
  const std::lock_guard lifecycle(lifecycle_);
  std::unique_lock lock(mutex_, std::defer_lock);
  WaitBudget budget = patience();
  if (!lockWithin(lock, budget)) {
    if (defer([this, source](WaitBudget&) { join(source); })) return source;
    lock.lock();
  }
  join(source);
  if (running_) return source;
  try {
    startThread();
  } catch (const std::system_error& problem) {  // no further thread is allowed to this process or user
    std::erase(sources_, source);
    throw std::runtime_error(std::string("the collector's thread cannot be started: ") + problem.what());
  }
  return source;
}

// mutex_ is held.
void Collector::join(const std::shared_ptr<Source>& source) {
  sources_.push_back(source);
  keepShortestInterval();
  scanAll_ = true;
  wake_.notify_all();
}

// lifecycle_ and mutex_ are held.
void Collector::startThread() {
  if (thread_.joinable()) thread_.join();  // it ended after close() had stopped waiting for it
  lastTick_ = {};
  thread_ = std::thread([this] { run(); });
  running_ = true;
  ::pthread_setname_np(thread_.native_handle(), "nixl-otel");
  const std::lock_guard deferring(deferredMutex_);
  deferring_ = true;
}

void Collector::close(const std::shared_ptr<Source>& source) {
  const std::lock_guard lifecycle(lifecycle_);
  WaitBudget budget = patience();
  whenFree(budget, [this, source](WaitBudget&) { leave(source); });
  std::unique_lock lock(mutex_, std::defer_lock);
  if (!lockWithin(lock, budget) || !stopping_) return;
  if (!ticked_.wait_for(lock, budget.left, [&] { return !running_; })) return noteHeldUp(budget);
  std::thread last = std::move(thread_);
  lock.unlock();
  if (last.joinable()) last.join();
}

// mutex_ is held.
void Collector::leave(const std::shared_ptr<Source>& source) {
  if (std::erase(sources_, source) == 0) return;
  keepShortestInterval();
  // The thread takes its agents from it: it may hold on to any of them at the moment.
  if (running_) {
    leaving_.push_back(source);
  } else {
    unlinkAll(*source);
  }
  if (!sources_.empty()) return;
  stopping_ = true;
  wake_.notify_all();
}

// One thread drains for all: as often as the source that wants it most often.
void Collector::keepShortestInterval() {
  const auto shorter = [](const auto& a, const auto& b) {
    return a->options_.drainInterval < b->options_.drainInterval;
  };
  const auto shortest = std::min_element(sources_.begin(), sources_.end(), shorter);
  if (shortest != sources_.end()) stats_.drainInterval = (*shortest)->options_.drainInterval;
}

bool Collector::drainNow(milliseconds limit) {
  WaitBudget left = budget(limit);
  const uint64_t request = ++drainRequests_;
  std::unique_lock lock(mutex_, std::defer_lock);
  if (!lockWithin(lock, left) || !running_) return false;
  wake_.notify_all();
  if (ticked_.wait_for(lock, left.left, [&] { return drainsServed_ >= request || !running_; })) return true;
  noteHeldUp(left);
  return false;
}

uint64_t Collector::requestDrain() {
  const uint64_t request = ++drainRequests_;
  // The thread must not miss it between its look at the requests and its sleep.
  std::unique_lock lock(mutex_, std::defer_lock);
  WaitBudget left = patience();
  lockWithin(lock, left);
  wake_.notify_all();
  return request;
}

void Collector::run() {
  blockSignals();
  std::unique_lock lock(mutex_);
  do {
    serve(lock);
    letGo(lock);
    // A source may have come while the thread was about to end.
    while (sources_.empty() && !stopDeferring()) runDeferred();
    stopping_ = false;
  } while (!sources_.empty());
  running_ = false;
  tickedAt_ = 0;
  ticked_.notify_all();
}

void Collector::serve(std::unique_lock<FairMutex>& lock) {
  while (!stopping_) {
    ++steps_;
    runDeferred();
    const uint64_t serving = drainRequests_;
    if (drainsServed_ < serving && askedAt_ == Clock::time_point{}) askedAt_ = Clock::now();
    lock.unlock();
    const Clock::time_point begun = Clock::now();
    pause_ = tick(begun);
    lock.lock();
    ++steps_;
    if (drainsServed_ < serving &&
        ((behind_.empty() && nextRestless_.empty()) || Clock::now() - askedAt_ >= kBehindPatience)) {
      drainsServed_ = serving;
      askedAt_ = {};
    }
    ticked_.notify_all();
    const auto asked = [&] { return stopping_ || scanAll_ || drainRequests_ > drainsServed_; };
    wake_.wait_until(lock, begun + pause_, asked);
  }
}

// The last source is gone: lets go of every ring, so that another process may drain them.
void Collector::letGo(std::unique_lock<FairMutex>& lock) {
  runDeferred();
  std::map<std::string, std::shared_ptr<Agent>> agents;
  agents.swap(agents_);
  candidates_.clear();
  behind_.clear();
  restless_.clear();
  nextRestless_.clear();
  askedAt_ = {};
  search_ = WriterSearch();
  nextSearch_ = {};
  ticked_.notify_all();
  lock.unlock();
  agents.clear();  // closes files
  lock.lock();
  ++steps_;
  runDeferred();
}

Clock::duration Collector::tick(Clock::time_point now) {
  milliseconds interval{0};
  {
    const std::lock_guard lock(mutex_);
    const bool asked = drainRequests_ > drainsServed_;
    if (lastTick_ != Clock::time_point{}) {
      stats_.lastLagMs = toMs(now - lastTick_);
      stats_.maxLagMs = std::max(stats_.maxLagMs, stats_.lastLagMs);
      stats_.lateTicks +=
          now - lastTick_ > std::max<Clock::duration>(pause_, stats_.drainInterval) + stats_.drainInterval;
    }
    lastTick_ = now;
    tickedAt_ = now.time_since_epoch().count();
    ++stats_.ticks;
    if (asked || scanAll_ || now - lastScan_ >= kScanInterval) scan(now);
    tryCandidates(now, asked);
    interval = stats_.drainInterval;
  }
  guardMappings();
  const bool crowded = drainRings(now + interval);
  watchLives(now);
  return pauseAfter(crowded, now, interval);
}

Clock::duration Collector::pauseAfter(bool crowded, Clock::time_point now, milliseconds interval) const {
  // A ring that was more than half full may not have room for another interval's events.
  if (crowded) return std::min(kCrowdedInterval, interval);
  // Where nothing moved for a while, most of what we cost is waking up. An interval is a fifth of a flush interval at
  // most: two of them are still over before an agent that wakes up flushes a second time.
  if (now - lastMoved_ >= kQuiet) return std::max(interval, std::min(2 * interval, kScanInterval));
  return interval;
}

// mutex_ is held from here on down.

// Makes the agent one of the source's, if its path lies in the source's places and it is not yet. Not by the trees'
// listings: the tree of one source can have seen a file that the other's was read too early for, and what is drained
// meanwhile would be missing there.
void Collector::link(Source& source, const std::shared_ptr<Agent>& agent) {
  if (source.agents_.contains(agent->path())) return;
  for (const DirectoryTree& tree : source.trees_) {
    std::string name;
    if (!tree.covers(agent->path(), name)) continue;
    SourceAgent seen{agent, agent->acquireTally(source.tallyPlan_), toUtf8(name), toUtf8(tree.directory())};
    {
      auto lock = agent->lockLater();
      lock.lock();
      for (const auto& tap : source.taps_) agent->addTap(*seen.slot, tap);
    }
    source.agents_.emplace(agent->path(), std::move(seen));
    source.hadRings_[static_cast<size_t>(&tree - source.trees_.data())] = true;
    return;
  }
}

void Collector::unlinkAll(Source& source) {
  while (!source.agents_.empty()) unlink(source, source.agents_.begin()->first);
}

void Collector::unlink(Source& source, const std::string& path) {
  const auto seen = source.agents_.find(path);
  if (seen == source.agents_.end()) return;
  {
    auto lock = seen->second.agent->lockLater();
    lock.lock();
    for (const auto& tap : source.taps_) seen->second.agent->removeTap(*seen->second.slot, tap);
  }
  seen->second.agent->releaseTally(seen->second.slot);
  source.agents_.erase(seen);
}

}  // namespace nixl_otel
