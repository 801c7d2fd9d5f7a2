#include "agent.h"

#include <algorithm>
#include <utility>

namespace nixl_otel {
namespace {

// A process that lives on may have destroyed its agent. This is only asked while the ring stands still.
constexpr auto kQuietBeforeMapsLook = std::chrono::seconds(5);

// A dead agent that nobody ever asks about must not stay for ever.
constexpr auto kUntoldLimit = std::chrono::minutes(10);

// A name that stands for another file every few milliseconds must not use up all descriptors: above the first number
// those go that run dry, above the second those that do not as well.
constexpr size_t kManyRings = 4;
constexpr size_t kMostRings = 16;

}  // namespace

Agent::Agent(std::string path, std::unique_ptr<RingReader> reader) : path_(std::move(path)), lastEvent_(Clock::now()) {
  replaceRing(std::move(reader));
  replacements_ = 0;
}

void Agent::replaceRing(std::unique_ptr<RingReader> reader) {
  const std::lock_guard lock(mutex_);
  Attached attached;
  attached.reader = std::move(reader);
  attached.lastMoved = Clock::now();
  readers_.push_back(std::move(attached));
  ++replacements_;
  diedAt_ = {};
  for (const auto& slot : tallies_) slot->tally.restart();
}

bool Agent::holds(const FileId& file) const {
  return std::any_of(readers_.begin(), readers_.end(), [&](const Attached& a) { return a.reader->id() == file; });
}

FileId Agent::file() const { return readers_.back().reader->id(); }

Agent::DrainReport Agent::drain(uint64_t budget, ChunkBuffer& buffer, Clock::time_point now, Patience patience) {
  const std::lock_guard lock(mutex_);
  DrainReport report;
  DrainResult last;
  uint64_t fill = 0;
  for (Attached& attached : readers_) {
    const DrainResult result = last = attached.reader->drain(
        budget, buffer, [&](const RingReader::Chunk& chunk) { fold(attached, chunk); }, patience);
    enterIncarnation(attached, attached.reader->stats().restarts);
    attached.dry = result.outcome == DrainOutcome::kEmpty || result.outcome == DrainOutcome::kWaiting;
    report.more |= result.outcome == DrainOutcome::kMore;
    report.settling |= result.outcome == DrainOutcome::kSettling;
    report.restless |= result.outcome == DrainOutcome::kRestless;
    fill += attached.reader->fill();
    if (result.outcome != DrainOutcome::kRestless) noteFull(attached, now);
    report.crowded |= result.events > attached.reader->capacity() / 2;
    if (result.events == 0) continue;
    // Not `now`: a snapshot that was taken before the events were folded has not told them.
    attached.lastMoved = lastEvent_ = Clock::now();
    lastEventMs_ = wallClockMs();
    moved_ = report.moved = true;
  }
  if (last.outcome != DrainOutcome::kRestless) noteTrouble(last);
  peakFill_.note(fill, now);
  while (readers_.size() > 1 && maySpare(readers_.front(), now)) {
    retired_ += readers_.front().reader->stats();
    readers_.erase(readers_.begin());
  }
  return report;
}

// A replaced ring is let go once it is known that nobody writes it, when it has long stood still, or when many came
// after it.
bool Agent::maySpare(const Attached& replaced, Clock::time_point now) const {
  if (!replaced.dry) return readers_.size() > kMostRings;
  return replaced.gone || readers_.size() > kManyRings || now - replaced.lastMoved > kUntoldLimit;
}

// When it was filled is not known, but not before the drain that emptied it.
void Agent::noteFull(Attached& attached, Clock::time_point now) {
  const uint64_t foundFull = attached.reader->stats().foundFull;
  if (foundFull != attached.foundFull && attached.lastDrain != Clock::time_point{})
    fullTime_ += now - attached.lastDrain;
  attached.foundFull = foundFull;
  attached.lastDrain = now;
}

// The ring at the agent's path is what its problems are about.
void Agent::noteTrouble(const DrainResult& result) {
  const bool waiting = result.outcome == DrainOutcome::kWaiting;
  trouble_ = waiting ? result.state : RingState::kReady;
}

RingState Agent::trouble(std::string& reason) const {
  if (trouble_ != RingState::kReady) reason = readers_.back().reader->reason();
  return trouble_;
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
  // Another process may write it now.
  attached.writerSeen = attached.gone = false;
  diedAt_ = {};
  for (const auto& slot : tallies_) slot->tally.restart();
}

bool Agent::wantsWriter() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(readers_.begin(), readers_.end(), [](const Attached& a) { return !a.writerSeen || a.gone; });
}

void Agent::searched(const std::map<FileId, ProcessId>& found) {
  const std::lock_guard lock(mutex_);
  ++searches_;
  for (Attached& attached : readers_) {
    const auto writer = found.find(attached.reader->id());
    if (writer == found.end()) continue;
    attached.writer = writer->second;
    attached.writerSeen = true;
    attached.gone = false;
    diedAt_ = {};
  }
}

bool Agent::stillWrites(const Attached& attached, Clock::time_point now, ProcessLooks& looks, bool thoroughly) const {
  const pid_t pid = attached.writer.pid;
  const uint64_t startTime = looks.startTime(pid);
  if (startTime == kStartUnknown) return true;  // no proof of death
  if (startTime != attached.writer.startTime) return false;
  if (!thoroughly || now - attached.lastMoved < kQuietBeforeMapsLook) return true;
  return looks.mapsForWriting(pid, attached.reader->id()) != MapsAnswer::kDoesNot;
}

void Agent::checkLife(Clock::time_point now, ProcessLooks& looks, bool thoroughly) {
  const std::lock_guard lock(mutex_);
  for (Attached& attached : readers_) {
    if (attached.writerSeen && !attached.gone) attached.gone = !stillWrites(attached, now, looks, thoroughly);
  }
  if (life() == Life::kDead && diedAt_ == Clock::time_point{}) diedAt_ = now;
}

Life Agent::life() const {
  bool unknown = false;
  for (const Attached& attached : readers_) {
    if (attached.writerSeen && !attached.gone) return Life::kAlive;
    unknown |= !attached.writerSeen;
  }
  return unknown ? Life::kUnknown : Life::kDead;
}

bool Agent::expired(Clock::time_point now, std::chrono::milliseconds deadTtl, std::chrono::milliseconds idleTtl,
                    Clock::time_point toldUntil) const {
  const std::lock_guard lock(mutex_);
  if (!readers_.back().dry) return false;
  const Life now_ = life();
  if (now_ == Life::kDead) {
    const Clock::time_point end = std::max(diedAt_, lastEvent_);
    return diedAt_ != Clock::time_point{} && now - end >= deadTtl &&
           (toldUntil > end || now - end >= deadTtl + kUntoldLimit);
  }
  if (now_ == Life::kAlive) return false;
  // Without a name nobody can come to it any more: whoever still writes it moves it.
  if (readers_.back().reader->unlinked()) return now - lastEvent_ >= deadTtl;
  return idleTtl.count() != 0 && now - lastEvent_ >= idleTtl;
}

bool Agent::neverUsed() const {
  const std::lock_guard lock(mutex_);
  return !moved_ && searches_ > 0 && readers_.size() == 1 && !readers_.back().writerSeen;
}

HeaderFields Agent::release() {
  const std::lock_guard lock(mutex_);
  Attached& current = readers_.back();
  current.reader->detach();
  return readHeader(current.reader->fd());
}

std::shared_ptr<TallySlot> Agent::acquireTally(const std::shared_ptr<const TallyPlan>& plan) {
  const std::lock_guard lock(mutex_);
  for (const auto& slot : tallies_) {
    if (slot->tally.options() == plan->options) {
      ++slot->users;
      return slot;
    }
  }
  auto slot = std::make_shared<TallySlot>(TallySlot{Tally(plan), {}, 1});
  // What was consumed before us, or before this tally began, is not in it.
  if (readers_.back().reader->firstReadPos() != 0 || moved_) slot->tally.markMemoryApproximate();
  tallies_.push_back(slot);
  return slot;
}

void Agent::releaseTally(const std::shared_ptr<TallySlot>& slot) {
  const std::lock_guard lock(mutex_);
  if (--slot->users == 0) std::erase(tallies_, slot);
}

void Agent::addTap(TallySlot& slot, const std::shared_ptr<Tap>& tap) { slot.taps.push_back(tap); }

void Agent::removeTap(TallySlot& slot, const std::shared_ptr<Tap>& tap) { std::erase(slot.taps, tap); }

AgentStatus Agent::status() const {
  const Attached& current = readers_.back();
  AgentStatus status;
  status.wireVersion = current.reader->layout().version;
  status.capacity = current.reader->capacity();
  status.life = life();
  status.pid = current.writerSeen && !current.gone ? current.writer.pid : 0;
  status.lastEventMs = lastEventMs_;
  status.peakFill = peakFill_.value();
  status.exported = moved_ || current.writerSeen;
  status.drains = retired_;
  for (const Attached& attached : readers_) {
    status.fill += attached.reader->fill();
    status.drains += attached.reader->stats();
  }
  status.drains.restarts += replacements_;
  status.fullMs = std::chrono::duration<double, std::milli>(fullTime_).count();
  return status;
}

}  // namespace nixl_otel
