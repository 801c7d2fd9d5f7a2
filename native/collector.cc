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
}

Collector& Collector::instance() {
  static Collector* const collector = new Collector;
  return *collector;
}

std::shared_ptr<Source> Collector::open(SourceOptions options, std::vector<std::shared_ptr<Tap>> taps) {
  auto source = std::make_shared<Source>(std::move(options));
  source->taps_ = std::move(taps);
  const std::lock_guard lifecycle(lifecycle_);
  const std::lock_guard lock(mutex_);
  sources_.push_back(source);
  keepShortestInterval();
  scanAll_ = true;
  if (!thread_.joinable()) {
    stopping_ = false;
    lastTick_ = {};
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& problem) {  // no further thread is allowed to this process or user
      std::erase(sources_, source);
      throw std::runtime_error(std::string("the collector's thread cannot be started: ") + problem.what());
    }
    ::pthread_setname_np(thread_.native_handle(), "nixl-otel");
  }
  wake_.notify_all();
  return source;
}

void Collector::close(const std::shared_ptr<Source>& source) {
  const std::lock_guard lifecycle(lifecycle_);
  std::thread last;
  {
    const std::lock_guard lock(mutex_);
    if (std::erase(sources_, source) == 0) return;
    while (!source->agents_.empty()) unlink(*source, source->agents_.begin()->first);
    keepShortestInterval();
    if (sources_.empty()) {
      stopping_ = true;
      last = std::move(thread_);
      wake_.notify_all();
    }
  }
  if (last.joinable()) last.join();
}

// One thread drains for all: as often as the source that wants it most often.
void Collector::keepShortestInterval() {
  const auto shorter = [](const auto& a, const auto& b) {
    return a->options_.drainInterval < b->options_.drainInterval;
  };
  const auto shortest = std::min_element(sources_.begin(), sources_.end(), shorter);
  if (shortest != sources_.end()) stats_.drainInterval = (*shortest)->options_.drainInterval;
}

std::shared_ptr<Tap> Collector::openTap(const std::shared_ptr<Source>& source, const TapWants& wants, size_t capacity) {
  auto tap = std::make_shared<Tap>(wants, capacity);
  const std::lock_guard lock(mutex_);
  source->taps_.push_back(tap);
  for (auto& [path, seen] : source->agents_) seen.agent->addTap(*seen.slot, tap);
  return tap;
}

void Collector::closeTap(const std::shared_ptr<Source>& source, const std::shared_ptr<Tap>& tap) {
  const std::lock_guard lock(mutex_);
  std::erase(source->taps_, tap);
  for (auto& [path, seen] : source->agents_) seen.agent->removeTap(*seen.slot, tap);
}

bool Collector::drainNow(milliseconds limit) {
  std::unique_lock lock(mutex_);
  if (!thread_.joinable()) return false;
  const uint64_t request = ++drainRequests_;
  wake_.notify_all();
  return ticked_.wait_for(lock, limit, [&] { return drainsServed_ >= request || stopping_; });
}

uint32_t Collector::addReader(const std::shared_ptr<Source>& source) {
  const std::lock_guard lock(mutex_);
  source->lastRead_.emplace(source->nextReader_, Clock::time_point{});
  return source->nextReader_++;
}

void Collector::removeReader(const std::shared_ptr<Source>& source, uint32_t reader) {
  const std::lock_guard lock(mutex_);
  source->lastRead_.erase(reader);
}

void Collector::snapshot(Source& source, uint32_t reader, const Visit& visit) {
  std::vector<SourceAgent> agents;
  {
    const std::lock_guard lock(mutex_);
    source.lastRead_[reader] = Clock::now();
    agents.reserve(source.agents_.size());
    for (const auto& [path, seen] : source.agents_) agents.push_back(seen);
  }
  for (const SourceAgent& seen : agents) {
    seen.agent->read(*seen.slot, [&](const AgentStatus& status, const Tally& tally) { visit(seen, status, tally); });
  }
}

size_t Collector::problems(const Source& source, size_t most, std::vector<RingProblem>& out) {
  const std::lock_guard lock(mutex_);
  size_t count = 0;
  const auto report = [&](const std::string& path, RingState state, const std::string& reason) {
    if (count++ < most) out.push_back({path, state, reason});
  };
  for (const DirectoryTree& tree : source.trees_) {
    for (const auto& [path, reason] : tree.problems()) report(path, RingState::kDenied, reason);
    for (const FoundFile& file : tree.files()) {
      if (file.problem != nullptr) {
        report(file.path, RingState::kCorrupt, std::string("not a regular file but ") + file.problem);
        continue;
      }
      const auto agent = agents_.find(file.path);
      if (agent != agents_.end()) {
        std::string reason;
        const RingState state = agent->second->trouble(reason);
        if (state != RingState::kReady) report(file.path, state, reason);
      }
      const auto candidate = candidates_.find(file.path);
      if (candidate == candidates_.end() || candidate->second.parked || candidate->second.reason.empty()) continue;
      report(file.path, candidate->second.state, candidate->second.reason);
    }
  }
  return count;
}

std::vector<std::string> Collector::openDirectories(const Source& source) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> found;
  if (source.options_.owners) return found;
  for (const DirectoryTree& tree : source.trees_) {
    if (tree.writableByAll()) found.push_back(tree.directory());
  }
  return found;
}

CollectorStats Collector::stats() {
  const std::lock_guard lock(mutex_);
  stats_.sinceTickMs = lastTick_ == Clock::time_point{} ? 0 : toMs(Clock::now() - lastTick_);
  return stats_;
}

void Collector::run() {
  blockSignals();
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const uint64_t serving = drainRequests_;
    if (drainsServed_ < serving && askedAt_ == Clock::time_point{}) askedAt_ = Clock::now();
    lock.unlock();
    const Clock::time_point begun = Clock::now();
    pause_ = tick(begun);
    lock.lock();
    if (drainsServed_ < serving &&
        ((behind_.empty() && nextRestless_.empty()) || Clock::now() - askedAt_ >= kBehindPatience)) {
      drainsServed_ = serving;
      askedAt_ = {};
    }
    ticked_.notify_all();
    wake_.wait_until(lock, begun + pause_, [&] { return stopping_ || scanAll_ || drainRequests_ > drainsServed_; });
  }
  // The last source is gone: let go of every ring, so that another process may drain them.
  agents_.clear();
  candidates_.clear();
  behind_.clear();
  restless_.clear();
  nextRestless_.clear();
  askedAt_ = {};
  search_ = WriterSearch();
  nextSearch_ = {};
  ticked_.notify_all();
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
    for (const auto& tap : source.taps_) agent->addTap(*seen.slot, tap);
    source.agents_.emplace(agent->path(), std::move(seen));
    return;
  }
}

void Collector::unlink(Source& source, const std::string& path) {
  const auto seen = source.agents_.find(path);
  if (seen == source.agents_.end()) return;
  for (const auto& tap : source.taps_) seen->second.agent->removeTap(*seen->second.slot, tap);
  seen->second.agent->releaseTally(seen->second.slot);
  source.agents_.erase(seen);
}

}  // namespace nixl_otel
