// The collector's files: which ones are found, when they are looked at, and which become rings. The collector's mutex
// is held throughout.

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <utility>

#include "collector.h"

namespace nixl_otel {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// What looking at files may take out of one tick: some 200 of them.
constexpr microseconds kCandidateSlice{2000};
// The same where somebody waits for new rings: several thousand, besides the rings, of which a thousand may start
// together and there are not more than may be open. He may be the event loop of a service, and whoever asks the
// collector anything meanwhile waits, too.
constexpr milliseconds kAskedSlice{100};
// See kParkedLook.
constexpr microseconds kPauseForEachParked{500};

// Some 10 KB each: hosts have hundreds of agents, not tens of thousands.
constexpr size_t kMostRings = 16'384;

// Each ring takes a descriptor, and the host needs its own: whoever may write the directory must not use them all up.
size_t mostRings() {
  rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMostRings;
  return std::min<size_t>(kMostRings, limit.rlim_cur / 2);
}

}  // namespace

void Collector::scan(Clock::time_point now) {
  lastScan_ = now;
  bool changed = scanAll_;
  scanAll_ = false;
  for (const auto& source : sources_) {
    for (DirectoryTree& tree : source->trees_) changed |= tree.refresh();
  }
  if (!changed) return;
  std::set<std::string> present;
  for (const auto& source : sources_) {
    for (DirectoryTree& tree : source->trees_) scanTree(tree, present);
    // An agent that another source attached is also this one's if it lies in its places.
    for (const auto& [path, agent] : agents_) link(*source, agent);
  }
  std::erase_if(candidates_, [&](const auto& entry) { return !present.contains(entry.first); });
}

void Collector::scanTree(DirectoryTree& tree, std::set<std::string>& present) {
  for (const FoundFile& file : tree.files()) {
    if (file.problem != nullptr || !present.insert(file.path).second) continue;
    considerFile(file);
  }
}

// A file that is new here, or stands at the path of an agent whose ring is another file.
void Collector::considerFile(const FoundFile& file) {
  if (candidates_.contains(file.path)) return;
  const auto agent = agents_.find(file.path);
  if (agent != agents_.end()) {
    struct stat info;
    if (::lstat(file.path.c_str(), &info) != 0 || agent->second->file() == FileId{info.st_dev, info.st_ino}) return;
  }
  Candidate candidate;
  candidate.path = file.path;
  addCandidate(std::move(candidate));
}

// Ten thousand files that are no rings must not keep the rings waiting: files are looked at in slices. Those that came
// lately go first, and leave the others half of the time. `all`: somebody waits for these.
void Collector::tryCandidates(Clock::time_point now, bool all) {
  const Clock::time_point begun = Clock::now();  // not `now`: the scan between may have taken longer than a slice
  openRings_ = 0;
  for (const auto& [path, agent] : agents_) openRings_ += agent->rings();
  if (recent_) {
    bool recent = false;
    const auto isRecent = [&](const Candidate& candidate) {
      recent |= candidate.isRecent();
      return candidate.isRecent();
    };
    const bool wholeLap = tryInTurn(nextRecent_, now, begun + (all ? kAskedSlice : kCandidateSlice / 2), all, isRecent);
    recent_ = recent || !wholeLap;
  }
  tryInTurn(nextCandidate_, now, begun + kCandidateSlice, false,
            [](const Candidate& candidate) { return !candidate.isRecent(); });
}

// Looks at those of a kind whose time has come, from where the last slice ended. False: this one is over, but not the
// lap. `ringsAreFree`: what becomes a ring takes nothing of the slice.
template <typename OfTheKind>
bool Collector::tryInTurn(std::string& next, Clock::time_point now, Clock::time_point end, bool ringsAreFree,
                          OfTheKind&& ofTheKind) {
  auto entry = candidates_.lower_bound(next);
  for (size_t left = candidates_.size(); left > 0; --left) {
    if (entry == candidates_.end()) entry = candidates_.begin();
    Candidate& candidate = entry->second;
    const bool due = ofTheKind(candidate) && candidate.nextLook <= now;
    Clock::time_point before{};
    // Going over the others takes time, too, but less than asking for it each time.
    if ((due || left % 256 == 0) && (before = Clock::now()) >= end) {
      next = entry->first;
      return false;
    }
    if (due) tryOpen(candidate, now);
    const bool attached = candidate.state == RingState::kReady && !candidate.parked;
    if (attached && ringsAreFree) end += Clock::now() - before;
    entry = attached ? candidates_.erase(entry) : std::next(entry);
  }
  next.clear();
  return true;
}

void Collector::addCandidate(Candidate candidate) {
  recent_ = true;
  candidates_.emplace(candidate.path, std::move(candidate));
}

void Collector::tryOpen(Candidate& candidate, Clock::time_point now) {
  if (candidate.parked) {
    if (!candidate.awoken()) {
      candidate.nextLook = now + std::max<Clock::duration>(kParkedLook, candidates_.size() * kPauseForEachParked);
      return;
    }
    candidate.parked = false;
    recent_ = true;
  }
  // The file that follows a ring is one more until that is let go: there is some room beyond for these.
  const auto known = agents_.find(candidate.path);
  if (known != agents_.end() && isBack(*known->second, candidate, now)) return;
  const size_t most = mostRings();
  if (openRings_ >= (known == agents_.end() ? most : most + most / 2)) {
    candidate.state = RingState::kBusy;
    candidate.reason = std::to_string(most) +
                       " rings are open; no more than that, nor than half of the files that this process may open";
    candidate.waitLonger(now);
    return;
  }
  auto reader = RingReader::open(candidate.path, forced(candidate.path), candidate.state, candidate.reason,
                                 ownersOf(candidate.path));
  if (reader == nullptr) {
    if (candidate.state == RingState::kBusy) explainBusy(candidate);
    candidate.waitLonger(now);
    return;
  }
  ++openRings_;
  if (known != agents_.end()) {
    known->second->replaceRing(std::move(reader));
  } else {
    const auto agent = std::make_shared<Agent>(candidate.path, std::move(reader));
    agents_.emplace(candidate.path, agent);
    for (const auto& source : sources_) link(*source, agent);
  }
  nextSearch_ = now;
  searchAgain_ = true;
  searchPause_ = kFirstSearchPause;
}

// The name went to another file and came back to one that this very agent drains: the lock would be our own. An earlier
// file of the agent is drained for as long as the agent holds it, and is opened again after that.
bool Collector::isBack(const Agent& agent, Candidate& candidate, Clock::time_point now) const {
  struct stat info;
  if (::lstat(candidate.path.c_str(), &info) != 0) return false;
  const FileId file{info.st_dev, info.st_ino};
  if (!agent.holds(file)) return false;
  candidate.reason.clear();
  candidate.waitLonger(now);
  candidate.state = agent.file() == file ? RingState::kReady : RingState::kBusy;
  return true;
}

// A ring that was renamed, or has a second name: the lock that stands in the way is our own.
void Collector::explainBusy(Candidate& candidate) const {
  struct stat info;
  if (::lstat(candidate.path.c_str(), &info) != 0) return;
  const FileId file{info.st_dev, info.st_ino};
  for (const auto& [path, agent] : agents_) {
    if (agent->holds(file)) candidate.reason = "it is drained already, as " + toUtf8(path);
  }
}

// Whether a source that it lies in wants rings on any file system.
bool Collector::forced(const std::string& path) const {
  std::string name;
  return std::any_of(sources_.begin(), sources_.end(), [&](const auto& source) {
    const auto covers = [&](const DirectoryTree& tree) { return tree.covers(path, name); };
    return source->options_.force && std::any_of(source->trees_.begin(), source->trees_.end(), covers);
  });
}

// A ring is drained once for all sources: the strictest of those that it lies in decides.
Owners Collector::ownersOf(const std::string& path) const {
  Owners owners;
  std::string name;
  for (const auto& source : sources_) {
    const auto covers = [&](const DirectoryTree& tree) { return tree.covers(path, name); };
    const Owners& allowed = source->options_.owners;
    if (!allowed || std::none_of(source->trees_.begin(), source->trees_.end(), covers)) continue;
    if (!owners) owners = allowed;
    std::erase_if(*owners,
                  [&](uid_t user) { return std::find(allowed->begin(), allowed->end(), user) == allowed->end(); });
  }
  return owners;
}

}  // namespace nixl_otel
