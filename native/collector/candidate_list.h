// Files that may be or become rings, and the times at which to try them.

#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "collector/collector_locks.h"
#include "collector/round_robin.h"
#include "ring/parked_ring.h"
#include "ring/ring_file.h"

namespace nixl_otel {

struct Candidate {
  static constexpr std::chrono::milliseconds kLongestPause{1000};

  explicit Candidate(std::string at) : path(std::move(at)) {}

  std::string path;
  RingState state = RingState::kInitializing;
  std::string reason;
  Clock::time_point nextTry{};
  std::chrono::milliseconds pause{0};
  Clock::time_point stateLockedAt{};  // when the state file was first found not to be had yet

  std::optional<ParkedRing> parked;
  // When the agent of a parked ring ended, if its process was seen to.
  std::optional<Clock::time_point> endedAt;

  // The file whose lock another consumer holds. A held candidate waits for the end of that consumer.
  std::optional<FileId> heldFile;

  // True for the first few tries, during which an agent may still write the header of a new ring.
  bool isRecent() const { return pause < kLongestPause && !parked && !heldFile; }
  bool isAttached() const { return state == RingState::kReady && !parked; }
  bool isDue(Clock::time_point now) const { return nextTry <= now || (parked && parked->hasNewHeader()); }
  // Schedules the next try after a longer pause. At first an agent may be starting; later the file is probably no ring.
  void waitLonger(Clock::time_point now);
};

// Result of an attempt to remove the ring of an ended agent.
enum class Removal : uint8_t { kNotDue, kRemoved, kRefused };

// Invariants: each path is in the list once, and isAttached() is false for each candidate.
class CandidateList {
 public:
  // Opens the candidate's ring, or sets its state, reason and next try.
  using TryOpen = std::function<void(Candidate&)>;

  void add(const std::string& path) { insert(Candidate(path)); }
  // Adds the file of a released ring: parked if the ring is empty, otherwise due at once.
  void addReleased(const std::string& path, const FileId& file, const HeaderFields& header,
                   std::optional<Clock::time_point> endedAt, Clock::time_point now);
  // Calls remove(candidate) for the parked rings whose agents have ended, a limited number of them. A ring that
  // could not be removed waits for a minute.
  void removeEnded(const std::function<Removal(Candidate&)>& remove);
  // Removes all other paths.
  void retain(const std::set<std::string>& present);
  void clear() { candidates_.clear(); }

  bool contains(const std::string& path) const { return candidates_.contains(path); }
  bool isEmpty() const { return candidates_.empty(); }
  // False if no candidate is recent or held: a round over the others is due later than a tick.
  bool mayOpenSoon() const { return mayHaveRecent_ || mayHaveHeld_; }
  const Candidate* find(const std::string& path) const;

  // Tries due candidates for one slice of time: ten thousand files that are no rings must not delay the rings. Recent
  // candidates come first and leave half of the slice to the others. `isAwaited`: a caller waits for new rings: recent
  // candidates are all due, and their slice is longer. If the consumer of held candidates has ended, tries all of these
  // as well.
  //
  // Requires: guardMappings() was called in this tick.
  void tryDue(Clock::time_point now, bool isAwaited, const TryOpen& tryOpen) REQUIRES(collectorThread);

 private:
  using IsOfKind = std::function<bool(const Candidate&)>;
  bool tryInTurn(RoundRobin& turns, Clock::time_point now, Clock::time_point end, bool isAwaited,
                 const IsOfKind& isOfKind, const TryOpen& tryOpen);
  bool hasFreeRing(Clock::time_point now);
  void takeOver(Clock::time_point end, const TryOpen& tryOpen);
  void tryOne(Candidate& candidate, const TryOpen& tryOpen);
  bool staysParked(Candidate& candidate, Clock::time_point now);
  void insert(Candidate candidate);

  std::map<std::string, Candidate> candidates_;  // by path
  bool mayHaveRecent_ = false;
  bool mayHaveHeld_ = false;
  Clock::time_point nextLook_{};
  Clock::time_point nextRound_{};  // of the candidates that are neither recent nor held
  RoundRobin recentTurns_;
  RoundRobin otherTurns_;
  RoundRobin heldTurns_;
};

}  // namespace nixl_otel
