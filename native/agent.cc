#include "agent.h"

#include <algorithm>
#include <utility>

namespace nixl_otel {
namespace {

// A living process may have destroyed its agent. Reading its maps is expensive, so the ring must be quiet before.
constexpr auto kQuietBeforeMapsProbe = std::chrono::seconds(5);

// Time after which a dead agent is dropped although a reader has not read its last values.
constexpr auto kUnreadLimit = std::chrono::minutes(10);

// Limits of rings per agent: a file that is replaced again and again must not use up all descriptors. Above kManyRings
// the agent closes replaced rings that are empty, above kMostRings also others.
constexpr size_t kManyRings = 4;
constexpr size_t kMostRings = 16;

}  // namespace

Agent::Agent(std::string path, std::unique_ptr<RingReader> reader) : path_(std::move(path)), lastEvent_(Clock::now()) {
  replaceRing(std::move(reader));
  replacements_ = 0;
}

void Agent::replaceRing(std::unique_ptr<RingReader> reader) {
  const FairLock lock(mutex_);
  Attached attached;
  attached.reader = std::move(reader);
  attached.lastMoved = Clock::now();
  rings_.push_back(std::move(attached));
  ++replacements_;
  diedAt_ = {};
  for (const auto& slot : tallies_) slot->tally.restart();
}

bool Agent::holds(const FileId& file) const {
  const auto& rings = ownRings();
  return std::any_of(rings.begin(), rings.end(), [&](const Attached& a) { return a.reader->id() == file; });
}

Agent::DrainReport Agent::drain(uint64_t budget, ChunkBuffer& buffer, Clock::time_point now, PausePolicy pauses) {
  const FairLock lock(mutex_);
  DrainReport report;
  DrainResult last;
  uint64_t found = 0;
  for (Attached& attached : rings_) {
    const DrainResult result = last = attached.reader->drain(
        budget, buffer, [&](const RingReader::Chunk& chunk) REQUIRES(mutex_) { fold(attached, chunk); }, pauses);
    enterIncarnation(attached, attached.reader->stats().restarts);
    attached.empty = result.outcome == DrainOutcome::kEmpty || result.outcome == DrainOutcome::kWaiting;
    report.more |= result.outcome == DrainOutcome::kMore;
    report.settling |= result.outcome == DrainOutcome::kSettling;
    report.needsPause |= result.outcome == DrainOutcome::kNeedsPause;
    found += attached.reader->foundAtDrain();
    if (result.outcome != DrainOutcome::kNeedsPause) noteFull(attached, now);
    report.nearlyFull |= result.events > attached.reader->capacity() / 2;
    if (result.events == 0) continue;
    // Not `now`, which precedes the drain: a snapshot taken in between does not contain these events.
    attached.lastMoved = lastEvent_ = Clock::now();
    lastEventMs_ = wallClockMs();
    moved_ = report.moved = true;
  }
  // Only the ring at the path, the last one, decides the agent's problem.
  if (last.outcome != DrainOutcome::kNeedsPause) {
    problem_ = last.outcome == DrainOutcome::kWaiting ? last.state : RingState::kReady;
  }
  peakFound_.note(found, now);
  while (rings_.size() > 1 && canRetire(rings_.front(), now)) {
    retired_ += rings_.front().reader->stats();
    rings_.erase(rings_.begin());
  }
  return report;
}

// True if a replaced ring may be closed: its writer has ended, it has had no event for long, or many rings replaced it.
bool Agent::canRetire(const Attached& replaced, Clock::time_point now) const {
  if (!replaced.empty) return rings_.size() > kMostRings;
  return replaced.gone || rings_.size() > kManyRings || now - replaced.lastMoved > kUnreadLimit;
}

// Adds the whole time since the previous drain: the ring became full at some time after it.
void Agent::noteFull(Attached& attached, Clock::time_point now) {
  const uint64_t foundFull = attached.reader->stats().foundFull;
  if (foundFull != attached.foundFull && attached.lastDrain != Clock::time_point{})
    fullTime_ += now - attached.lastDrain;
  attached.foundFull = foundFull;
  attached.lastDrain = now;
}

bool Agent::problem(RingState& state, std::string& reason, WaitBudget& budget) const {
  FairLock lock(mutex_, std::defer_lock);
  if (!lock.lockWithin(budget)) return false;
  state = problem_;
  if (problem_ != RingState::kReady) reason = rings_.back().reader->reason();
  return true;
}

void Agent::fold(Attached& attached, const RingReader::Chunk& chunk) {
  enterIncarnation(attached, chunk.incarnation);
  for (const auto& slot : tallies_) {
    TapWants wants;
    for (const auto& tap : slot->taps) {
      wants.types |= tap->wants().types;
      wants.all |= tap->wants().all;
    }
    tapped_.clear();
    slot->tally.fold(chunk, wants, tapped_);
    if (tapped_.empty()) continue;
    for (const auto& tap : slot->taps) tap->put(tapped_);
  }
}

void Agent::enterIncarnation(Attached& attached, uint32_t incarnation) {
  if (attached.incarnation == incarnation) return;
  attached.incarnation = incarnation;
  // Another process may write this incarnation.
  attached.writerSeen = attached.gone = false;
  diedAt_ = {};
  for (const auto& slot : tallies_) slot->tally.restart();
}

bool Agent::lacksWriter() const {
  const FairLock lock(mutex_);
  return std::any_of(rings_.begin(), rings_.end(), [](const Attached& a) { return !a.writerSeen || a.gone; });
}

void Agent::noteWriters(const std::map<FileId, ProcessId>& found) {
  const FairLock lock(mutex_);
  ++searches_;
  for (Attached& attached : rings_) {
    const auto writer = found.find(attached.reader->id());
    if (writer == found.end()) continue;
    attached.writer = writer->second;
    attached.writerSeen = true;
    attached.gone = false;
    diedAt_ = {};
  }
}

bool Agent::isWriting(const Attached& attached, Clock::time_point now, ProcessProbes& probes, bool withMaps) const {
  const pid_t pid = attached.writer.pid;
  const uint64_t startTime = probes.startTime(pid);
  if (startTime == kStartUnknown) return true;  // the process may still run
  if (startTime != attached.writer.startTime) return false;
  if (!withMaps || now - attached.lastMoved < kQuietBeforeMapsProbe) return true;
  return probes.mapsForWriting(pid, attached.reader->id()) != MapsAnswer::kDoesNot;
}

void Agent::checkLife(Clock::time_point now, ProcessProbes& probes, bool withMaps) {
  const FairLock lock(mutex_);
  for (Attached& attached : rings_) {
    if (attached.writerSeen && !attached.gone) attached.gone = !isWriting(attached, now, probes, withMaps);
  }
  if (life() == Life::kDead && diedAt_ == Clock::time_point{}) diedAt_ = now;
}

Life Agent::life() const {
  bool unknown = false;
  for (const Attached& attached : rings_) {
    if (attached.writerSeen && !attached.gone) return Life::kAlive;
    unknown |= !attached.writerSeen;
  }
  return unknown ? Life::kUnknown : Life::kDead;
}

bool Agent::expired(Clock::time_point now, std::chrono::milliseconds deadTtl, std::chrono::milliseconds idleTtl,
                    Clock::time_point readUntil) const {
  const FairLock lock(mutex_);
  if (!rings_.back().empty) return false;
  const Life current = life();
  if (current == Life::kDead) {
    const Clock::time_point end = std::max(diedAt_, lastEvent_);
    return diedAt_ != Clock::time_point{} && now - end >= deadTtl &&
           (readUntil > end || now - end >= deadTtl + kUnreadLimit);
  }
  if (current == Life::kAlive) return false;
  // No new process can open an unlinked file, and a process that still maps it would have written events.
  if (rings_.back().reader->unlinked()) return now - lastEvent_ >= deadTtl;
  return idleTtl.count() != 0 && now - lastEvent_ >= idleTtl;
}

bool Agent::neverUsed() const {
  const FairLock lock(mutex_);
  return !moved_ && searches_ > 0 && rings_.size() == 1 && !rings_.back().writerSeen;
}

HeaderFields Agent::release() {
  const FairLock lock(mutex_);
  Attached& current = rings_.back();
  current.reader->detach();
  return readHeader(current.reader->fd());
}

std::shared_ptr<TallySlot> Agent::acquireTally(const std::shared_ptr<const TallyPlan>& plan) {
  const FairLock lock(mutex_);
  for (const auto& slot : tallies_) {
    if (slot->tally.options() == plan->options) {
      ++slot->users;
      return slot;
    }
  }
  auto slot = std::make_shared<TallySlot>(TallySlot{Tally(plan), {}, 1, {}});
  // The tally lacks events that were consumed before it began.
  if (rings_.back().reader->firstReadPos() != 0 || moved_) slot->tally.markMemoryApproximate();
  tallies_.push_back(slot);
  return slot;
}

void Agent::releaseTally(const std::shared_ptr<TallySlot>& slot) {
  const FairLock lock(mutex_);
  if (--slot->users == 0) std::erase(tallies_, slot);
}

bool Agent::addTap(TallySlot& slot, const std::shared_ptr<EventTap>& tap, WaitBudget& budget) {
  FairLock lock(mutex_, std::defer_lock);
  if (!lock.lockWithin(budget)) return false;
  slot.taps.push_back(tap);
  return true;
}

bool Agent::removeTap(TallySlot& slot, const std::shared_ptr<EventTap>& tap, WaitBudget& budget) {
  FairLock lock(mutex_, std::defer_lock);
  if (!lock.lockWithin(budget)) return false;
  std::erase(slot.taps, tap);
  return true;
}

bool Agent::keepAttributes(const std::string& text, WaitBudget& budget) {
  FairLock lock(mutex_, std::defer_lock);
  if (!lock.lockWithin(budget)) return false;
  attributes_ = text;
  return true;
}

AgentStatus Agent::status() const {
  const Attached& current = rings_.back();
  AgentStatus status;
  status.wireVersion = current.reader->layout().version;
  status.capacity = current.reader->capacity();
  status.life = life();
  status.pid = current.writerSeen && !current.gone ? current.writer.pid : 0;
  status.lastEventMs = lastEventMs_;
  status.peakFound = peakFound_.value();
  status.exported = moved_ || current.writerSeen;
  status.drains = retired_;
  for (const Attached& attached : rings_) {
    status.foundAtDrain += attached.reader->foundAtDrain();
    status.drains += attached.reader->stats();
  }
  status.drains.restarts += replacements_;
  status.fullMs = toMs(fullTime_);
  return status;
}

}  // namespace nixl_otel
