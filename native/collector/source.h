// A source: the places whose rings it reads, the agents found there, its readers and its taps.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collector/agent.h"
#include "collector/collector_locks.h"
#include "collector/discovery.h"
#include "ring/space.h"
#include "state/ended_ring.h"
#include "tally/event_tap.h"

namespace nixl_otel {

struct SourceOptions {
  // Directory and pattern of file names. "" selects all files down to DirectoryTree::kMaxDepth.
  std::vector<std::pair<std::string, std::string>> places;
  // Each source sets them: src/ground/source-limits.ts has the defaults.
  std::chrono::milliseconds drainInterval{0};
  std::chrono::milliseconds deadTtl{0};
  std::chrono::milliseconds idleTtl{0};           // 0: never
  bool force = false;                             // opens files also on file systems whose mappings may not be shared
  Owners owners;                                  // opens only files of these users
  bool fill = false;                              // allocates the pages that rings lack
  bool state = false;                             // keeps the sums of agents in state files
  std::chrono::milliseconds removeEndedAfter{0};  // removes rings of ended agents with `freshNames`; 0: never
  FreshNames freshNames;
  TallyOptions tally;
};

// State of one place of a source's options.
struct PlaceStatus {
  RingState state;  // kReady: the directory can be read
  std::string reason;
  size_t files = 0;       // number of files that match the pattern
  bool hadRings = false;  // one of the files is or was a ring
  PlaceSpace space;
};

// An agent in one source.
struct SourceAgent {
  std::shared_ptr<Agent> agent;
  std::shared_ptr<TallySlot> slot;
  std::string name;
  std::string directory;
};

// Thread safety: any thread may call options(), tallyPlan() and newReader(). The other methods require collectorMutex.
class Source {
 public:
  static constexpr uint32_t kNoReader = 0;

  Source(SourceOptions options, std::vector<std::shared_ptr<EventTap>> taps);

  const SourceOptions& options() const { return options_; }
  uint32_t newReader() { return nextReader_++; }

  // Reads the directories that changed. True if the files may have changed.
  bool refresh() REQUIRES(collectorMutex);
  const std::vector<DirectoryTree>& trees() const REQUIRES(collectorMutex) { return trees_; }
  const std::shared_ptr<const TallyPlan>& tallyPlan() const { return tallyPlan_; }
  // From now on this source needs no event.
  void hold() REQUIRES(collectorMutex) { isHeld_ = true; }
  bool isHeld() const REQUIRES(collectorMutex) { return isHeld_; }
  bool covers(const std::string& path) const REQUIRES(collectorMutex);
  std::vector<PlaceStatus> places() const REQUIRES(collectorMutex);
  void noteSpace(size_t place, const PlaceSpace& space) REQUIRES(collectorMutex) { spaces_[place] = space; }

  const std::map<std::string, SourceAgent>& agents() const REQUIRES(collectorMutex) { return agents_; }
  // Returns the agent with this tally, or nullptr.
  const SourceAgent* find(uint64_t tally) const REQUIRES(collectorMutex);
  bool has(const std::string& path) const REQUIRES(collectorMutex) { return agents_.contains(path); }
  // Adds the agent if its path lies in the source's places. Does not look for the path in trees(): the tree of this
  // source may be older than that of the source that found the agent, and events drained meanwhile would be missing.
  void link(const std::shared_ptr<Agent>& agent) REQUIRES(collectorMutex);
  void unlink(const std::string& path) REQUIRES(collectorMutex);
  void unlinkAll() REQUIRES(collectorMutex);

  // Register or remove a tap for agents that are linked later. The caller changes the slots of present agents.
  void addTap(const std::shared_ptr<EventTap>& tap) REQUIRES(collectorMutex) { taps_.push_back(tap); }
  void removeTap(const std::shared_ptr<EventTap>& tap) REQUIRES(collectorMutex) { std::erase(taps_, tap); }

  void addReader(uint32_t reader) REQUIRES(collectorMutex) { lastRead_.emplace(reader, Clock::time_point{}); }
  void removeReader(uint32_t reader) REQUIRES(collectorMutex) { lastRead_.erase(reader); }
  void noteRead(uint32_t reader, Clock::time_point time) REQUIRES(collectorMutex);
  // Returns the last read of the slowest reader. kNoReader counts only if no reader is registered.
  Clock::time_point readUntil() const REQUIRES(collectorMutex);

 private:
  const SourceOptions options_;
  const std::shared_ptr<const TallyPlan> tallyPlan_;
  std::atomic<uint32_t> nextReader_{kNoReader + 1};
  bool isHeld_ GUARDED_BY(collectorMutex) = false;
  std::vector<DirectoryTree> trees_ GUARDED_BY(collectorMutex);
  std::vector<bool> hadRings_ GUARDED_BY(collectorMutex);                 // of each tree
  std::map<size_t, PlaceSpace> spaces_ GUARDED_BY(collectorMutex);        // by tree
  std::map<std::string, SourceAgent> agents_ GUARDED_BY(collectorMutex);  // by path
  std::vector<std::shared_ptr<EventTap>> taps_ GUARDED_BY(collectorMutex);
  std::map<uint32_t, Clock::time_point> lastRead_ GUARDED_BY(collectorMutex);  // by reader
};

}  // namespace nixl_otel
