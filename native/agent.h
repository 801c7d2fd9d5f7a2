// One agent in the collector: the ring at its path, the tallies of its events, and the state of its writer.
//
// Thread safety: the collector's thread drains, and any thread takes snapshots. Each public method locks the agent,
// except path() and the methods that only the collector's thread may call to read its rings.

#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent_state.h"
#include "collector_locks.h"
#include "event_tap.h"
#include "fair_mutex.h"
#include "ring_reader.h"
#include "tally_slot.h"
#include "writer_search.h"

namespace nixl_otel {

enum class Life : uint8_t { kUnknown = 0, kAlive = 1, kDead = 2 };

// The highest value of the last 15 to 30 seconds. The latest value alone says little: the collector drains a ring every
// few milliseconds, also right before a metric reader reads.
class RecentPeak {
 public:
  void note(uint64_t value, Clock::time_point now) {
    if (now - windowStart_ >= kWindow) {
      previous_ = now - windowStart_ < 2 * kWindow ? current_ : 0;
      current_ = 0;
      windowStart_ = now;
    }
    current_ = std::max(current_, value);
  }
  uint64_t value() const { return std::max(previous_, current_); }

 private:
  static constexpr auto kWindow = std::chrono::seconds(15);
  Clock::time_point windowStart_{};
  uint64_t previous_ = 0;
  uint64_t current_ = 0;
};

// State of an agent, without its sums. The counts of drains and of full time began with the tally.
struct AgentStatus {
  int32_t wireVersion = 0;
  uint64_t capacity = 0;
  Life life = Life::kUnknown;
  pid_t pid = 0;
  bool searched = false;   // a search for its writer is complete
  double lastEventMs = 0;  // wall clock; 0: none yet
  bool exported = false;
  uint64_t foundAtDrain = 0;  // events that the last drain found
  uint64_t peakFound = 0;     // highest recent foundAtDrain, see RecentPeak
  double fullMs = 0;          // upper bound of the time during which the ring was full
  DrainStats drains;
  bool recovered = false;           // the sums began in an earlier process
  std::string_view keptAttributes;  // that an earlier process left; valid while the agent's lock is held
};

// Whether the collector may let an agent go, and what becomes of its state file.
enum class Expiry : uint8_t {
  kNone,   // the agent stays
  kIdle,   // no process was seen to write the ring: if it has an event again, the sums continue
  kEnded,  // the agent has ended, or never began: the state file goes as well
};

class Agent {
 public:
  // `state`: nullptr for an agent that no source with state covers.
  Agent(std::string path, std::unique_ptr<RingReader> reader, std::unique_ptr<AgentState> state)
      REQUIRES(collectorThread);

  const std::string& path() const { return path_; }

  struct DrainReport {
    bool moved = false;       // the drain took events
    bool more = false;        // a ring has a backlog: the budget is used up
    bool nearlyFull = false;  // the drain took more events than half of a ring's capacity
    bool settling = false;    // a ring is new or was reattached: drain again after a pause
    bool needsPause = false;  // a ring needs pauses: drain again with pauses allowed
  };
  // `emptyAt`: last time at which a look found the rings empty.
  DrainReport drain(uint64_t budget, ChunkBuffer& buffer, Clock::time_point now, PausePolicy pauses,
                    Clock::time_point emptyAt = {}) REQUIRES(collectorThread);
  // Adds a look at each ring, see RingReader::restingLook(). False if a ring has none.
  bool addLooks(std::vector<HeaderLook>& looks) const REQUIRES(collectorThread);

  // Returns what the agent's state tells about a file that replaces the ring at the path.
  Recalled recall(const RingFileId& ring) const REQUIRES(collectorThread);
  // Attaches the file that replaced the ring at the path. The agent keeps the replaced ring for further drains, because
  // its writer may continue to write.
  void replaceRing(std::unique_ptr<RingReader> reader) REQUIRES(collectorThread);

  bool holds(const FileId& file) const REQUIRES(collectorThread);
  size_t rings() const REQUIRES(collectorThread) { return ownRings().size(); }
  FileId file() const REQUIRES(collectorThread) { return ownRings().back().reader->id(); }

  // True if the writer of one of the rings is unknown or has ended.
  bool lacksWriter() const REQUIRES(collectorThread);
  // Notes the writers that a complete search for the writers of these files has found.
  void noteWriters(const std::set<FileId>& wanted, const std::map<FileId, ProcessId>& found) REQUIRES(collectorThread);
  // Notes writers that have ended. With `withMaps`, also notes a writer that no longer maps its ring, if the ring has
  // had no new event for five seconds.
  void checkLife(Clock::time_point now, ProcessProbes& probes, bool withMaps) REQUIRES(collectorThread);

  // A dead agent expires `deadTtl` after its end, once every reader has read its last values. An agent of unknown life
  // expires after `idleTtl` without an event (0: never). If an earlier process left its sums, and neither an event nor
  // a writer has been found since then, it expires after `deadTtl`: else it would come back at every start. `readUntil`
  // is the last read of the slowest reader.
  Expiry expiry(Clock::time_point now, std::chrono::milliseconds deadTtl, std::chrono::milliseconds idleTtl,
                Clock::time_point readUntil) const REQUIRES(collectorThread);

  // True if the ring never had an event and a complete search found no writer.
  bool neverUsed() const REQUIRES(collectorThread);
  // Releases the state file, or removes it if the agent has ended. Then restores the header of the ring at the path,
  // unless the mark must stay for the next consumer, and returns it.
  //
  // Requires: no other method is called afterwards.
  HeaderFields release(Expiry expiry) REQUIRES(collectorThread);

  // --- Any thread. Methods with a budget return false if the collector's thread held the lock for longer. ---

  // `isKept`: the source has state.
  std::shared_ptr<TallySlot> acquireTally(const std::shared_ptr<const TallyPlan>& plan, bool isKept);
  void releaseTally(const std::shared_ptr<TallySlot>& slot);
  bool addTap(TallySlot& slot, const std::shared_ptr<EventTap>& tap, WaitBudget& budget);
  bool removeTap(TallySlot& slot, const std::shared_ptr<EventTap>& tap, WaitBudget& budget);
  // Keeps a text in the state file.
  bool keepAttributes(const std::string& text, WaitBudget& budget);
  // Sets `reason` to the problem of the state file, or to "".
  bool stateProblem(std::string& reason, WaitBudget& budget) const;
  // Sets `state` to kReady, or to the state that keeps the ring at the path from being drained, with its reason.
  bool problem(RingState& state, std::string& reason, WaitBudget& budget) const;
  // Calls visit(status, tally).
  template <typename Visit>
  bool read(const TallySlot& slot, WaitBudget& budget, Visit&& visit) const {
    FairLock lock(mutex_, std::defer_lock);
    if (!lock.lockWithin(budget)) return false;
    visit(status(slot), slot.tally);
    return true;
  }

 private:
  struct Attached {
    std::unique_ptr<RingReader> reader;
    uint32_t incarnation = 0;
    ProcessId writer;
    bool writerSeen = false;
    bool elsewhere = false;  // the pid of the writer is one of another pid namespace
    bool gone = false;       // the writer has ended
    bool empty = false;      // the last drain left no event that it could read
    Clock::time_point lastMoved{};
    Clock::time_point lastDrain{};
    uint64_t foundFull = 0;
  };

  class Journal;

  AgentStatus status(const TallySlot& slot) const REQUIRES(mutex_);
  DrainStats drains() const REQUIRES(mutex_);
  void attach(std::unique_ptr<RingReader> reader) REQUIRES(mutex_);
  void recover() REQUIRES(mutex_);
  void restartTallies() REQUIRES(mutex_);
  void retireOldest() REQUIRES(mutex_);
  void noteDrain(const Attached& attached, const DrainRecord& record) REQUIRES(mutex_);
  void noteAgent() REQUIRES(mutex_);
  void keepChanges() REQUIRES(mutex_);
  bool lacksEvents() const REQUIRES(mutex_);
  void fold(Attached& attached, const Chunk& chunk) REQUIRES(mutex_);
  void enterIncarnation(Attached& attached, uint32_t incarnation) REQUIRES(mutex_);
  bool canRetire(const Attached& replaced, Clock::time_point now) const REQUIRES(mutex_);
  void noteFull(Attached& attached, Clock::time_point now, Clock::time_point emptyAt) REQUIRES(mutex_);
  bool isWriting(const Attached& attached, Clock::time_point now, ProcessProbes& probes, bool withMaps) const;
  Life life() const REQUIRES(mutex_);
  // Only the collector's thread changes rings_. Therefore it may read them without the lock.
  const std::vector<Attached>& ownRings() const REQUIRES(collectorThread) NO_THREAD_SAFETY_ANALYSIS { return rings_; }

  const std::string path_;
  mutable FairMutex mutex_;
  std::vector<Attached> rings_ GUARDED_BY(mutex_);  // the last one is the file at the path; it replaced the others
  std::vector<std::shared_ptr<TallySlot>> tallies_ GUARDED_BY(mutex_);
  std::vector<TappedEvent> tapped_ GUARDED_BY(mutex_);
  RecentPeak peakFound_ GUARDED_BY(mutex_);
  RingState problem_ GUARDED_BY(mutex_) = RingState::kReady;
  Clock::duration fullTime_ GUARDED_BY(mutex_){0};
  DrainStats retired_ GUARDED_BY(mutex_);  // of closed readers
  uint32_t replacements_ GUARDED_BY(mutex_) = 0;
  double lastEventMs_ GUARDED_BY(mutex_) = 0;
  Clock::time_point lastEvent_ GUARDED_BY(mutex_);
  Clock::time_point diedAt_ GUARDED_BY(mutex_){};
  bool moved_ GUARDED_BY(mutex_) = false;
  bool continued_ GUARDED_BY(mutex_) = false;  // an earlier process left a record, and no event came since then
  uint32_t searches_ GUARDED_BY(mutex_) = 0;   // complete searches for writers since the agent was found
  // The last member: its file is unlocked before the rings are. A process that opens a ring finds its state unlocked.
  std::unique_ptr<AgentState> state_ GUARDED_BY(mutex_);
};

using AgentMap = std::map<std::string, std::shared_ptr<Agent>>;  // by path

}  // namespace nixl_otel
