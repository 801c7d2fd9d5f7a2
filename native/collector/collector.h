// The one background thread of a process. It finds rings, drains them on time, and notices the start, restart and end
// of agents.
//
// The thread does not depend on JavaScript: a blocked event loop loses no event. Only this thread drains the rings that
// it attached. Other threads take snapshots, which are cumulative.
//
// The collector is created once and never destroyed, and none of its members has a destructor that runs at process
// exit. Reason: process.exit() on Node's main thread runs no cleanup hooks, so this thread still runs while exit
// handlers run.
//
// Thread safety: any thread except the collector's may call the public methods. collector_locks.h has the invariants of
// the locks.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "collector/agent.h"
#include "collector/candidate_list.h"
#include "collector/collector_locks.h"
#include "collector/deferred_calls.h"
#include "collector/directory_watch.h"
#include "collector/drain_schedule.h"
#include "collector/life_watch.h"
#include "collector/ring_filler.h"
#include "collector/source.h"
#include "collector/space_watch.h"
#include "sync/mutex.h"
#include "sync/wait_budget.h"

namespace nixl_otel {

struct CollectorStats {
  std::chrono::milliseconds drainInterval{0};
  uint64_t ticks = 0;
  uint64_t lateTicks = 0;
  double maxLagMs = 0;  // longest time between two ticks, without waits for the first ring
};

struct RingProblem {
  std::string path;
  RingState state;
  std::string reason;
};

// An agent that is drained without a state file, or whose earlier state file could not be continued.
struct StateProblem {
  std::string path;  // of the ring
  std::string reason;
};

// State of a source apart from its agents.
struct SourceReport {
  std::vector<RingProblem> problems;
  size_t problemCount = 0;                   // of all; `problems` may have fewer
  std::vector<StateProblem> stateProblems;   // empty for a source without state
  std::vector<StateProblem> stateLosses;     // sums that began at 0 although there was a state file
  std::vector<std::string> openDirectories;  // in UTF-8: that every user may write to, if `owners` is not set
  std::vector<PlaceStatus> places;           // in the order of the options
  CollectorStats stats;
};

// Place of a snapshot between two of its parts. It refers to no agent: one that ended may be released meanwhile.
struct SnapshotPlace {
  Clock::time_point begin = Clock::now();  // before the first part
  std::string last;                        // path of the last agent that was visited
  bool isComplete = false;
};

class Collector {
 public:
  static Collector& instance();

  // Longest wait for the thread in close(), openTap() and other calls that have no limit of their own. After a timeout
  // the thread completes the call when it runs again.
  static constexpr std::chrono::milliseconds kLongestWait{100};
  static_assert(kLongestWait >= ThreadProgress::kShortestProof);
  // Budget of a call that begins now.
  WaitBudget callBudget() { return progress_.budget(kLongestWait); }

  // Starts the thread if it does not run. The taps get every event that the source counts.
  std::shared_ptr<Source> open(SourceOptions options, std::vector<std::shared_ptr<EventTap>> taps = {});
  // Closes the source. With the last source, also ends and joins the thread.
  void close(const std::shared_ptr<Source>& source);

  std::shared_ptr<EventTap> openTap(const std::shared_ptr<Source>& source, const TapWants& wants, size_t capacity);
  void closeTap(const std::shared_ptr<Source>& source, const std::shared_ptr<EventTap>& tap);

  // Requests a drain and waits for it up to `limit`: the thread searches for new rings and drains all rings. It tries
  // new files for at most 100 ms, apart from the time to open rings; the other files follow in later ticks. It drains a
  // ring that fills as fast as it is drained for at most 250 ms.
  bool drainNow(std::chrono::milliseconds limit);
  // Requests the same drain without a wait. isServed(request) is true after it.
  uint64_t requestDrain();
  // Holds the source, and returns a request: once each open source is held and the request is served, the thread drains
  // no ring and looks for none. Totals and taps then stay as they are.
  uint64_t hold(const std::shared_ptr<Source>& source);
  bool isServed(uint64_t request) const { return drainsServed_ >= request; }

  // Keeps a text for the next process in the state file of the agent with this tally.
  void keepAttributes(const std::shared_ptr<Source>& source, uint64_t tally, const std::string& text);
  // Returns the counts that the agent with this tally continued from. nullptr if its counts began in this process, and
  // if the thread held a lock for longer than the budget.
  std::shared_ptr<const RecoveredCounts> recoveredCounts(const Source& source, uint64_t tally, WaitBudget& budget);

  // Registers a reader. The collector keeps the last values of a dead agent until every reader has read them.
  uint32_t addReader(const std::shared_ptr<Source>& source);
  void removeReader(const std::shared_ptr<Source>& source, uint32_t reader);

  using Visit = std::function<void(const SourceAgent&, const AgentStatus&, const Tally&)>;
  // Takes a snapshot in parts, between which the caller may do other work: calls visit() for the source's next agents
  // after `place`, at most `most`. False if the thread held a lock for longer than the budget; then some agents were
  // not visited. An agent that is attached or released between two parts may be missing; a reader has read the last
  // values of a released one with an earlier snapshot.
  bool snapshotPart(Source& source, SnapshotPlace& place, size_t most, const Visit& visit, WaitBudget& budget);
  // Notes that the reader has a snapshot, with the last values of dead agents. Call it after the last part, and after
  // all that may fail.
  void noteRead(Source& source, uint32_t reader, const SnapshotPlace& place, WaitBudget& budget);
  // Lists at most `most` problems. False if the thread held a lock for longer than the budget.
  bool report(const Source& source, size_t most, SourceReport& out, WaitBudget& budget);
  CollectorStats stats();
  // Milliseconds since the begin of the last tick. Never waits.
  double sinceTickMs() const;

 private:
  Collector() = default;
  ~Collector() = delete;

  using Call = DeferredCalls::Call;

  // --- Any thread: sources, the start of the thread, and calls. ---
  void addSource(const std::shared_ptr<Source>& source) REQUIRES(collectorMutex);
  void removeSource(const std::shared_ptr<Source>& source) REQUIRES(collectorMutex);
  void startThread() REQUIRES(lifecycle_, collectorMutex);
  void wakeThread() REQUIRES(collectorMutex);
  void updateInterval() REQUIRES(collectorMutex);
  bool isHeld() const REQUIRES(collectorMutex);
  WaitBudget makeOrDefer(const Call& call) EXCLUDES(collectorMutex);
  void changeAgent(const SourceAgent& seen, WaitBudget& budget, const Agent::Change& change) REQUIRES(collectorMutex);
  void changeAgents(const Source& source, WaitBudget& budget, const Agent::Change& change) REQUIRES(collectorMutex);
  bool listStateProblems(const Source& source, size_t most, SourceReport& out, WaitBudget& budget)
      REQUIRES(collectorMutex);
  bool listProblems(const Source& source, size_t most, SourceReport& out, WaitBudget& budget) REQUIRES(collectorMutex);

  // --- Only the collector's thread. ---
  void run() EXCLUDES(collectorThread, collectorMutex);
  void serve() REQUIRES(collectorThread, collectorMutex);
  void releaseAll() REQUIRES(collectorThread, collectorMutex);
  void makeDeferredCalls() REQUIRES(collectorThread, collectorMutex);
  Clock::duration tick(Clock::time_point now) REQUIRES(collectorThread) EXCLUDES(collectorMutex);
  void waitForTick(Clock::time_point next) REQUIRES(collectorThread, collectorMutex);
  void noteTick(Clock::time_point now, bool wasWatching) REQUIRES(collectorThread, collectorMutex);
  void scan(Clock::time_point now) REQUIRES(collectorThread, collectorMutex);
  RingUse useOf(const std::string& path) const REQUIRES(collectorThread, collectorMutex);
  void removeOrphans(Clock::time_point now) REQUIRES(collectorThread, collectorMutex);
  bool watchIfEmpty() REQUIRES(collectorThread, collectorMutex);
  void considerFile(const FoundFile& file) REQUIRES(collectorThread, collectorMutex);
  void tryCandidates(Clock::time_point now, bool isAwaited) REQUIRES(collectorThread, collectorMutex);
  size_t countRings() const REQUIRES(collectorThread, collectorMutex);
  void tryOpen(Candidate& candidate, Clock::time_point now, size_t& openRings)
      REQUIRES(collectorThread, collectorMutex);
  void attach(const std::string& path, std::unique_ptr<RingReader> reader, std::unique_ptr<AgentState> state,
              Clock::time_point now) REQUIRES(collectorThread, collectorMutex);
  void explainBusy(Candidate& candidate) const REQUIRES(collectorThread, collectorMutex);
  std::shared_ptr<const TallyPlan> statePlan(const std::string& path) const REQUIRES(collectorMutex);
  bool isWanted(bool SourceOptions::* option, const std::string& path) const REQUIRES(collectorMutex);
  Owners allowedOwners(const std::string& path) const REQUIRES(collectorMutex);
  void removeEnded(Clock::time_point now) REQUIRES(collectorThread, collectorMutex);
  void dropExpired(Clock::time_point now) REQUIRES(collectorThread, collectorMutex);
  Expiry expiryOf(const Agent& agent, Clock::time_point now) const REQUIRES(collectorThread, collectorMutex);
  // Only the collector's thread changes agents_. Therefore it may read them without the lock.
  const AgentMap& ownAgents() const REQUIRES(collectorThread) NO_THREAD_SAFETY_ANALYSIS { return agents_; }

  Mutex lifecycle_ ACQUIRED_BEFORE(collectorMutex);  // open() waits until close() has joined the thread
  std::thread thread_ GUARDED_BY(lifecycle_);
  std::condition_variable_any wake_;
  std::condition_variable_any ticked_;
  bool running_ GUARDED_BY(collectorMutex) = false;  // the thread has not ended yet
  // True from the closing of the last source to the opening of the next one: the thread releases all rings and ends.
  //
  // Invariant: changes only with collectorMutex held.
  std::atomic<bool> stopping_{false};
  bool scanAll_ GUARDED_BY(collectorMutex) = false;
  bool drainAll_ GUARDED_BY(collectorMutex) = false;  // an agent has a change that its next drain keeps
  std::atomic<uint64_t> drainRequests_{0};
  std::atomic<uint64_t> drainsServed_{0};
  ThreadProgress progress_;
  DeferredCalls deferred_;
  std::atomic<Clock::rep> tickedAt_{0};  // lastTick_ for reads without the lock; 0: the thread does not run

  std::vector<std::shared_ptr<Source>> sources_ GUARDED_BY(collectorMutex);
  std::vector<std::shared_ptr<Source>> leaving_ GUARDED_BY(collectorMutex);  // closed; the thread unlinks their agents
  AgentMap agents_ GUARDED_BY(collectorMutex);
  CandidateList candidates_ GUARDED_BY(collectorMutex);  // files that are not attached
  CollectorStats stats_ GUARDED_BY(collectorMutex);
  Clock::time_point lastTick_ GUARDED_BY(collectorMutex){};
  Clock::time_point lastScan_ GUARDED_BY(collectorMutex){};
  Clock::time_point lastOrphans_ GUARDED_BY(collectorMutex){};
  std::set<std::string> goneRings_ GUARDED_BY(collectorMutex);  // with state files, at the last look for them

  DrainSchedule drains_ GUARDED_BY(collectorThread){stopping_};
  LifeWatch lives_ GUARDED_BY(collectorThread);
  RingFiller filler_ GUARDED_BY(collectorThread);
  SpaceWatch space_ GUARDED_BY(collectorThread);
  DirectoryWatch directories_;
  bool isWatching_ GUARDED_BY(collectorThread) = false;          // until the next tick, directories_ reports new files
  Clock::duration pause_ GUARDED_BY(collectorThread){};          // planned time from the last tick to the next
  Clock::time_point requestedAt_ GUARDED_BY(collectorThread){};  // when the thread saw the oldest unserved request
};

}  // namespace nixl_otel
