// Files that may be or become rings, and the times at which to try them.

#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "collector_locks.h"
#include "ring_file.h"
#include "round_robin.h"

namespace nixl_otel {

struct Candidate {
  static constexpr std::chrono::milliseconds kLongestPause{1000};

  std::string path;
  RingState state = RingState::kInitializing;
  std::string reason;
  Clock::time_point nextTry{};
  std::chrono::milliseconds pause{0};

  // A parked file is a ring that was released empty: its agent is dead, or no process was ever seen to write it. It
  // holds no descriptor and is opened again only when its header or its ctime has changed. If each agent has a new UUID
  // as its name, most files are parked in the end.
  bool parked = false;
  FileId parkedFile;
  HeaderFields parkedHeader;

  // Tried at most a few times, because an agent may be writing the header of a new ring.
  bool isRecent() const { return pause < kLongestPause && !parked; }
  bool isAttached() const { return state == RingState::kReady && !parked; }
  // True if a parked ring changed. Its ctime alone does not show it: stores into a mapping need not change that, and an
  // agent may truncate the file before it is parked and rebuild the header afterwards. Nor does the header alone: an
  // idle agent may restart and leave the same one.
  bool hasChanged() const;
  // The time between two tries grows: at first an agent may be starting, later the file is probably no ring.
  void waitLonger(Clock::time_point now);
};

// Invariants: each path is here once, and no candidate isAttached().
class CandidateList {
 public:
  // Opens the candidate's ring, or sets its state, reason and next try.
  using TryOpen = std::function<void(Candidate&)>;

  void add(const std::string& path);
  // Adds the file of a released ring. If the ring holds events, it is not parked but tried at once.
  void addReleased(const std::string& path, const FileId& file, const HeaderFields& header, Clock::time_point now);
  // Keeps only these paths.
  void retain(const std::set<std::string>& present);
  void clear() { candidates_.clear(); }

  bool contains(const std::string& path) const { return candidates_.contains(path); }
  const Candidate* find(const std::string& path) const;

  // Tries the due candidates, in slices: ten thousand files that are no rings must not delay the rings. Recent ones
  // come first and leave the others half of the time. `isAwaited`: a caller waits for new rings.
  void tryDue(Clock::time_point now, bool isAwaited, const TryOpen& tryOpen) REQUIRES(collectorThread);

 private:
  using IsOfKind = std::function<bool(const Candidate&)>;
  bool tryInTurn(RoundRobin& turns, Clock::time_point now, Clock::time_point end, bool openingIsFree,
                 const IsOfKind& isOfKind, const TryOpen& tryOpen);
  bool staysParked(Candidate& candidate, Clock::time_point now);
  void insert(Candidate candidate);

  std::map<std::string, Candidate> candidates_;  // by path
  bool mayHaveRecent_ = false;
  RoundRobin recentTurns_;
  RoundRobin otherTurns_;
};

}  // namespace nixl_otel
