#include "collector/candidate_list.h"

#include <algorithm>

namespace nixl_otel {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Time of one tick that tries of candidates may take. It suffices for about 200 files.
constexpr microseconds kSlice{2000};
// Slice while a caller waits for new rings. It suffices for several thousand files, and does not count the time to open
// rings: a thousand agents may start together. A longer slice would block the caller, which may be the event loop of a
// service, and all other calls.
constexpr milliseconds kAwaitedSlice{100};

// Number of held candidates that are examined at once, and the interval between two such passes. Each takes about 5 us,
// so that all together take less than 1 % of one core. One consumer usually holds all rings of a directory: any of them
// shows its end.
constexpr size_t kLooks = 32;
constexpr milliseconds kLookInterval{20};
// Time of one tick that opening the rings of an ended consumer may take. It suffices for a thousand rings, whose agents
// go on writing.
constexpr milliseconds kTakeoverSlice{100};

// Interval between two rounds over the candidates that are neither recent nor held. A round looks at each mapped header
// of a parked ring.
constexpr milliseconds kRoundInterval{50};
// Interval between two looks at a parked ring's file. The interval grows with the number of files, so that all looks
// together take at most about 1 % of one core: a look takes 2 us if the header is mapped, otherwise 8 us. Of a ring
// with a mapped header, it only finds agents that restarted and have written no event yet.
constexpr milliseconds kParkedInterval{50};
constexpr microseconds kIntervalPerMapped{2000};
constexpr microseconds kIntervalPerParked{500};
// Parked rings of a list that is longer are not mapped: a process may have about 65,000 mappings, and other users may
// be allowed to add files.
constexpr size_t kMostMapped = 4096;

// Removals of one call. Each takes about 50 us, and a crash loop may have left thousands of rings.
constexpr size_t kMostRemovals = 32;
constexpr std::chrono::minutes kRefusedPause{1};

// Number of entries that are skipped between two readings of the clock.
constexpr size_t kEntriesPerClock = 256;

}  // namespace

void Candidate::waitLonger(Clock::time_point now) {
  if (now < nextTry) return;  // tried early, since a caller waits for new rings
  constexpr milliseconds first{20};
  pause = std::clamp(pause * 2, first, kLongestPause);
  nextTry = now + pause;
}

void CandidateList::insert(Candidate candidate) {
  mayHaveRecent_ = true;
  candidates_.emplace(candidate.path, std::move(candidate));
}

void CandidateList::addReleased(const std::string& path, const FileId& file, const HeaderFields& header,
                                std::optional<Clock::time_point> endedAt, Clock::time_point now) {
  Candidate candidate(path);
  // A ring with events is not parked: the events would wait for the next change of the header.
  if (header.empty()) {
    candidate.parked.emplace(path, file, header, candidates_.size() < kMostMapped);
    candidate.state = RingState::kReady;
    candidate.endedAt = endedAt;
    candidate.nextTry = now + kParkedInterval;
  }
  insert(std::move(candidate));
}

void CandidateList::removeEnded(const std::function<Removal(Candidate&)>& remove) {
  size_t left = kMostRemovals;
  for (auto entry = candidates_.begin(); entry != candidates_.end() && left > 0;) {
    Candidate& candidate = entry->second;
    const bool isEnded = candidate.parked && candidate.endedAt;
    const Removal removal = isEnded ? remove(candidate) : Removal::kNotDue;
    if (removal == Removal::kRefused) *candidate.endedAt += kRefusedPause;
    left -= removal != Removal::kNotDue;
    entry = removal == Removal::kRemoved ? candidates_.erase(entry) : std::next(entry);
  }
}

void CandidateList::retain(const std::set<std::string>& present) {
  std::erase_if(candidates_, [&](const auto& entry) { return !present.contains(entry.first); });
}

const Candidate* CandidateList::find(const std::string& path) const {
  const auto candidate = candidates_.find(path);
  return candidate == candidates_.end() ? nullptr : &candidate->second;
}

void CandidateList::tryDue(Clock::time_point now, bool isAwaited, const TryOpen& tryOpen) {
  const Clock::time_point begin = Clock::now();  // not `now`: the scan since then may have taken longer than a slice
  if (hasFreeRing(now)) takeOver(begin + kTakeoverSlice, tryOpen);
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
  if (now < nextRound_ && !isAwaited) return;
  const auto isOther = [](const Candidate& candidate) { return !candidate.isRecent() && !candidate.heldFile; };
  if (tryInTurn(otherTurns_, now, begin + kSlice, false, isOther, tryOpen)) nextRound_ = now + kRoundInterval;
}

// Tries the due candidates of one kind until `end`, and all of the kind if a caller waits for new rings. False if `end`
// came before the turn of each. While a caller waits, the time that opening a ring takes is added to `end`.
bool CandidateList::tryInTurn(RoundRobin& turns, Clock::time_point now, Clock::time_point end, bool isAwaited,
                              const IsOfKind& isOfKind, const TryOpen& tryOpen) {
  size_t left = candidates_.size();
  turns.visit(candidates_, left, [&](std::pair<const std::string, Candidate>& entry) {
    Candidate& candidate = entry.second;
    const bool due = isOfKind(candidate) && (isAwaited || candidate.isDue(now));
    Clock::time_point before{};
    if ((due || left % kEntriesPerClock == 0) && (before = Clock::now()) >= end) return Turn::kStop;
    --left;
    if (due && !staysParked(candidate, now)) tryOne(candidate, tryOpen);
    if (!candidate.isAttached()) return Turn::kKeep;
    if (isAwaited) end += Clock::now() - before;
    return Turn::kRemove;
  });
  return turns.isComplete();
}

// Calls tryOpen(). A candidate that is busy becomes held, if the reason is another consumer's lock.
void CandidateList::tryOne(Candidate& candidate, const TryOpen& tryOpen) {
  candidate.heldFile.reset();
  tryOpen(candidate);
  mayHaveRecent_ = mayHaveRecent_ || candidate.isRecent();
  if (candidate.state != RingState::kBusy) return;
  const auto file = fileAt(candidate.path);
  if (!file || !isHeld(candidate.path, *file)) return;
  candidate.heldFile = file;
  mayHaveHeld_ = true;
}

// Examines the next few held candidates, if that is due. True if the ring of one of them has no consumer any more.
bool CandidateList::hasFreeRing(Clock::time_point now) {
  if (!mayHaveHeld_ || now < nextLook_) return false;
  nextLook_ = now + kLookInterval;
  size_t looks = kLooks;
  bool found = false;
  bool isFree = false;
  heldTurns_.visit(candidates_, candidates_.size(), [&](std::pair<const std::string, Candidate>& entry) {
    const Candidate& candidate = entry.second;
    if (!candidate.heldFile) return Turn::kKeep;
    found = true;
    if (looks-- == 0) return Turn::kStop;
    isFree = !isHeld(candidate.path, *candidate.heldFile);
    return isFree ? Turn::kStop : Turn::kKeep;
  });
  mayHaveHeld_ = found;
  return isFree;
}

// Tries the held candidates whose rings are free, until `end`.
void CandidateList::takeOver(Clock::time_point end, const TryOpen& tryOpen) {
  heldTurns_.visit(candidates_, candidates_.size(), [&](std::pair<const std::string, Candidate>& entry) {
    Candidate& candidate = entry.second;
    if (!candidate.heldFile || isHeld(candidate.path, *candidate.heldFile)) return Turn::kKeep;
    if (Clock::now() >= end) return Turn::kStop;
    tryOne(candidate, tryOpen);
    return candidate.isAttached() ? Turn::kRemove : Turn::kKeep;
  });
}

bool CandidateList::staysParked(Candidate& candidate, Clock::time_point now) {
  if (!candidate.parked) return false;
  if (!candidate.parked->hasChanged()) {
    const microseconds share = candidate.parked->isMapped() ? kIntervalPerMapped : kIntervalPerParked;
    candidate.nextTry = now + std::max<Clock::duration>(kParkedInterval, candidates_.size() * share);
    return true;
  }
  candidate.parked.reset();
  mayHaveRecent_ = true;
  return false;
}

}  // namespace nixl_otel
