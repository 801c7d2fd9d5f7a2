// One agent in the collector: the ring at its path, the tallies of its events, and the state of its writer.
//
// Thread safety: the collector's thread drains, and any thread takes snapshots. Each public method locks the agent,
// except path() and the methods that only the collector's thread may call to read its rings.

#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "collector/collector_locks.h"
#include "process/writer_search.h"
#include "ring/flush_rhythm.h"
#include "ring/ring_reader.h"
#include "state/agent_state.h"
#include "sync/fair_mutex.h"
#include "tally/event_tap.h"
#include "tally/tally_slot.h"

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
  std::vector<pid_t> writers;  // live processes that can write the ring at the path, if there are several
  bool shared = false;         // several processes wrote it for so long that the sums may be wrong
  bool searched = false;       // a search for its writer is complete
  double lastEventMs = 0;      // wall clock; 0: none yet
  bool exported = false;
  uint64_t foundAtDrain = 0;  // events that the last drain found
  uint64_t peakFound = 0;     // highest recent foundAtDrain, see RecentPeak
  double flushMs = 0;         // time between two flushes; 0: not known
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
  // Notes the writers that a complete search for the writers of these files has found. A ring that had none in two
  // searches which saw all processes has ended, also if its writer was never seen: a process that started during the
  // first one is seen by the second.
  void noteWriters(const std::set<FileId>& wanted, const WritersByFile& found, bool sawAll = false)
      REQUIRES(collectorThread);
  // True once after each rebuild of a ring: the process that made it may be another one than before, and both may live.
  bool takeRebuilt() REQUIRES(collectorThread);
  // Notes writers that have ended. With `withMaps`, also notes a writer that no longer maps its ring, if the ring has
  // had no new event for five seconds.
  void checkLife(Clock::time_point now, ProcessProbes& probes, bool withMaps) REQUIRES(collectorThread);

  // True if the writers of all rings have ended.
  bool isDead() const REQUIRES(collectorThread);
  // Returns since when that has been known; nullopt if it is not so.
  std::optional<Clock::time_point> diedAt() const REQUIRES(collectorThread);
  // Calls fill(reader) for each ring that a living process writes, until it returns true for this incarnation. If its
  // writer cannot be seen, an event shows that it lives: one that comes a second after the ring was attached.
  template <typename Fill>
  void fillRings(Fill&& fill) REQUIRES(collectorThread) {
    const FairLock lock(mutex_);
    for (Attached& attached : rings_) {
      if (!attached.isFilled && isWritten(attached)) attached.isFilled = fill(*attached.reader);
    }
  }

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
  // The state is nullptr for an agent without one. The next drain keeps what changes in it.
  using Change = std::function<void(TallySlot&, AgentState*)>;
  bool change(TallySlot& slot, const Change& change, WaitBudget& budget);
  // Sets `reason` to the problem of the state file, and `loss` to the reason why the sums began at 0, or to "".
  bool stateProblem(std::string& reason, std::string& loss, WaitBudget& budget) const;
  // Sets `state` to kReady, or to the state that keeps the ring at the path from being drained, with its reason.
  bool problem(RingState& state, std::string& reason, WaitBudget& budget) const;
  // True if a living process writes a ring whose file was deleted: no later consumer can open it.
  bool writesDeleted() const { return writesDeleted_.load(std::memory_order_relaxed); }
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
    std::vector<ProcessId> others;  // live processes that can write it beside `writer`
    Clock::time_point sharedSince{};
    bool writerSeen = false;
    bool elsewhere = false;  // the pid of the writer is one of another pid namespace
    bool locked = false;     // a RingWriter held the lock of the file in this incarnation
    bool gone = false;       // the writer has ended
    uint32_t unwritten = 0;  // searches since the last event that saw all processes, and none that writes this ring
    bool empty = false;      // the last drain left no event that it could read
    Clock::time_point deletedAt{};  // first check that found no name of the file
    bool isFilled = false;          // in this incarnation the ring lacks no page, or is not to be filled
    Clock::time_point attachedAt{};
    Clock::time_point lastMoved{};
    Clock::time_point lastDrain{};
    uint64_t foundFull = 0;
    FlushRhythm flushes;  // of this incarnation
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
  void checkOthers(Attached& attached, Clock::time_point now, ProcessProbes& probes, bool withMaps) REQUIRES(mutex_);
  void checkDeleted(Clock::time_point now, ProcessProbes& probes) REQUIRES(mutex_);
  static bool writesDeleted(const Attached& attached, ProcessProbes& probes);
  bool isWriting(const Attached& attached, Clock::time_point now, ProcessProbes& probes, bool withMaps) const;
  Life life() const REQUIRES(mutex_);
  static void checkLock(Attached& attached);
  static bool isWritten(const Attached& attached);
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
  bool rebuilt_ GUARDED_BY(mutex_) = false;    // see takeRebuilt()
  bool shared_ GUARDED_BY(mutex_) = false;     // several processes wrote a ring; kept with the sums
  bool continued_ GUARDED_BY(mutex_) = false;  // an earlier process left a record, and no event came since then
  uint32_t searches_ GUARDED_BY(mutex_) = 0;   // complete searches for writers since the agent was found
  std::atomic<bool> writesDeleted_ = false;    // atomic: a snapshot reads it without the lock
  // The last member: its file is unlocked before the rings are. A process that opens a ring finds its state unlocked.
  std::unique_ptr<AgentState> state_ GUARDED_BY(mutex_);
};

using AgentMap = std::map<std::string, std::shared_ptr<Agent>>;  // by path

}  // namespace nixl_otel
