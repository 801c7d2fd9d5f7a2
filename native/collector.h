// The one background thread of a process: finds rings, drains them on time, and sees agents come and go.
//
// Neither finding nor draining depends on JavaScript: an event loop that stands still for seconds loses nothing. Only
// this thread touches rings that it attached; everyone else takes snapshots, which are cumulative.
//
// The collector is made once and never destroyed, and nothing here has a destructor that runs at process exit:
// process.exit() on Node's main thread runs no cleanup hooks, so exit handlers meet a thread that still runs.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agent.h"
#include "candidate.h"
#include "discovery.h"
#include "fair_mutex.h"

namespace nixl_otel {

struct SourceOptions {
  // Directory and file name pattern; "" for all files to depth 3.
  std::vector<std::pair<std::string, std::string>> places;
  std::chrono::milliseconds drainInterval{20};
  std::chrono::milliseconds deadTtl{30'000};
  std::chrono::milliseconds idleTtl{0};  // 0: never
  bool force = false;
  Owners owners;  // whose files count as rings
  TallyOptions tally;
};

struct CollectorStats {
  std::chrono::milliseconds drainInterval{0};
  uint64_t ticks = 0;
  uint64_t lateTicks = 0;
  double maxLagMs = 0;
  double lastLagMs = 0;
  double sinceTickMs = 0;  // at the time of asking
};

struct RingProblem {
  std::string path;
  RingState state;
  std::string reason;
};

// State of one place of a source's options.
struct PlaceStatus {
  RingState state;  // kReady: a directory that can be read
  std::string reason;
  size_t files = 0;       // that match the pattern
  bool hadRings = false;  // one of them was a ring, now or before
};

// All that a source can say but for its agents.
struct SourceReport {
  std::vector<RingProblem> problems;
  size_t problemCount = 0;  // `problems` may hold less
  std::vector<std::string> openDirectories;
  std::vector<PlaceStatus> places;  // in the order of the options
  CollectorStats stats;
};

// An agent as one source sees it.
struct SourceAgent {
  std::shared_ptr<Agent> agent;
  std::shared_ptr<TallySlot> slot;
  std::string name;
  std::string directory;
};

class Source {
 public:
  explicit Source(SourceOptions options);
  const SourceOptions& options() const { return options_; }

 private:
  friend class Collector;
  const SourceOptions options_;
  const std::shared_ptr<const TallyPlan> tallyPlan_;
  std::vector<DirectoryTree> trees_;
  std::vector<bool> hadRings_;                 // of each tree
  std::map<std::string, SourceAgent> agents_;  // by path
  std::vector<std::shared_ptr<Tap>> taps_;
  // When each reader last took a snapshot. Readers without a number share 0, and count only where no other is.
  std::map<uint32_t, Clock::time_point> lastRead_;
  std::atomic<uint32_t> nextReader_{1};
};

// How long a call may still wait for the collector's thread, in all its waits together. What it does between them does
// not count: a snapshot of a thousand agents takes its time, and must not fail for that.
struct WaitBudget {
  static constexpr Clock::duration kForEver = Clock::duration::max();
  Clock::duration limit = kForEver;
  Clock::duration left = limit;
  uint64_t step = 0;  // of the thread, when the call began
};

class Collector {
 public:
  static Collector& instance();

  // Longest wait for the thread in close(), openTap() and other calls that take no limit. A file system, a debugger or
  // the machine may hold the thread up for any time: it then does what was asked for when it runs again.
  static constexpr std::chrono::milliseconds kPatience{100};
  // For a call that begins now: nothing, where an earlier call has waited in vain and the thread has not moved since.
  // So the calls of one turn of an event loop wait once, however many they are.
  WaitBudget patience() const { return budget(kPatience); }

  // Starts the thread if it does not run. The taps see every event that the source counts.
  std::shared_ptr<Source> open(SourceOptions options, std::vector<std::shared_ptr<Tap>> taps = {});
  // Ends and joins the thread with the last source. Not from the collector's thread.
  void close(const std::shared_ptr<Source>& source);

  std::shared_ptr<Tap> openTap(const std::shared_ptr<Source>& source, const TapWants& wants, size_t capacity);
  void closeTap(const std::shared_ptr<Source>& source, const std::shared_ptr<Tap>& tap);

  // Waits until the thread has looked for new rings and drained all of them after this call; not longer than `limit`.
  // Where there are more new files than can be looked at within a tenth of a second, rings apart, the others come
  // later.
  // A ring that is filled as fast as it is drained is waited for a quarter of a second.
  bool drainNow(std::chrono::milliseconds limit);
  // The same without waiting: it is done when isServed(what this returns).
  uint64_t requestDrain();
  bool isServed(uint64_t request) const { return drainsServed_ >= request; }

  // Somebody who takes snapshots at an interval of his own: the last values of a dead agent stay until he has read
  // them.
  static constexpr uint32_t kNoReader = 0;
  uint32_t addReader(const std::shared_ptr<Source>& source);
  void removeReader(const std::shared_ptr<Source>& source, uint32_t reader);

  using Visit = std::function<void(const SourceAgent&, const AgentStatus&, const Tally&)>;
  // False: the thread held on to an agent for longer, and not all agents were visited.
  bool snapshot(Source& source, uint32_t reader, const Visit& visit, WaitBudget& budget);
  void snapshot(Source& source, uint32_t reader, const Visit& visit) {
    WaitBudget forEver;
    snapshot(source, reader, visit, forEver);
  }
  // At most `most` problems. False: the thread did not let go in time.
  bool report(const Source& source, size_t most, SourceReport& out, WaitBudget& budget);
  void report(const Source& source, size_t most, SourceReport& out) {
    WaitBudget forEver;
    report(source, most, out, forEver);
  }
  CollectorStats stats();
  // Milliseconds since the last tick began. Never waits.
  double sinceTickMs() const;

 private:
  Collector() = default;
  ~Collector() = delete;

  static constexpr std::chrono::milliseconds kFirstSearchPause{250};
  // Parked files are looked at this often, and more seldom the more there are: a look takes some 5 us, and
  // all of them together at most about 1 % of one core.
  static constexpr std::chrono::milliseconds kParkedLook{50};

  using Work = std::function<void(WaitBudget&)>;
  WaitBudget budget(Clock::duration limit) const;
  bool lockWithin(std::unique_lock<FairMutex>& lock, WaitBudget& budget);
  void noteHeldUp(const WaitBudget& budget);
  void whenFree(WaitBudget& budget, Work work);
  bool defer(Work work);
  bool hasDeferred();
  bool stopDeferring();
  void runDeferred();
  void onEach(Source& source, WaitBudget& budget, const std::function<void(Agent&, TallySlot&)>& work);
  void join(const std::shared_ptr<Source>& source);
  void startThread();
  void leave(const std::shared_ptr<Source>& source);
  void unlinkAll(Source& source);
  void keepShortestInterval();
  bool listProblems(const Source& source, size_t most, SourceReport& out, WaitBudget& budget);
  void run();
  void serve(std::unique_lock<FairMutex>& lock);
  void letGo(std::unique_lock<FairMutex>& lock);
  Clock::duration tick(Clock::time_point now);
  Clock::duration pauseAfter(bool crowded, Clock::time_point now, std::chrono::milliseconds interval) const;
  void scan(Clock::time_point now);
  void scanTree(DirectoryTree& tree, std::set<std::string>& present);
  void considerFile(const FoundFile& file);
  void tryCandidates(Clock::time_point now, bool all);
  template <typename OfTheKind>
  bool tryInTurn(std::string& next, Clock::time_point now, Clock::time_point end, bool ringsAreFree,
                 OfTheKind&& ofTheKind);
  void addCandidate(Candidate candidate);
  void tryOpen(Candidate& candidate, Clock::time_point now);
  bool isBack(const Agent& agent, Candidate& candidate, Clock::time_point now) const;
  void explainBusy(Candidate& candidate) const;
  void link(Source& source, const std::shared_ptr<Agent>& agent);
  void unlink(Source& source, const std::string& path);
  bool drainRings(Clock::time_point end);
  Agent::DrainReport drainOne(Agent& agent, Patience patience);
  void settle(std::vector<std::shared_ptr<Agent>>& agents, Patience patience);
  void drainBehind(Clock::time_point end);
  void drainRestless(Clock::time_point end);
  bool stopping();
  void watchLives(Clock::time_point now);
  void forgetExpired(Clock::time_point now);
  Clock::time_point toldUntil(const std::string& path) const;
  bool forced(const std::string& path) const;
  Owners ownersOf(const std::string& path) const;

  std::mutex lifecycle_;  // opening and closing sources: starting the thread must wait for the last one's end
  FairMutex mutex_;       // everything below; never held while a ring is drained, but while directories are read
  std::condition_variable_any wake_;
  std::condition_variable_any ticked_;
  std::thread thread_;
  bool running_ = false;   // the thread has not ended yet
  bool stopping_ = false;  // it is about to let go of everything, and to end unless a source came meanwhile
  bool scanAll_ = false;
  std::atomic<uint64_t> drainRequests_{0};
  std::atomic<uint64_t> drainsServed_{0};
  std::atomic<uint64_t> steps_{0};            // the thread's: it moves as long as this grows
  std::atomic<uint64_t> awaitedStep_{~0ull};  // the step in which a call waited in vain
  std::atomic<Clock::rep> tickedAt_{0};       // lastTick_, to be read without the lock
  std::mutex deferredMutex_;                  // of the next two; held for a moment only, and inside of any other
  bool deferring_ = false;                    // the thread runs, and will look at what is deferred
  std::vector<Work> deferred_;                // what the thread does before its next tick, as it held the lock
  std::vector<std::shared_ptr<Source>> sources_;
  std::vector<std::shared_ptr<Source>> leaving_;          // closed; the thread takes its agents from them
  std::map<std::string, std::shared_ptr<Agent>> agents_;  // by path
  std::map<std::string, Candidate> candidates_;           // files that are not attached, by path
  bool recent_ = false;                                   // there may be one that isRecent()
  std::string nextRecent_;                                // whose turn is next among these
  std::string nextCandidate_;                             // and among the others
  size_t openRings_ = 0;                                  // as of this tick
  // The collector's thread's alone: paths of agents that had more than their turn took, and whose turn is next.
  std::set<std::string> behind_;
  std::string nextBehind_;
  std::set<std::string> restless_;  // of this tick: what needs pauses
  bool crowded_ = false;            // of this tick: a ring was more than half full
  std::string nextRestless_;        // whose turn is next; "" if all had theirs
  Clock::time_point lastMoved_{};   // when any ring was last found with events
  Clock::duration pause_{};         // that was planned after the last tick
  Clock::time_point askedAt_{};     // when the oldest request for a drain was seen that is not served yet
  CollectorStats stats_;
  Clock::time_point lastScan_{};
  Clock::time_point lastTick_{};
  Clock::time_point lastLifeCheck_{};
  Clock::time_point lastThoroughCheck_{};
  Clock::time_point nextSearch_{};
  bool searchAgain_ = false;  // a ring was attached since the last search began
  std::chrono::milliseconds searchPause_{0};
  WriterSearch search_;
};

}  // namespace nixl_otel
