#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "posix/posix.h"
#include "state/tally_record.h"

namespace nixl_otel {
namespace {

constexpr WideSum wide(const uint64_t (&halves)[2]) { return WideSum{halves[1]} << 64 | halves[0]; }

// True if so many u64 values can have been counted, with this sum.
constexpr bool canSum(uint64_t values, WideSum sum) {
  return values != 0 && values < kMostValues && sum <= WideSum{values} * UINT64_MAX;
}

// Not beyond the year 2286: readers convert it to nanoseconds.
constexpr bool canBeTime(double ms) { return ms > 0 && ms < 1e13; }

// Its counts are divided between the event and the size classes.
constexpr bool isTransferTime(const EventTally& event) {
  return event.known && (event.type == kXferTime || event.type == kXferPostTime);
}

WideSum totalOf(const BucketCounts& counts) {
  WideSum total = 0;
  counts.each([&](size_t, uint64_t count) { total += count; });
  return total;
}

}  // namespace

std::optional<TallyFields> tallyFields(std::span<const Section> sections) {
  for (const Section& section : sections) {
    TallyFields fields;
    if (section.type == SectionType::kTally && section.read(fields)) return fields;
  }
  return std::nullopt;
}

// The recorded tally may have had no histogram for this key, and so room for more keys. Those to come go first.
bool TallyRestorer::takeRoom(EventTally& key) {
  keysToCome_ -= keysToCome_ == 0 ? 0 : 1;
  if (TallySections::largest(key) + keysToCome_ * TallySections::largest(EventTally{}) > keyRoom_) {
    tally_.setHistogram(key, TallyOptions::kNoBounds);
  }
  const size_t bytes = TallySections::largest(key);
  if (bytes > keyRoom_) return false;
  keyRoom_ -= bytes;
  return true;
}

bool TallyRestorer::restore(std::span<const Section> sections, std::string& reason) {
  for (const Section& section : sections) {
    EventFields fields;
    const bool isEvent = section.type == SectionType::kEvent && section.read(fields);
    keysToCome_ += isEvent && fields.kind != EventFields::kKnown && fields.kind != EventFields::kOverflow;
  }
  for (const Section& section : sections) {
    bool good = true;
    if (section.type == SectionType::kTally) good = restoreTally(section);
    if (section.type == SectionType::kEvent) good = restoreEvent(section);
    if (section.type == SectionType::kTransfers) good = restoreTransfers(section);
    if (section.type == SectionType::kSizeClass) good = restoreClass(section);
    if (section.type == SectionType::kPost) good = restorePost(section);
    if (section.type == SectionType::kRefused) good = restoreRefused(section);
    if (section.type == SectionType::kHistogram) good = restoreHistogram(section);
    if (section.type == SectionType::kCarry) good = restoreCarry(section);
    if (good) continue;
    reason = "its section of type " + std::to_string(static_cast<int>(section.type)) + " is damaged";
    return false;
  }
  if (!fields_) return reason = "it has no sums", false;
  if (!completeHistograms()) return reason = "its histograms do not have as many values as were counted", false;
  if (!restoreAssembly(*fields_)) return reason = "its unfinished transfer cannot be one", false;
  return true;
}

bool TallyRestorer::restoreTally(const Section& section) {
  TallyFields fields;
  if (fields_ || !section.read(fields)) return false;
  if (!canBeTime(fields.startTimeMs)) return false;
  if (!canSum(kMostValues - 1, wide(fields.memoryInUse))) return false;
  tally_.startTimeMs_ = fields.startTimeMs;
  tally_.memoryInUse_ = wide(fields.memoryInUse);
  tally_.memoryApproximate_ = fields.memoryApproximate != 0;
  fields_ = fields;
  return true;
}

bool TallyRestorer::restoreEvent(const Section& section) {
  EventFields fields;
  if (!section.read(fields) || !canSum(fields.count, wide(fields.sum))) return false;
  const std::string name(reinterpret_cast<const char*>(section.tail.data()), section.tail.size());
  if (name.size() > kNameBytes || name.find('\0') != std::string::npos) return false;
  std::vector<EventTally>& events = tally_.events_;
  size_t index = events.size();
  if (fields.kind == EventFields::kKnown && fields.type < tally_.knownTypes_) {
    if (events[fields.type].count != 0) return false;
    index = fields.type;
  } else if (fields.kind == EventFields::kOverflow) {
    if (tally_.overflows() || tally_.addOverflow() != index) return false;
  } else if (fields.kind <= EventFields::kUnknownName) {  // or of a type that only another version knows
    if (tally_.overflows() || tally_.unknownKeys_.size() == Tally::kMaxUnknownKeys) return false;
    const bool named = fields.kind == EventFields::kUnknownName;
    const uint32_t found =
        named ? tally_.indexOfUnknownName(fields.category, name) : tally_.indexOfType(fields.category, fields.type);
    if (found != index) return false;  // a key that was there already
    if (!takeRoom(events[index])) return false;
  } else {
    return false;
  }
  current_ = index;
  events[index].count = fields.count;
  events[index].sum = wide(fields.sum);
  events[index].last = fields.last;
  return true;
}

bool TallyRestorer::restoreTransfers(const Section& section) {
  TransferFields fields{};
  if (!section.readFirst(offsetof(TransferFields, endedInPost), fields) || fields.direction > 1) return false;
  TransferTally& transfer = tally_.transfers_.at(fields.direction);
  if (transfer.count != 0 || !canSum(fields.count, wide(fields.sizeSum))) return false;
  if (!canSum(fields.count, wide(fields.durationSum))) return false;
  if (!std::isfinite(fields.throughputSum) || fields.throughputSum < 0) return false;
  const WideSum squares = wide(fields.flushSquares);
  if (std::max(fields.endedInPost, fields.countAtFlush) > fields.count) return false;
  if (squares > WideSum{fields.count} * fields.count) return false;
  transfer.count = fields.count;
  transfer.sizeSum = wide(fields.sizeSum);
  transfer.throughputSum = fields.throughputSum;
  transfer.endedInPost = fields.endedInPost;
  transfer.flushSquares = squares;
  transfer.countAtFlush = fields.countAtFlush;
  return true;
}

bool TallyRestorer::restoreClass(const Section& section) {
  SizeClassFields fields;
  if (!section.read(fields) || fields.direction > 1 || fields.index >= SizeClasses::kCount) return false;
  SizeClasses& classes = tally_.transfers_.at(fields.direction).classes;
  if (classes.find(fields.index) != nullptr) return false;
  for (const WideSum sum : {wide(fields.sizeSum), wide(fields.durationSum), wide(fields.postSum)}) {
    if (!canSum(fields.count, sum)) return false;
  }
  SizeClass& one = classes.at(fields.index);
  one.count = fields.count;
  one.sizeSum = wide(fields.sizeSum);
  one.durationSum = wide(fields.durationSum);
  one.postSum = wide(fields.postSum);
  currentClass_ = ClassIndex{fields.direction, fields.index}.number();
  return true;
}

bool TallyRestorer::restorePost(const Section& section) { return section.read(post_) && post_.hasPost <= 1; }

bool TallyRestorer::restoreRefused(const Section& section) {
  RefusedFields fields;
  if (!section.read(fields) || fields.count >= kMostValues) return false;
  return tally_.transfers_.refused.restore({fields.count, fields.cut, fields.flags});
}

// Returns the histogram that a section is for: that of the last event, one of the last class, or one of a direction.
std::optional<TallyRestorer::Target> TallyRestorer::targetOf(uint32_t of, uint32_t index) {
  if (of == HistogramOf::kEvent) {
    if (current_ >= tally_.events_.size()) return std::nullopt;
    EventTally& event = tally_.events_[current_];
    if (event.known && index != current_) return std::nullopt;
    eventFates_.resize(tally_.events_.size());
    return Target{event.buckets, &event.counts, &eventFates_[current_], static_cast<uint32_t>(current_)};
  }
  if (of == HistogramOf::kClassDurations || of == HistogramOf::kClassPosts) return targetOfClass(of, index);
  if (index > 1) return std::nullopt;
  TransferTally& transfer = tally_.transfers_.at(index);
  const TallyPlan& plan = tally_.plan();
  auto& fates = transferFates_[index];
  switch (of) {
    case HistogramOf::kSizes:
      return Target{&plan.sizeBuckets, &transfer.sizes, &fates[0], index};
    case HistogramOf::kDurations:
      return Target{plan.at(plan.transferBounds()), &none_, &fates[1], index};
    case HistogramOf::kThroughputs:
      return Target{&plan.throughputBuckets, &transfer.throughputs, &fates[2], index};
    default:
      return std::nullopt;
  }
}

std::optional<TallyRestorer::Target> TallyRestorer::targetOfClass(uint32_t of, uint32_t index) {
  if (index != currentClass_) return std::nullopt;
  const ClassIndex at = ClassIndex::of(index);
  SizeClass& one = tally_.transfers_.at(at.direction).classes.at(at.sizeClass);
  ClassFates& fates = classFates_[at.direction][at.sizeClass];
  const TallyPlan& plan = tally_.plan();
  if (of == HistogramOf::kClassDurations) {
    return Target{plan.at(plan.transferBounds()), &one.durations, &fates.durations, index};
  }
  return Target{plan.postBuckets(), &one.posts, &fates.posts, index};
}

bool TallyRestorer::restoreHistogram(const Section& section) {
  HistogramFields fields{};
  // A checkout before 0.1.0 stored no division.
  if (!section.readFirst(offsetof(HistogramFields, division), fields)) return false;
  const auto target = targetOf(fields.of, fields.index);
  if (!target || *target->fate != Fate::kAbsent || section.tail.size() % sizeof(uint32_t) != 0) return false;
  isSkipping_ = target->buckets == nullptr || fields.division != target->buckets->division() ||
                // A version without size classes counted here.
                (target->counts == &none_ && !section.tail.empty());
  *target->fate = isSkipping_ ? Fate::kOtherDivision : Fate::kRestored;
  if (isSkipping_) return true;
  std::vector<uint32_t> window(section.tail.size() / sizeof(uint32_t));
  if (!window.empty()) std::memcpy(window.data(), section.tail.data(), section.tail.size());
  if (window.empty() && fields.startTimeMs == 0) return false;
  if (fields.first + window.size() > BucketCounts::largest(*target->buckets)) return false;
  for (size_t i = 0; i < window.size(); ++i) {
    if (window[i] != 0 && fields.first + i >= target->buckets->count()) return false;
  }
  target->counts->restore(fields.first, window, {});
  if (fields.startTimeMs == 0) return true;
  if (fields.of > HistogramOf::kThroughputs) return false;
  const WideSum sum = wide(fields.sumBefore);
  if (!canBeTime(fields.startTimeMs) || (fields.countBefore == 0 ? sum != 0 : !canSum(fields.countBefore, sum))) {
    return false;
  }
  tally_.starts_.push_back({fields.of, target->index, fields.startTimeMs, fields.countBefore, sum, false});
  return true;
}

bool TallyRestorer::restoreCarry(const Section& section) {
  CarryFields fields;
  if (!section.read(fields) || fields.times == 0 || fields.times >> 32 != 0) return false;
  const auto target = targetOf(fields.of, fields.index);
  if (!target) return false;
  if (isSkipping_) return true;
  BucketCounts* const counts = target->counts;
  if (target->buckets == nullptr || fields.bucket >= target->buckets->count()) return false;
  if (fields.bucket - counts->first() >= counts->counts().size()) return false;
  std::vector<BucketCounts::Carry> carries = counts->carries();
  for (const BucketCounts::Carry& carry : carries) {
    if (carry.bucket == fields.bucket) return false;
  }
  carries.push_back({fields.bucket, fields.times});
  const std::vector<uint32_t> window(counts->counts().begin(), counts->counts().end());
  counts->restore(counts->first(), window, std::move(carries));
  return true;
}

// Begins the histograms at 0 that cannot go on. A number of values that does not fit is damage: readers would compute
// with it.
bool TallyRestorer::completeHistograms() {
  eventFates_.resize(tally_.events_.size());
  for (uint32_t i = 0; i < tally_.events_.size(); ++i) {
    if (!completeEvent(i)) return false;
  }
  if (!completeTimes() || !completePosts()) return false;
  for (const uint32_t direction : {0u, 1u}) {
    if (!completeTransfers(direction) || !completeClasses(direction)) return false;
  }
  return true;
}

bool TallyRestorer::completeEvent(uint32_t index) {
  EventTally& event = tally_.events_[index];
  if (event.buckets == nullptr || event.count == 0 || isTransferTime(event)) return true;
  if (eventFates_[index] == Fate::kRestored) {
    return totalOf(event.counts) + before(HistogramOf::kEvent, index) == event.count && isSumWithin(event, index);
  }
  beginAnew(HistogramOf::kEvent, index, event.counts, event.count, event.sum);
  return true;
}

// The durations of finished transfers are in the histograms of their classes only: all begin together.
bool TallyRestorer::completeTimes() {
  EventTally* const times = kXferTime < tally_.knownTypes_ ? &tally_.events_[kXferTime] : nullptr;
  const bool hasBuckets = times != nullptr && times->buckets != nullptr;
  bool isOther = hasBuckets && eventFates_[kXferTime] == Fate::kOtherDivision;
  for (const uint32_t direction : {0u, 1u}) {
    isOther |= transferFates_[direction][1] == Fate::kOtherDivision;
    for (const ClassFates& fates : classFates_[direction]) isOther |= fates.durations == Fate::kOtherDivision;
  }
  if (isOther) {
    for (const uint32_t direction : {0u, 1u}) {
      TransferTally& transfer = tally_.transfers_.at(direction);
      transfer.classes.each([](size_t, SizeClass& one) {
        one.durationSum = 0;
        one.durations.restore(0, {}, {});
      });
      beginAnew(HistogramOf::kDurations, direction, none_, transfer.count, 0);
    }
    if (!hasBuckets || times->count == 0) return true;
    // The end of the transfer under assembly takes its time out of this histogram, so its time is the first value here.
    const bool isPending = isBegun();
    if (isPending && times->sum < fields_->durationUs) return false;
    beginAnew(HistogramOf::kEvent, kXferTime, times->counts, times->count - (isPending ? 1 : 0),
              times->sum - (isPending ? fields_->durationUs : 0));
    if (isPending) times->counts.add(times->buckets->find(fields_->durationUs));
    return true;
  }
  WideSum values = 0;
  for (const uint32_t direction : {0u, 1u}) {
    const TransferTally& transfer = tally_.transfers_[direction];
    WideSum own = 0;
    transfer.classes.each([&](size_t, const SizeClass& one) { own += totalOf(one.durations); });
    if (own + before(HistogramOf::kDurations, direction) != transfer.count) return false;
    values += own;
  }
  if (!hasBuckets) return true;
  return values + totalOf(times->counts) + before(HistogramOf::kEvent, kXferTime) == times->count &&
         isSumWithin(*times, kXferTime);
}

// The posts of finished transfers are in the histograms of their classes only: all begin together.
bool TallyRestorer::completePosts() {
  if (kXferPostTime >= tally_.knownTypes_) return true;
  EventTally& posts = tally_.events_[kXferPostTime];
  const bool hasBuckets = posts.buckets != nullptr;
  WideSum values = 0;
  bool isOther = !hasBuckets || eventFates_[kXferPostTime] == Fate::kOtherDivision;
  for (const uint32_t direction : {0u, 1u}) {
    for (const ClassFates& fates : classFates_[direction]) isOther |= fates.posts == Fate::kOtherDivision;
    tally_.transfers_.at(direction).classes.each([&](size_t, SizeClass& one) { values += totalOf(one.posts); });
  }
  // The recorded tally had no such histogram.
  isOther |= values == 0 && eventFates_[kXferPostTime] == Fate::kAbsent;
  if (!isOther) {
    return values + totalOf(posts.counts) + before(HistogramOf::kEvent, kXferPostTime) == posts.count &&
           isSumWithin(posts, kXferPostTime);
  }
  for (const uint32_t direction : {0u, 1u}) {
    tally_.transfers_.at(direction).classes.each([](size_t, SizeClass& one) {
      one.postSum = 0;
      one.posts.restore(0, {}, {});
    });
  }
  if (!hasBuckets || posts.count == 0) return true;
  // As for the time of the transfer under assembly.
  const bool isPending = isPostPending();
  if (isPending && posts.sum < post_.postUs) return false;
  beginAnew(HistogramOf::kEvent, kXferPostTime, posts.counts, posts.count - (isPending ? 1 : 0),
            posts.sum - (isPending ? post_.postUs : 0));
  if (isPending) posts.counts.add(posts.buckets->find(post_.postUs));
  return true;
}

// False if a class has other numbers of values than of transfers, or the classes have more than their direction.
bool TallyRestorer::completeClasses(uint32_t direction) {
  const TransferTally& transfer = tally_.transfers_[direction];
  const bool isWhole = before(HistogramOf::kDurations, direction) == 0;
  WideSum transfers = 0;
  bool isSound = true;
  transfer.classes.each([&](size_t, const SizeClass& one) {
    transfers += one.count;
    const WideSum durations = totalOf(one.durations);
    isSound &= (isWhole ? durations == one.count : durations <= one.count) && totalOf(one.posts) <= one.count;
  });
  return isSound && transfers <= transfer.count;
}

bool TallyRestorer::completeTransfers(uint32_t direction) {
  TransferTally& transfer = tally_.transfers_.at(direction);
  const auto& fates = transferFates_[direction];
  if (fates[0] == Fate::kOtherDivision) {
    transfer.sizeSum = 0;
    beginAnew(HistogramOf::kSizes, direction, transfer.sizes, transfer.count, 0);
  }
  if (fates[2] == Fate::kOtherDivision) {
    transfer.throughputSum = 0;
    beginAnew(HistogramOf::kThroughputs, direction, transfer.throughputs, transfer.count, 0);
  }
  const auto values = [&](HistogramOf::Of of, const BucketCounts& counts) {
    return totalOf(counts) + before(of, direction);
  };
  return values(HistogramOf::kSizes, transfer.sizes) == transfer.count &&
         values(HistogramOf::kThroughputs, transfer.throughputs) <= transfer.count;
}

// False if the values before the histogram have a larger sum than all.
bool TallyRestorer::isSumWithin(const EventTally& event, size_t index) const {
  const HistogramStart* const start = tally_.startOf(HistogramOf::kEvent, index);
  return start == nullptr || start->sum <= event.sum;
}

uint64_t TallyRestorer::before(HistogramOf::Of of, size_t index) const {
  const HistogramStart* const start = tally_.startOf(of, index);
  return start == nullptr ? 0 : start->count;
}

// `count`, `sum`: of the values before.
void TallyRestorer::beginAnew(HistogramOf::Of of, uint32_t index, BucketCounts& counts, uint64_t count, WideSum sum) {
  counts.restore(0, {}, {});
  std::erase_if(tally_.starts_, [&](const HistogramStart& one) { return one.of == of && one.index == index; });
  if (count == 0) return;
  tally_.starts_.push_back({of, index, wallClockMs(), count, sum, true});
}

// The transfer under assembly has its time.
bool TallyRestorer::isBegun() const {
  return Transfers::Assembly{.stage = static_cast<Transfers::Assembly::Stage>(fields_->stage)}.isBegun();
}

// It has a post, which finish() moves to a class.
bool TallyRestorer::isPostPending() const {
  const bool isPosted = fields_->stage == static_cast<uint32_t>(Transfers::Assembly::Stage::kPost);
  return isPosted || (isBegun() && post_.hasPost != 0);
}

// The buckets of its times are indices, so they are computed again. Their counts are there: finish() takes them away.
bool TallyRestorer::restoreAssembly(const TallyFields& fields) {
  using Stage = Transfers::Assembly::Stage;
  if (fields.stage > static_cast<uint32_t>(Stage::kPost) || fields.direction > 1) return false;
  Transfers::Assembly assembly{.stage = static_cast<Stage>(fields.stage),
                               .hasPost = post_.hasPost != 0,
                               .openPosts = post_.openPosts,
                               .direction = fields.direction,
                               .postUs = post_.postUs,
                               .durationUs = fields.durationUs,
                               .bytes = fields.bytes};
  // False if the event was not counted.
  const auto findBucket = [&](uint32_t type, uint64_t us, size_t& found) {
    if (type >= tally_.knownTypes_ || tally_.events_[type].count == 0) return false;
    const EventTally& event = tally_.events_[type];
    if (event.buckets == nullptr) return true;
    found = event.buckets->find(us);
    bool counted = false;
    event.counts.each([&](size_t bucket, uint64_t) { counted |= bucket == found; });
    return counted;
  };
  if (isBegun() && !findBucket(kXferTime, fields.durationUs, assembly.durationBucket)) return false;
  if (isPostPending()) {
    if (!findBucket(kXferPostTime, post_.postUs, assembly.postBucket)) return false;
    if (tally_.events_[kXferPostTime].buckets == nullptr) {
      assembly.hasPost = false;
      if (!isBegun()) assembly.stage = Stage::kNothing;
    }
  }
  tally_.transfers_.assembly = assembly;
  return true;
}

}  // namespace nixl_otel
