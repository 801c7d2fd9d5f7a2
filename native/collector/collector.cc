#include "collector/collector.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace nixl_otel {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kScanInterval{50};
// Pause while no ring is attached and no file may soon be one, in drain intervals and at most. A drain interval is at
// most a fifth of a flush interval, so a new agent flushes for the second time after ten drain intervals. Its ring has
// room for the first flush.
constexpr int kEmptyPauses = 4;
constexpr milliseconds kLongestEmptyPause{80};
// Longest pause while all attached rings are idle.
constexpr milliseconds kLongestIdlePause{60};
// Longest time for which a request waits for rings with a backlog.
constexpr milliseconds kLongestBacklogWait{250};

// Leaves signals to the host's threads, except those that this thread itself may cause.
void blockSignals() {
  sigset_t set;
  ::sigfillset(&set);
  for (const int own : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGPROF}) ::sigdelset(&set, own);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace

Collector& Collector::instance() {
  static Collector* const collector = new Collector;
  return *collector;
}

std::shared_ptr<Source> Collector::open(SourceOptions options, std::vector<std::shared_ptr<EventTap>> taps) {
  auto source = std::make_shared<Source>(std::move(options), std::move(taps));
  const MutexLock lifecycle(lifecycle_);
  FairLock lock(collectorMutex, std::defer_lock);
  WaitBudget budget = callBudget();
  if (!lock.lockWithin(budget)) {
    if (deferred_.add([this, source](WaitBudget&) REQUIRES(collectorMutex) { addSource(source); })) return source;
    lock.lock();
  }
  addSource(source);
  if (running_) return source;
  try {
    startThread();
  } catch (const std::system_error& problem) {  // the process or its user has no thread left
    std::erase(sources_, source);
    throw std::runtime_error(std::string("the collector's thread cannot be started: ") + problem.what());
  }
  return source;
}

void Collector::addSource(const std::shared_ptr<Source>& source) {
  sources_.push_back(source);
  // The thread may be about to end. It must not release the rings that it finds for this source before it ends.
  stopping_ = false;
  updateInterval();
  scanAll_ = true;
  lastOrphans_ = {};
  wakeThread();
}

void Collector::wakeThread() {
  wake_.notify_all();
  directories_.wake();
}

void Collector::startThread() {
  if (thread_.joinable()) thread_.join();  // the previous thread, which ended after close() had timed out
  lastTick_ = {};
  thread_ = std::thread([this] { run(); });
  running_ = true;
  ::pthread_setname_np(thread_.native_handle(), "nixl-otel");
  deferred_.open();
}

void Collector::close(const std::shared_ptr<Source>& source) {
  const MutexLock lifecycle(lifecycle_);
  WaitBudget budget = makeOrDefer([this, source](WaitBudget&) REQUIRES(collectorMutex) { removeSource(source); });
  FairLock lock(collectorMutex, std::defer_lock);
  if (!lock.lockWithin(budget) || !stopping_) return;
  const auto ended = [this]() REQUIRES(collectorMutex) { return !running_; };
  if (!ticked_.wait_for(collectorMutex, budget.left, ended)) return budget.noteTimeout();
  std::thread last = std::move(thread_);
  lock.unlock();
  if (last.joinable()) last.join();
}

void Collector::removeSource(const std::shared_ptr<Source>& source) {
  if (std::erase(sources_, source) == 0) return;
  updateInterval();
  // The thread unlinks the agents itself: it may hold the lock of any of them now.
  if (running_) {
    leaving_.push_back(source);
  } else {
    source->unlinkAll();
  }
  if (!sources_.empty()) return;
  stopping_ = true;
  wakeThread();
}

// Sets the interval to the shortest of all sources: one thread drains for all of them.
void Collector::updateInterval() {
  const auto shorter = [](const auto& a, const auto& b) {
    return a->options().drainInterval < b->options().drainInterval;
  };
  const auto shortest = std::min_element(sources_.begin(), sources_.end(), shorter);
  if (shortest != sources_.end()) stats_.drainInterval = (*shortest)->options().drainInterval;
}

bool Collector::isHeld() const {
  return std::all_of(sources_.begin(), sources_.end(),
                     [](const auto& source) REQUIRES(collectorMutex) { return source->isHeld(); });
}

void Collector::run() {
  blockSignals();
  collectorThread.enter();
  const FairLock lock(collectorMutex);
  do {
    serve();
    releaseAll();
    // A source may have been opened while the thread was about to end.
    while (sources_.empty() && !deferred_.close()) makeDeferredCalls();
  } while (!sources_.empty());
  running_ = false;
  tickedAt_ = 0;
  ticked_.notify_all();
  collectorThread.leave();
}

void Collector::serve() {
  while (!stopping_) {
    progress_.advance();
    makeDeferredCalls();
    const uint64_t serving = drainRequests_;
    if (drainsServed_ < serving && requestedAt_ == Clock::time_point{}) requestedAt_ = Clock::now();
    collectorMutex.unlock();
    const Clock::time_point begin = Clock::now();
    pause_ = tick(begin);
    collectorMutex.lock();
    progress_.advance();
    const bool isOver = isHeld() || drains_.isComplete() || Clock::now() - requestedAt_ >= kLongestBacklogWait;
    if (drainsServed_ < serving && isOver) {
      drainsServed_ = serving;
      requestedAt_ = {};
    }
    ticked_.notify_all();
    waitForTick(begin + pause_);
  }
}

void Collector::waitForTick(Clock::time_point next) {
  const auto requested = [this]() REQUIRES(collectorMutex) {
    return stopping_ || scanAll_ || drainRequests_ > drainsServed_ || !deferred_.isEmpty();
  };
  if (!isWatching_) {
    wake_.wait_until(collectorMutex, next, requested);
  } else if (!requested()) {
    collectorMutex.unlock();
    directories_.wait(next);
    collectorMutex.lock();
  }
}

// Releases every ring, so that another process may drain it.
void Collector::releaseAll() {
  makeDeferredCalls();
  AgentMap agents;
  agents.swap(agents_);
  candidates_.clear();
  drains_.clear();
  lives_.clear();
  filler_.clear();
  space_.clear();
  directories_.close();
  requestedAt_ = {};
  ticked_.notify_all();
  collectorMutex.unlock();
  agents.clear();  // closes files
  collectorMutex.lock();
  progress_.advance();
  makeDeferredCalls();
}

Clock::duration Collector::tick(Clock::time_point now) {
  milliseconds interval{0};
  bool mayHaveEvents = false;
  const bool wasWatching = std::exchange(isWatching_, false);
  guardMappings();
  {
    const FairLock lock(collectorMutex);
    const bool requested = drainRequests_ > drainsServed_;
    noteTick(now, wasWatching);
    if (isHeld()) return stats_.drainInterval;
    if (std::exchange(drainAll_, false) || requested) drains_.endRest();
    if (requested || scanAll_ || wasWatching || now - lastScan_ >= kScanInterval) {
      scan(now);
      isWatching_ = watchIfEmpty();
    }
    tryCandidates(now, requested);
    interval = stats_.drainInterval;
    mayHaveEvents = !agents_.empty() || candidates_.mayOpenSoon();
  }
  drains_.drain(ownAgents(), now + interval);
  if (lives_.watch(ownAgents(), now)) {
    {
      const FairLock lock(collectorMutex);
      dropExpired(now);
      removeEnded(now);
    }
    filler_.fill(ownAgents(), [this](const std::string& path) EXCLUDES(collectorMutex) {
      const FairLock lock(collectorMutex);
      return isWanted(&SourceOptions::fill, path);
    });
  }
  if (isWatching_) return std::max(interval, DirectoryWatch::longestPause.load());
  if (!mayHaveEvents) return std::max({interval, kScanInterval, std::min(kEmptyPauses * interval, kLongestEmptyPause)});
  return drains_.pauseAfter(now, interval, kLongestIdlePause);
}

void Collector::noteTick(Clock::time_point now, bool wasWatching) {
  if (lastTick_ != Clock::time_point{}) {
    const Clock::duration lag = now - lastTick_;
    const bool isLate = lag > std::max<Clock::duration>(pause_, stats_.drainInterval) + stats_.drainInterval;
    if (!wasWatching || isLate) stats_.maxLagMs = std::max(stats_.maxLagMs, toMs(lag));
    stats_.lateTicks += isLate;
  }
  lastTick_ = now;
  tickedAt_ = now.time_since_epoch().count();
  ++stats_.ticks;
}

}  // namespace nixl_otel
