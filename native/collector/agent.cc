#include "collector/agent.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "process/flush_setting.h"

namespace nixl_otel {
namespace {

// A living process may have destroyed its agent. Reading its maps is expensive, so the ring must be quiet before.
constexpr auto kQuietBeforeMapsProbe = std::chrono::seconds(5);

// Time after which a dead agent is dropped although a reader has not read its last values.
constexpr auto kUnreadLimit = std::chrono::minutes(10);

// Searches that see all processes and no writer of a ring, until its agent counts as ended.
constexpr uint32_t kSearchesForEnd = 2;

// Time for which an agent and its successor may both map a ring. After it, two writers overwrite events of each other.
constexpr auto kLongestOverlap = std::chrono::seconds(10);

// Time after the attach or deletion of a ring at which no events are left that its agent wrote before.
constexpr auto kProofOfLife = std::chrono::seconds(1);

// Limits of rings per agent: a file that is replaced again and again must not use up all descriptors. Above
// kManyReplaced the agent closes replaced rings that are empty, above kMostReplaced also others.
constexpr size_t kManyReplaced = 4;
constexpr size_t kMostReplaced = 16;

}  // namespace

// Folds and commits what the reader of one ring drains.
class Agent::Journal final : public DrainJournal {
 public:
  Journal(Agent& agent, Attached& attached) : agent_(agent), attached_(attached) {}

  // Agent::drain() holds the lock.
  void commit(const Chunk& chunk, const DrainRecord& record) override NO_THREAD_SAFETY_ANALYSIS {
    agent_.fold(attached_, chunk);
    if (agent_.state_ == nullptr) return;
    agent_.noteDrain(attached_, record);
    agent_.state_->commit();
  }

  // An incarnation begins once in the state file: a file that did not keep its begin would count it again.
  void commit(const DrainRecord& record) override NO_THREAD_SAFETY_ANALYSIS {
    agent_.enterIncarnation(attached_, record.stats.restarts);
    if (agent_.state_ == nullptr) return;
    agent_.noteDrain(attached_, record);
    if (record.stats == DrainStats{}) {
      agent_.state_->commitChanges();
    } else {
      agent_.state_->commit();
    }
  }

  void rest(const DrainRecord&) override NO_THREAD_SAFETY_ANALYSIS {
    if (agent_.state_ != nullptr) agent_.state_->rest(attached_.reader->lastingId());
  }

 private:
  Agent& agent_;
  Attached& attached_;
};

Agent::Agent(std::string path, std::unique_ptr<RingReader> reader, std::unique_ptr<AgentState> state)
    : path_(std::move(path)), lastEvent_(Clock::now()), state_(std::move(state)) {
  const FairLock lock(mutex_);
  attach(std::move(reader));
  if (state_ == nullptr) return;
  tallies_.push_back(state_->slot());
  if (state_->hasRecord()) recover();
  // The tally lacks events that were consumed before it began.
  if (state_->slot()->recovered == nullptr && lacksEvents()) state_->slot()->tally.markMemoryApproximate();
}

// Continues what an earlier process left.
void Agent::recover() {
  const AgentRecord record = state_->record();
  retired_ = record.retired;
  shared_ = record.shared;
  replacements_ = record.replacements;
  fullTime_ = fromMs(record.fullMs);
  lastEventMs_ = record.lastEventMs;
  moved_ = record.lastEventMs != 0;
  continued_ = true;
  Attached& current = rings_.back();
  const RingFileId id = current.reader->lastingId();
  bool isKnown = false;
  for (const RingRecord& ring : record.rings) {
    isKnown |= ring.id == id;
    if (ring.id == id) continue;
    retired_ += ring.drain.stats;  // a file that was replaced
    state_->forget(ring.id);
  }
  if (!isKnown) {
    ++replacements_;
    restartTallies();
    if (current.reader->firstReadPos() != 0) state_->slot()->tally.markMemoryApproximate();
  } else if (record.writer.pid != 0) {
    current.writer = record.writer;
    current.writerSeen = true;
    current.elsewhere = record.pidNamespace != ownPidNamespace();
    // Now, because a snapshot may come before checkLife(): a process that has got the writer's pid is not the agent's.
    current.gone = !current.elsewhere && hasEnded(current.writer);
  }
}

void Agent::attach(std::unique_ptr<RingReader> reader) {
  Attached attached;
  attached.incarnation = reader->stats().restarts;
  attached.reader = std::move(reader);
  attached.attachedAt = attached.lastMoved = Clock::now();
  rings_.push_back(std::move(attached));
}

void Agent::replaceRing(std::unique_ptr<RingReader> reader) {
  const FairLock lock(mutex_);
  attach(std::move(reader));
  ++replacements_;
  diedAt_ = {};
  restartTallies();
}

void Agent::restartTallies() {
  for (const auto& slot : tallies_) slot->tally.restart();
}

Recalled Agent::recall(const RingFileId& ring) const {
  const FairLock lock(mutex_);
  return state_ == nullptr ? Recalled{} : state_->recall(ring);
}

bool Agent::holds(const FileId& file) const {
  const auto& rings = ownRings();
  return std::any_of(rings.begin(), rings.end(), [&](const Attached& a) { return a.reader->id() == file; });
}

Agent::DrainReport Agent::drain(uint64_t budget, ChunkBuffer& buffer, Clock::time_point now, PausePolicy pauses,
                                Clock::time_point emptyAt) {
  const FairLock lock(mutex_);
  DrainReport report;
  DrainResult last;
  uint64_t found = 0;
  for (Attached& attached : rings_) {
    Journal journal(*this, attached);
    const DrainResult result = last = attached.reader->drain(budget, buffer, journal, pauses);
    enterIncarnation(attached, attached.reader->stats().restarts);
    attached.empty = result.outcome == DrainOutcome::kEmpty || result.outcome == DrainOutcome::kWaiting;
    report.more |= result.outcome == DrainOutcome::kMore;
    report.settling |= result.outcome == DrainOutcome::kSettling;
    report.needsPause |= result.outcome == DrainOutcome::kNeedsPause;
    found += attached.reader->foundAtDrain();
    if (result.events != 0 || result.outcome == DrainOutcome::kEmpty) attached.flushes.note(result.events != 0, now);
    if (result.outcome != DrainOutcome::kNeedsPause) noteFull(attached, now, emptyAt);
    report.nearlyFull |= result.events > attached.reader->capacity() / 2;
    if (result.events == 0) continue;
    // Not `now`, which precedes the drain: a snapshot taken in between does not contain these events.
    attached.lastMoved = lastEvent_ = Clock::now();
    moved_ = report.moved = true;
    attached.unwritten = 0;
    if (!attached.writerSeen && std::exchange(attached.gone, false)) diedAt_ = {};
    continued_ = false;
  }
  // Only the ring at the path, the last one, decides the agent's problem.
  if (last.outcome != DrainOutcome::kNeedsPause) {
    problem_ = last.outcome == DrainOutcome::kWaiting ? last.state : RingState::kReady;
  }
  peakFound_.note(found, now);
  const bool isEmpty = std::all_of(rings_.begin(), rings_.end(), [](const Attached& one) { return one.empty; });
  if (isEmpty) {
    for (const auto& slot : tallies_) slot->tally.noteFlush();
  }
  while (rings_.size() > 1 && canRetire(rings_.front(), now)) retireOldest();
  keepChanges();
  return report;
}

void Agent::retireOldest() {
  const RingReader& reader = *rings_.front().reader;
  retired_ += reader.stats();
  if (state_ != nullptr) state_->forget(reader.lastingId());
  rings_.erase(rings_.begin());
}

void Agent::noteDrain(const Attached& attached, const DrainRecord& record) {
  const RingReader& reader = *attached.reader;
  state_->put({reader.lastingId(), reader.capacity(), reader.layout().slot.size, record});
  noteAgent();
}

// Brings the fields of the record up to date that no journal entry has.
void Agent::noteAgent() {
  const Attached& current = rings_.back();
  const bool isSeen = current.writerSeen;
  state_->set(&AgentRecord::retired, retired_);
  state_->set(&AgentRecord::shared, shared_);
  state_->set(&AgentRecord::replacements, replacements_);
  state_->set(&AgentRecord::lastEventMs, lastEventMs_);
  state_->set(&AgentRecord::fullMs, toMs(fullTime_));
  state_->set(&AgentRecord::writer, isSeen ? current.writer : ProcessId{});
  if (!current.elsewhere) state_->set(&AgentRecord::pidNamespace, isSeen ? ownPidNamespace() : 0);
}

// Commits what changed without a journal entry: no snapshot shows what is not committed.
void Agent::keepChanges() {
  if (state_ == nullptr) return;
  for (const Attached& attached : rings_) {
    const DrainRecord* const record = attached.reader->record();
    if (record != nullptr) state_->update(attached.reader->lastingId(), *record);
  }
  noteAgent();
  state_->commitChanges();
}

// True if a replaced ring may be closed: its writer has ended, it has had no event for long, or many rings replaced it.
bool Agent::canRetire(const Attached& replaced, Clock::time_point now) const {
  if (!replaced.empty) return rings_.size() > kMostReplaced;
  return replaced.gone || rings_.size() > kManyReplaced || now - replaced.lastMoved > kUnreadLimit;
}

bool Agent::addLooks(std::vector<HeaderLook>& looks) const {
  for (const Attached& attached : ownRings()) {
    const std::optional<HeaderLook> look = attached.reader->restingLook();
    if (!look) return false;
    looks.push_back(*look);
  }
  return true;
}

// Adds the whole time since the previous drain or look: the ring became full at some time after it.
void Agent::noteFull(Attached& attached, Clock::time_point now, Clock::time_point emptyAt) {
  const uint64_t foundFull = attached.reader->stats().foundFull;
  if (foundFull != attached.foundFull && attached.lastDrain != Clock::time_point{}) {
    fullTime_ += now - std::max(attached.lastDrain, emptyAt);
  }
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

void Agent::fold(Attached& attached, const Chunk& chunk) {
  enterIncarnation(attached, chunk.incarnation);
  lastEventMs_ = wallClockMs();
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
  attached.writerSeen = attached.locked = attached.gone = attached.elsewhere = attached.isFilled = false;
  attached.unwritten = 0;
  attached.flushes = {};
  rebuilt_ = true;
  diedAt_ = {};
  restartTallies();
}

bool Agent::lacksWriter() const {
  const FairLock lock(mutex_);
  return std::any_of(rings_.begin(), rings_.end(),
                     [](const Attached& a) { return !a.writerSeen || a.gone || a.elsewhere; });
}

bool Agent::takeRebuilt() {
  const FairLock lock(mutex_);
  return std::exchange(rebuilt_, false);
}

void Agent::noteWriters(const std::set<FileId>& wanted, const WritersByFile& found, bool sawAll) {
  // Without the lock: /proc may be slow.
  std::vector<std::chrono::milliseconds> settings;
  for (const Attached& attached : ownRings()) {
    const auto writers = found.find(attached.reader->id());
    const bool wants = writers != found.end() && !attached.flushes.isLearnt();
    settings.push_back(wants ? flushSettingOf(writers->second.front().pid) : std::chrono::milliseconds(0));
  }
  const FairLock lock(mutex_);
  searches_ += wanted.contains(rings_.back().reader->id());
  auto setting = settings.begin();
  for (Attached& attached : rings_) {
    const std::chrono::milliseconds flushSetting = *setting++;
    const FileId id = attached.reader->id();
    const auto writers = found.find(id);
    if (writers == found.end()) {
      if (!wanted.contains(id)) continue;
      if (sawAll && !hasWriterLock(attached.reader->fd())) ++attached.unwritten;
      attached.gone |= attached.unwritten >= kSearchesForEnd;
      // A pid of another pid namespace cannot be probed, and its process may be one that this search could not see.
      if (attached.elsewhere) attached.writerSeen = attached.elsewhere = false;
      continue;
    }
    attached.flushes.expect(flushSetting);
    attached.writer = writers->second.front();
    attached.others.assign(writers->second.begin() + 1, writers->second.end());
    attached.writerSeen = true;
    attached.elsewhere = attached.gone = false;
    attached.unwritten = 0;
    diedAt_ = {};
  }
}

bool Agent::isWriting(const Attached& attached, Clock::time_point now, ProcessProbes& probes, bool withMaps) const {
  if (probes.hasEnded(attached.writer)) return false;
  if (!withMaps || now - attached.lastMoved < kQuietBeforeMapsProbe) return true;
  return probes.mapsForWriting(attached.writer.pid, attached.reader->id()) != MapsAnswer::kDoesNot;
}

void Agent::checkLife(Clock::time_point now, ProcessProbes& probes, bool withMaps) {
  const FairLock lock(mutex_);
  for (Attached& attached : rings_) {
    checkLock(attached);
    if (!attached.writerSeen || attached.gone || attached.elsewhere) continue;
    attached.gone = !isWriting(attached, now, probes, withMaps);
    checkOthers(attached, now, probes, withMaps);
  }
  if (withMaps) checkDeleted(now, probes);
  if (life() != Life::kDead) {
    diedAt_ = {};
  } else if (diedAt_ == Clock::time_point{}) {
    diedAt_ = now;
  }
  if (state_ != nullptr && withMaps) state_->repair(rings_.back().reader->id());
}

// The lock of a RingWriter tells of its life where no process can be seen: in another pid namespace, or of another
// user.
void Agent::checkLock(Attached& attached) {
  if (attached.writerSeen && !attached.elsewhere) return;
  if (hasWriterLock(attached.reader->fd())) {
    attached.locked = true;
    attached.gone = false;
  } else if (attached.locked) {
    attached.gone = true;
  }
}

// Forgets other writers that have ended, and notes that several write the ring if they do so for longer than a restart
// takes.
void Agent::checkOthers(Attached& attached, Clock::time_point now, ProcessProbes& probes, bool withMaps) {
  std::erase_if(attached.others, [&](const ProcessId& other) {
    return probes.hasEnded(other) ||
           (withMaps && probes.mapsForWriting(other.pid, attached.reader->id()) == MapsAnswer::kDoesNot);
  });
  if (attached.gone && !attached.others.empty()) {
    attached.writer = attached.others.front();
    attached.others.erase(attached.others.begin());
    attached.gone = false;
  }
  if (attached.others.empty()) {
    attached.sharedSince = {};
  } else if (attached.sharedSince == Clock::time_point{}) {
    attached.sharedSince = now;
  } else if (now - attached.sharedSince >= kLongestOverlap) {
    shared_ = retired_.suspect = true;
  }
}

void Agent::checkDeleted(Clock::time_point now, ProcessProbes& probes) {
  bool any = false;
  for (Attached& attached : rings_) {
    if (!attached.reader->unlinked()) {
      attached.deletedAt = {};
      continue;
    }
    if (attached.deletedAt == Clock::time_point{}) attached.deletedAt = now;
    any |= writesDeleted(attached, probes);
  }
  writesDeleted_.store(any, std::memory_order_relaxed);
}

// A process that lives may have ended its agent. Where its mappings cannot be seen, an event shows that it writes.
bool Agent::writesDeleted(const Attached& attached, ProcessProbes& probes) {
  if (attached.gone) return false;
  if (attached.writerSeen && !attached.elsewhere) {
    const MapsAnswer answer = probes.mapsForWriting(attached.writer.pid, attached.reader->id());
    if (answer != MapsAnswer::kUnknown) return answer == MapsAnswer::kMaps;
  } else if (attached.locked) {
    return true;
  }
  return attached.lastMoved - attached.deletedAt >= kProofOfLife;
}

bool Agent::isDead() const {
  const FairLock lock(mutex_);
  return life() == Life::kDead;
}

std::optional<Clock::time_point> Agent::diedAt() const {
  const FairLock lock(mutex_);
  if (life() != Life::kDead || diedAt_ == Clock::time_point{}) return std::nullopt;
  return diedAt_;
}

bool Agent::isWritten(const Attached& attached) {
  if (attached.writerSeen || attached.locked) return !attached.gone;
  return attached.lastMoved - attached.attachedAt >= kProofOfLife;
}

Life Agent::life() const {
  bool unknown = false;
  for (const Attached& attached : rings_) {
    if (attached.gone) continue;
    if (attached.locked || (attached.writerSeen && !attached.elsewhere)) return Life::kAlive;
    unknown = true;
  }
  return unknown ? Life::kUnknown : Life::kDead;
}

Expiry Agent::expiry(Clock::time_point now, std::chrono::milliseconds deadTtl, std::chrono::milliseconds idleTtl,
                     Clock::time_point readUntil) const {
  const FairLock lock(mutex_);
  if (!rings_.back().empty) return Expiry::kNone;
  const auto isOver = [&](Clock::time_point end) {
    return now - end >= deadTtl && (readUntil > end || now - end >= deadTtl + kUnreadLimit);
  };
  const Life current = life();
  if (current == Life::kAlive) return Expiry::kNone;
  if (current == Life::kDead) {
    return diedAt_ != Clock::time_point{} && isOver(std::max(diedAt_, lastEvent_)) ? Expiry::kEnded : Expiry::kNone;
  }
  // No new process can open an unlinked file, and a process that still maps it would have written events.
  if (rings_.back().reader->unlinked()) return now - lastEvent_ >= deadTtl ? Expiry::kEnded : Expiry::kNone;
  if (continued_ && searches_ > 0 && isOver(lastEvent_)) return Expiry::kIdle;
  return idleTtl.count() != 0 && now - lastEvent_ >= idleTtl ? Expiry::kIdle : Expiry::kNone;
}

bool Agent::neverUsed() const {
  const FairLock lock(mutex_);
  return !moved_ && searches_ > 0 && rings_.size() == 1 && !rings_.back().writerSeen && !rings_.back().locked;
}

HeaderFields Agent::release(Expiry expiry) {
  const FairLock lock(mutex_);
  if (state_ != nullptr && expiry == Expiry::kEnded) state_->remove();
  if (state_ != nullptr) state_->close();
  RingReader& current = *rings_.back().reader;
  if (expiry == Expiry::kEnded) {
    current.detach();
  } else {
    current.leave();
  }
  return readHeader(current.fd());
}

bool Agent::lacksEvents() const { return rings_.back().reader->firstReadPos() != 0 || moved_; }

std::shared_ptr<TallySlot> Agent::acquireTally(const std::shared_ptr<const TallyPlan>& plan, bool isKept) {
  const FairLock lock(mutex_);
  const auto found = std::find_if(tallies_.begin(), tallies_.end(), [&](const auto& slot) {
    return slot->isKept == isKept && slot->tally.options() == plan->options;
  });
  if (found != tallies_.end()) {
    ++(*found)->users;
    return *found;
  }
  const auto slot = std::make_shared<TallySlot>(plan);
  slot->users = 1;
  slot->earlierDrains = drains();
  slot->earlierFullTime = fullTime_;
  if (lacksEvents()) slot->tally.markMemoryApproximate();
  tallies_.push_back(slot);
  return slot;
}

void Agent::releaseTally(const std::shared_ptr<TallySlot>& slot) {
  const FairLock lock(mutex_);
  // The sums of a state file go on for the next source with state.
  if (--slot->users == 0 && !slot->isKept) std::erase(tallies_, slot);
}

bool Agent::change(TallySlot& slot, const Change& change, WaitBudget& budget) {
  FairLock lock(mutex_, std::defer_lock);
  if (!lock.lockWithin(budget)) return false;
  change(slot, state_.get());
  return true;
}

bool Agent::stateProblem(std::string& reason, std::string& loss, WaitBudget& budget) const {
  FairLock lock(mutex_, std::defer_lock);
  if (!lock.lockWithin(budget)) return false;
  reason = state_ == nullptr ? "" : state_->problem();
  loss = state_ == nullptr ? "" : state_->loss();
  return true;
}

DrainStats Agent::drains() const {
  DrainStats drains = retired_;
  for (const Attached& attached : rings_) drains += attached.reader->stats();
  drains.restarts += replacements_;
  return drains;
}

AgentStatus Agent::status(const TallySlot& slot) const {
  const Attached& current = rings_.back();
  AgentStatus status;
  status.wireVersion = current.reader->layout().version;
  status.capacity = current.reader->capacity();
  status.life = life();
  status.pid = current.writerSeen && !current.gone && !current.elsewhere ? current.writer.pid : 0;
  if (status.pid != 0 && !current.others.empty()) {
    status.writers.push_back(current.writer.pid);
    for (const ProcessId& other : current.others) status.writers.push_back(other.pid);
  }
  status.shared = shared_;
  status.searched = searches_ > 0;
  status.lastEventMs = lastEventMs_;
  status.peakFound = peakFound_.value();
  status.exported = moved_ || current.writerSeen;
  for (const Attached& attached : rings_) status.foundAtDrain += attached.reader->foundAtDrain();
  status.drains = drains();
  status.drains -= slot.earlierDrains;
  status.flushMs = toMs(current.flushes.interval());
  status.fullMs = toMs(fullTime_ - slot.earlierFullTime);
  status.recovered = slot.recovered != nullptr;
  if (slot.isKept) status.keptAttributes = state_->keptAttributes();
  return status;
}

}  // namespace nixl_otel
