// Files of the collector: finds them, opens the rings among them, and releases rings of expired agents.

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "collector/collector.h"
#include "state/state_folder.h"

namespace nixl_otel {
namespace {

using std::chrono::milliseconds;

// A younger file may belong to an agent that is starting: its ring stays attached although it never had an event.
constexpr double kYoungMs = 10'000;

constexpr std::chrono::minutes kOrphanInterval{1};
constexpr std::chrono::seconds kLongestStateWait{2};

// A ring costs about 10 KB. Hosts have hundreds of agents, not tens of thousands.
constexpr size_t kMostRings = 16'384;

// Returns the limit of open rings. Each takes a descriptor, and one more with state. Rings in a directory that other
// users may write to must not use up the descriptors of the host process.
size_t mostRings(bool withState) {
  rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMostRings;
  return std::min<size_t>(kMostRings, limit.rlim_cur / (withState ? 4 : 2));
}

bool isYoung(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && wallClockMs() - toMs(info.st_ctim) < kYoungMs;
}

// True if the agent of this path already drains the file at the path: the file was renamed away and back, and the agent
// itself holds its lock. The agent drains an earlier file of the path until it retires it. Then the candidate opens it.
bool isDrainedBy(const Agent& agent, Candidate& candidate, Clock::time_point now) REQUIRES(collectorThread) {
  const auto file = fileAt(candidate.path);
  if (!file || !agent.holds(*file)) return false;
  candidate.reason.clear();
  candidate.waitLonger(now);
  candidate.state = agent.file() == *file ? RingState::kReady : RingState::kBusy;
  return true;
}

// True for the first seconds for which the state file of a ring that this process has locked cannot be had yet. The
// kernel unlocks the files of a process that is killed one after the other. A process that uses the file for longer
// drains another file of this path.
bool waitsForState(Candidate& candidate, Clock::time_point now) {
  if (candidate.stateLockedAt == Clock::time_point{}) candidate.stateLockedAt = now;
  return now - candidate.stateLockedAt < kLongestStateWait;
}

}  // namespace

void Collector::scan(Clock::time_point now) {
  lastScan_ = now;
  bool changed = scanAll_;
  scanAll_ = false;
  for (const auto& source : sources_) changed |= source->refresh();
  removeOrphans(now);
  space_.look(sources_, changed, now,
              [this](const std::string& path) REQUIRES(collectorThread, collectorMutex) { return useOf(path); });
  if (!changed) return;
  std::set<std::string> present;
  for (const auto& source : sources_) {
    for (const DirectoryTree& tree : source->trees()) {
      for (const FoundFile& file : tree.files()) {
        if (file.problem == nullptr && present.insert(file.path).second) considerFile(file);
      }
    }
    // Also links agents that other sources found, if their paths lie in this source's places.
    for (const auto& [path, agent] : agents_) source->link(agent);
  }
  candidates_.retain(present);
}

RingUse Collector::useOf(const std::string& path) const {
  const auto agent = agents_.find(path);
  if (agent != agents_.end()) return agent->second->isDead() ? RingUse::kEnded : RingUse::kLive;
  const Candidate* const candidate = candidates_.find(path);
  if (candidate == nullptr) return RingUse::kLive;
  if (candidate->parked) return RingUse::kEnded;
  return candidate->state == RingState::kInitializing ? RingUse::kStarts : RingUse::kLive;
}

// Removes the state files of rings that are gone.
void Collector::removeOrphans(Clock::time_point now) {
  if (lastOrphans_ != Clock::time_point{} && now - lastOrphans_ < kOrphanInterval) return;
  lastOrphans_ = now;
  const std::set<std::string> gone = std::exchange(goneRings_, {});
  for (const auto& source : sources_) {
    if (!source->options().state) continue;
    for (const DirectoryTree& tree : source->trees()) {
      for (const auto& [path, folder] : tree.folders()) removeOrphanedState(path, gone, goneRings_);
    }
  }
}

// Watches the directories if they have no file that is or may become a ring. True if they were watched before the last
// scan, and no name was added since: then a wait for the watch misses no file.
bool Collector::watchIfEmpty() {
  std::set<std::string> folders;
  bool isWatchable = agents_.empty() && candidates_.isEmpty();
  for (const auto& source : sources_) {
    if (!isWatchable) break;  // before the paths are copied: with a ring, this is nearly every tick
    for (const DirectoryTree& tree : source->trees()) {
      isWatchable &= tree.state() == RingState::kReady && tree.problems().empty();
      for (const auto& [path, folder] : tree.folders()) folders.insert(path);
    }
  }
  if (!isWatchable) folders.clear();
  return directories_.watch(folders);
}

// Adds a candidate for a file that is new or that replaced an agent's ring.
void Collector::considerFile(const FoundFile& file) {
  if (candidates_.contains(file.path)) return;
  const auto agent = agents_.find(file.path);
  if (agent != agents_.end()) {
    const auto found = fileAt(file.path);
    if (!found || agent->second->file() == *found) return;
  }
  candidates_.add(file.path);
}

void Collector::tryCandidates(Clock::time_point now, bool isAwaited) {
  std::optional<size_t> openRings;  // counted if a candidate is due
  candidates_.tryDue(now, isAwaited, [&](Candidate& candidate) REQUIRES(collectorThread, collectorMutex) {
    if (!openRings) openRings = countRings();
    tryOpen(candidate, now, *openRings);
  });
}

size_t Collector::countRings() const {
  size_t rings = 0;
  for (const auto& [path, agent] : agents_) rings += agent->rings();
  return rings;
}

void Collector::tryOpen(Candidate& candidate, Clock::time_point now, size_t& openRings) {
  const auto known = agents_.find(candidate.path);
  const bool replaces = known != agents_.end();
  if (replaces && isDrainedBy(*known->second, candidate, now)) return;
  // A replaced path has two open rings until the agent retires the old one. The limit leaves some room for that.
  const auto plan = statePlan(candidate.path);
  const size_t most = mostRings(plan != nullptr);
  if (openRings >= (replaces ? most + most / 2 : most)) {
    candidate.state = RingState::kBusy;
    candidate.reason = std::to_string(most) + " rings are open, the limit: " + std::to_string(kMostRings) +
                       ", or half of the files that this process may open";
    if (plan != nullptr) candidate.reason += ", and each ring has a state file";
    candidate.waitLonger(now);
    return;
  }
  std::unique_ptr<AgentState> state;
  const auto recall = [&](const RingFileId& ring) REQUIRES(collectorThread, collectorMutex) {
    if (replaces) return known->second->recall(ring);
    if (plan == nullptr) return Recalled{};
    state = std::make_unique<AgentState>(candidate.path, ring.file, plan);
    Recalled recalled = state->recall(ring);
    if (!recalled.notYet.empty() && !waitsForState(candidate, now)) recalled.notYet.clear();
    return recalled;
  };
  auto reader = RingReader::open(candidate.path, isWanted(&SourceOptions::force, candidate.path), candidate.state,
                                 candidate.reason, allowedOwners(candidate.path), recall);
  if (reader == nullptr) {
    if (candidate.state == RingState::kBusy) explainBusy(candidate);
    candidate.waitLonger(now);
    return;
  }
  ++openRings;
  attach(candidate.path, std::move(reader), std::move(state), now);
}

void Collector::attach(const std::string& path, std::unique_ptr<RingReader> reader, std::unique_ptr<AgentState> state,
                       Clock::time_point now) {
  const auto known = agents_.find(path);
  if (known != agents_.end()) {
    known->second->replaceRing(std::move(reader));
  } else {
    const auto agent = std::make_shared<Agent>(path, std::move(reader), std::move(state));
    agents_.emplace(path, agent);
    for (const auto& source : sources_) source->link(agent);
  }
  drains_.endRest();
  lives_.noteAttached(now);
}

// Sets the candidate's reason if an agent of this process holds the ring's lock: the ring was renamed, or has two
// names.
void Collector::explainBusy(Candidate& candidate) const {
  const auto file = fileAt(candidate.path);
  if (!file) return;
  for (const auto& [path, agent] : agents_) {
    if (agent->holds(*file)) candidate.reason = "already drained as " + toUtf8(path);
  }
}

// Returns the plan of the sums that are kept for this path: that of the first source with state. nullptr: none.
std::shared_ptr<const TallyPlan> Collector::statePlan(const std::string& path) const {
  for (const auto& source : sources_) {
    if (source->options().state && source->covers(path)) return source->tallyPlan();
  }
  return nullptr;
}

// True if one of the sources with this path in its places has this option.
bool Collector::isWanted(bool SourceOptions::* option, const std::string& path) const {
  for (const auto& source : sources_) {
    if (source->options().*option && source->covers(path)) return true;
  }
  return false;
}

// Returns the users that all sources with this path in their places allow: a ring is drained once for all of them.
Owners Collector::allowedOwners(const std::string& path) const {
  Owners owners;
  for (const auto& source : sources_) {
    const Owners& allowed = source->options().owners;
    if (!allowed || !source->covers(path)) continue;
    if (!owners) owners = allowed;
    std::erase_if(*owners,
                  [&](uid_t user) { return std::find(allowed->begin(), allowed->end(), user) == allowed->end(); });
  }
  return owners;
}

// Releases the rings of expired agents. This frees their descriptors and ends their series.
void Collector::dropExpired(Clock::time_point now) {
  for (auto entry = agents_.begin(); entry != agents_.end();) {
    const std::string path = entry->first;
    const std::shared_ptr<Agent> agent = entry->second;
    bool hasSource = false;
    for (const auto& source : sources_) hasSource |= source->has(path);
    const Expiry expiry = hasSource ? expiryOf(*agent, now) : Expiry::kIdle;
    if (expiry == Expiry::kNone) {
      ++entry;
      continue;
    }
    drains_.endRest();
    const FileId file = agent->file();
    const auto endedAt = expiry == Expiry::kEnded ? agent->diedAt() : std::nullopt;
    const HeaderFields header = agent->release(expiry);
    for (const auto& source : sources_) source->unlink(path);
    entry = agents_.erase(entry);
    if (hasSource && fileAt(path)) candidates_.addReleased(path, file, header, endedAt, now);
  }
}

// Removes rings whose agents ended long ago, if all sources that have them in their places want that.
void Collector::removeEnded(Clock::time_point now) {
  const auto never = [](const auto& source)
                         REQUIRES(collectorMutex) { return source->options().removeEndedAfter.count() == 0; };
  if (std::all_of(sources_.begin(), sources_.end(), never)) return;
  candidates_.removeEnded([&](Candidate& candidate) REQUIRES(collectorThread, collectorMutex) {
    milliseconds after{0};
    FreshNames names;
    for (const auto& source : sources_) {
      if (!source->covers(candidate.path)) continue;
      if (never(source)) return Removal::kNotDue;
      after = std::max(after, source->options().removeEndedAfter);
      names = source->options().freshNames;
    }
    if (names.empty() || now - *candidate.endedAt < after || candidate.parked->hasChanged()) return Removal::kNotDue;
    const RemovalRule rule{names, after, false};
    const ParkedRing& parked = *candidate.parked;
    const bool isRemoved = removeEndedRing(candidate.path, parked.file(), parked.header(), rule).empty();
    return isRemoved ? Removal::kRemoved : Removal::kRefused;
  });
}

// Applies the longest time to live and the slowest reader of all sources that have the agent.
Expiry Collector::expiryOf(const Agent& agent, Clock::time_point now) const {
  if (agent.neverUsed() && !isYoung(agent.path())) return Expiry::kEnded;
  milliseconds deadTtl{0};
  milliseconds idleTtl{0};
  bool isIdleKept = false;
  auto readUntil = Clock::time_point::max();
  for (const auto& source : sources_) {
    if (!source->has(agent.path())) continue;
    const SourceOptions& options = source->options();
    deadTtl = std::max(deadTtl, options.deadTtl);
    idleTtl = std::max(idleTtl, options.idleTtl);
    isIdleKept |= options.idleTtl.count() == 0;
    readUntil = std::min(readUntil, source->readUntil());
  }
  return agent.expiry(now, deadTtl, isIdleKept ? milliseconds{0} : idleTtl, readUntil);
}

}  // namespace nixl_otel
