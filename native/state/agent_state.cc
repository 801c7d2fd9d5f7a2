#include "state/agent_state.h"

#include <algorithm>
#include <utility>

namespace nixl_otel {

AgentState::AgentState(const std::string& ringPath, const FileId& ring, const std::shared_ptr<const TallyPlan>& plan)
    : path_(ringPath), plan_(plan), slot_(std::make_shared<TallySlot>(plan)) {
  slot_->isKept = true;
  file_ = StateFile::open(path_, plan_, problem_, &ring);
  isRefused_ = file_ == nullptr;
  if (isRefused_) return;
  if (const std::string& aside = file_->asideReason(); !aside.empty()) {
    loss_ = "its sums begin at 0, because its state file cannot be continued: " + aside;
  }
  if (const auto& recovered = file_->recovered()) {
    hasRecord_ = isMade_ = true;
    record_ = *recovered;
    keptAttributes_ = record_.attributes;
  }
  file_->restore(slot_->tally);
  if (!hasRecord_) return;
  // Readers are about to see histograms at 0: a later process must not continue the ones before, even without an event.
  const auto& starts = slot_->tally.histogramStarts();
  isChanged_ |= std::any_of(starts.begin(), starts.end(), [](const HistogramStart& one) { return one.isNew; });
  RecoveredCounts counts{slot_->tally, record_.retired, record_.fullMs};
  for (const RingRecord& ring : record_.rings) counts.drains += ring.drain.stats;
  counts.drains.restarts += record_.replacements;
  slot_->recovered = std::make_shared<const RecoveredCounts>(std::move(counts));
}

AgentState::~AgentState() { close(); }

Recalled AgentState::recall(const RingFileId& ring) const {
  Recalled recalled;
  if (problem_ == kStateIsLocked || problem_ == kRingIsElsewhere) recalled.notYet = problem_;
  recalled.keepsState = !isRefused_;
  if (const RingRecord* const known = find(ring)) recalled.record = known->drain;
  return recalled;
}

const RingRecord* AgentState::find(const RingFileId& ring) const {
  const auto found =
      std::find_if(record_.rings.begin(), record_.rings.end(), [&](const RingRecord& one) { return one.id == ring; });
  return found == record_.rings.end() ? nullptr : &*found;
}

RingRecord* AgentState::at(const RingFileId& ring) { return const_cast<RingRecord*>(find(ring)); }

void AgentState::put(const RingRecord& ring) {
  RingRecord* const known = at(ring.id);
  if (known == nullptr) {
    record_.rings.push_back(ring);
  } else {
    *known = ring;
  }
  isChanged_ = true;
}

void AgentState::update(const RingFileId& ring, const DrainRecord& drain) {
  RingRecord* const known = at(ring);
  if (known == nullptr || known->drain == drain) return;
  known->drain = drain;
  isChanged_ = true;
}

void AgentState::forget(const RingFileId& ring) {
  isChanged_ |= std::erase_if(record_.rings, [&](const RingRecord& one) { return one.id == ring; }) != 0;
}

void AgentState::commit() {
  if (file_ == nullptr) return;
  std::string reason;
  if (!file_->commit(record_, slot_->tally, reason)) return giveUp(reason);
  isMade_ = true;
  isChanged_ = false;
}

void AgentState::commitChanges() {
  if (isMade_ && isChanged_) commit();
}

void AgentState::rest(const RingFileId& ring) {
  RingRecord* const known = at(ring);
  if (known == nullptr || file_ == nullptr) return;
  known->drain.rested = true;
  // The bit in the file belongs to the ring's place in the record that was committed.
  if (isChanged_) {
    commitChanges();
  } else {
    file_->rest(static_cast<size_t>(known - record_.rings.data()));
  }
}

void AgentState::repair(const FileId& ring) {
  if (isRefused_ || (file_ != nullptr && file_->present())) return;
  std::string reason;
  auto file = StateFile::open(path_, plan_, reason, &ring);
  if (file != nullptr && file->recovered()) {
    reason = "another state file has its name";
    file = nullptr;
  }
  if (file == nullptr) return giveUp(reason);
  file_ = std::move(file);
  file_->restore(slot_->tally);
  problem_.clear();
  commit();
}

void AgentState::remove() {
  if (file_ != nullptr) file_->remove();
  giveUp("");
}

void AgentState::close() {
  commitChanges();
  giveUp(problem_);
}

void AgentState::giveUp(const std::string& problem) {
  problem_ = problem;
  slot_->tally.admitKeys(nullptr);
  file_.reset();
  isMade_ = false;
}

}  // namespace nixl_otel
