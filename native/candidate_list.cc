#include "candidate_list.h"

#include <algorithm>
#include <utility>

namespace nixl_otel {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Time that candidates may take out of one tick: some 200 files.
constexpr microseconds kSlice{2000};
// The same while a caller waits for new rings: several thousand files. Opening rings is not counted: a thousand may
// start together. The caller may be the event loop of a service, and other calls wait meanwhile, too.
constexpr milliseconds kAwaitedSlice{100};

// Interval at which a parked file is peeked. One peek takes some 5 us. With more files the interval grows, so that all
// peeks together take about 1 % of one core at most.
constexpr milliseconds kParkedInterval{50};
constexpr microseconds kIntervalPerParked{500};

// Number of entries to pass over between two readings of the clock.
constexpr size_t kEntriesPerClock = 256;

}  // namespace

bool Candidate::hasChanged() const {
  const HeaderFields now = peekHeader(path, parkedFile);
  const HeaderFields& then = parkedHeader;
  return now.state != RingState::kReady || now.version != then.version || now.expectedVersion != then.expectedVersion ||
         now.writePos != then.writePos || now.readPos != then.readPos || now.capacity != then.capacity ||
         now.fileSize != then.fileSize || now.changed.tv_sec != then.changed.tv_sec ||
         now.changed.tv_nsec != then.changed.tv_nsec;
}

void Candidate::waitLonger(Clock::time_point now) {
  constexpr milliseconds first{20};
  pause = std::clamp(pause * 2, first, kLongestPause);
  nextTry = now + pause;
}

void CandidateList::insert(Candidate candidate) {
  mayHaveRecent_ = true;
  candidates_.emplace(candidate.path, std::move(candidate));
}

void CandidateList::add(const std::string& path) {
  Candidate candidate;
  candidate.path = path;
  insert(std::move(candidate));
}

void CandidateList::addReleased(const std::string& path, const FileId& file, const HeaderFields& header,
                                Clock::time_point now) {
  Candidate candidate;
  candidate.path = path;
  candidate.parkedFile = file;
  candidate.parkedHeader = header;
  // Events that came after the last drain would otherwise wait for the next change of the header.
  candidate.parked = header.empty();
  if (candidate.parked) {
    candidate.state = RingState::kReady;
    candidate.nextTry = now + kParkedInterval;
  }
  insert(std::move(candidate));
}

void CandidateList::retain(const std::set<std::string>& present) {
  std::erase_if(candidates_, [&](const auto& entry) { return !present.contains(entry.first); });
}

const Candidate* CandidateList::find(const std::string& path) const {
  const auto candidate = candidates_.find(path);
  return candidate == candidates_.end() ? nullptr : &candidate->second;
}

void CandidateList::tryDue(Clock::time_point now, bool isAwaited, const TryOpen& tryOpen) {
  const Clock::time_point begin = Clock::now();  // not `now`: the scan between may have taken longer than a slice
  if (mayHaveRecent_) {
    bool found = false;
    const auto isRecent = [&](const Candidate& candidate) {
      found |= candidate.isRecent();
      return candidate.isRecent();
    };
    const Clock::time_point end = begin + (isAwaited ? kAwaitedSlice : kSlice / 2);
    const bool complete = tryInTurn(recentTurns_, now, end, isAwaited, isRecent, tryOpen);
    mayHaveRecent_ = found || !complete;
  }
  const auto isOther = [](const Candidate& candidate) { return !candidate.isRecent(); };
  tryInTurn(otherTurns_, now, begin + kSlice, false, isOther, tryOpen);
}

// Tries the due candidates of one kind. False if the slice ended before all had their turn. `openingIsFree`: opening a
// ring extends the slice.
bool CandidateList::tryInTurn(RoundRobin& turns, Clock::time_point now, Clock::time_point end, bool openingIsFree,
                              const IsOfKind& isOfKind, const TryOpen& tryOpen) {
  size_t left = candidates_.size();
  turns.visit(candidates_, left, [&](std::pair<const std::string, Candidate>& entry) {
    Candidate& candidate = entry.second;
    const bool due = isOfKind(candidate) && candidate.nextTry <= now;
    Clock::time_point before{};
    if ((due || left % kEntriesPerClock == 0) && (before = Clock::now()) >= end) return Turn::kStop;
    --left;
    if (due && !staysParked(candidate, now)) tryOpen(candidate);
    if (!candidate.isAttached()) return Turn::kKeep;
    if (openingIsFree) end += Clock::now() - before;
    return Turn::kRemove;
  });
  return turns.isComplete();
}

bool CandidateList::staysParked(Candidate& candidate, Clock::time_point now) {
  if (!candidate.parked) return false;
  if (!candidate.hasChanged()) {
    candidate.nextTry = now + std::max<Clock::duration>(kParkedInterval, candidates_.size() * kIntervalPerParked);
    return true;
  }
  candidate.parked = false;
  mayHaveRecent_ = true;
  return false;
}

}  // namespace nixl_otel
