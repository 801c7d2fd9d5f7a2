// The collector's agents: who is looked for, who is still alive, and who is forgotten.

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "collector.h"

namespace nixl_otel {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLifeCheckInterval{500};
// How often the mappings of processes are read.
constexpr milliseconds kThoroughCheckInterval{5000};
// What looking for writers in /proc may take out of one tick.
constexpr auto kSearchSlice = std::chrono::milliseconds(1);
constexpr milliseconds kLastSearchPause{60'000};
// A file this young may belong to an agent that is just starting: it is attached even while it is empty.
constexpr double kYoungMs = 10'000;

bool isYoung(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return false;
  const double changedMs =
      static_cast<double>(info.st_ctim.tv_sec) * 1e3 + static_cast<double>(info.st_ctim.tv_nsec) / 1e6;
  return wallClockMs() - changedMs < kYoungMs;
}

}  // namespace

// mutex_ is not held: looking into /proc takes time, and only this thread changes agents_.
void Collector::watchLives(Clock::time_point now) {
  if (!search_.running() && now >= nextSearch_) {
    std::set<FileId> wanted;
    for (const auto& [path, agent] : agents_) {
      if (agent->wantsWriter()) wanted.insert(agent->file());
    }
    nextSearch_ = now + kFirstSearchPause;
    searchAgain_ = false;
    if (!wanted.empty()) search_.begin(std::move(wanted));
  }
  if (search_.running() && search_.step(Clock::now() + kSearchSlice)) {
    for (const auto& [path, agent] : agents_) agent->searched(search_.found());
    searchPause_ = std::min(searchPause_ * 2, kLastSearchPause);
    // A process may live for less than a pause: whoever came while this search ran is looked for at once.
    nextSearch_ = searchAgain_ ? now : now + searchPause_;
  }
  if (now - lastLifeCheck_ < kLifeCheckInterval) return;
  lastLifeCheck_ = now;
  const bool thoroughly = now - lastThoroughCheck_ >= kThoroughCheckInterval;
  if (thoroughly) lastThoroughCheck_ = now;
  ProcessLooks looks;
  for (const auto& [path, agent] : agents_) agent->checkLife(now, looks, thoroughly);
  const std::lock_guard lock(mutex_);
  forgetExpired(now);
}

// mutex_ is held from here on down.

// When the slowest reader of all the agent's sources last read; readers without a number count where no other is.
Clock::time_point Collector::toldUntil(const std::string& path) const {
  auto until = Clock::time_point::max();
  for (const auto& source : sources_) {
    if (!source->agents_.contains(path)) continue;
    const auto& lastRead = source->lastRead_;
    auto sourceUntil = Clock::time_point::max();
    for (const auto& [reader, time] : lastRead) {
      if (reader != 0) sourceUntil = std::min(sourceUntil, time);
    }
    if (sourceUntil == Clock::time_point::max())
      sourceUntil = lastRead.contains(0) ? lastRead.at(0) : Clock::time_point{};
    until = std::min(until, sourceUntil);
  }
  return until;
}

// Parks the rings of agents that are done with, so that their descriptors are free and their series end.
void Collector::forgetExpired(Clock::time_point now) {
  for (auto entry = agents_.begin(); entry != agents_.end();) {
    const std::string path = entry->first;
    const std::shared_ptr<Agent> agent = entry->second;
    // It stays for as long as the most patient of its own sources wants it to.
    milliseconds deadTtl{0};
    milliseconds idleTtl{0};
    bool isIdleKept = false;
    for (const auto& source : sources_) {
      if (!source->agents_.contains(path)) continue;
      deadTtl = std::max(deadTtl, source->options_.deadTtl);
      idleTtl = std::max(idleTtl, source->options_.idleTtl);
      isIdleKept |= source->options_.idleTtl.count() == 0;
    }
    if (isIdleKept) idleTtl = milliseconds{0};
    const bool neverUsed = agent->neverUsed() && !isYoung(path);
    const bool orphaned = std::none_of(sources_.begin(), sources_.end(),
                                       [&](const auto& source) { return source->agents_.contains(path); });
    if (!neverUsed && !orphaned && !agent->expired(now, deadTtl, idleTtl, toldUntil(path))) {
      ++entry;
      continue;
    }
    Candidate candidate;
    candidate.path = path;
    candidate.parkedFile = agent->file();
    candidate.parkedHeader = agent->release();
    // What came after the last drain, be it from an agent that is back, would wait for the next change of the header:
    // then it is a file like any other, and opened again at once.
    candidate.parked = candidate.parkedHeader.empty();
    if (candidate.parked) {
      candidate.state = RingState::kReady;
      candidate.nextLook = now + kParkedLook;
    }
    for (const auto& source : sources_) unlink(*source, path);
    entry = agents_.erase(entry);
    struct stat info;
    if (orphaned || ::lstat(path.c_str(), &info) != 0) continue;
    addCandidate(std::move(candidate));
  }
}

}  // namespace nixl_otel
