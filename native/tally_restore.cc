#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tally_record.h"

namespace nixl_otel {
namespace {

constexpr WideSum wide(const uint64_t (&halves)[2]) { return WideSum{halves[1]} << 64 | halves[0]; }

// True if so many u64 values can have been counted, with this sum.
constexpr bool canSum(uint64_t values, WideSum sum) {
  return values != 0 && values < kMostValues && sum <= WideSum{values} * UINT64_MAX;
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

bool TallyRestorer::restore(std::span<const Section> sections, std::string& reason) {
  for (const Section& section : sections) {
    bool good = true;
    if (section.type == SectionType::kTally) good = restoreTally(section);
    if (section.type == SectionType::kEvent) good = restoreEvent(section);
    if (section.type == SectionType::kTransfers) good = restoreTransfers(section);
    if (section.type == SectionType::kHistogram) good = restoreHistogram(section);
    if (section.type == SectionType::kCarry) good = restoreCarry(section);
    if (good) continue;
    reason = "its section of type " + std::to_string(static_cast<int>(section.type)) + " is damaged";
    return false;
  }
  if (!fields_) return reason = "it has no sums", false;
  if (!addsUp()) return reason = "its histograms do not have as many values as were counted", false;
  if (!restoreAssembly(*fields_)) return reason = "its unfinished transfer cannot be one", false;
  return true;
}

bool TallyRestorer::restoreTally(const Section& section) {
  TallyFields fields;
  if (fields_ || !section.read(fields)) return false;
  // Not beyond the year 2286: readers convert it to nanoseconds.
  if (!(fields.startTimeMs > 0 && fields.startTimeMs < 1e13)) return false;
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
  if (fields.kind == EventFields::kKnown) {
    if (fields.type >= tally_.knownTypes_ || events[fields.type].count != 0) return false;
    index = fields.type;
  } else if (fields.kind == EventFields::kOverflow) {
    if (tally_.overflows() || tally_.addOverflow() != index) return false;
  } else if (fields.kind == EventFields::kUnknownName || fields.kind == EventFields::kUnknownType) {
    if (tally_.overflows() || tally_.unknownKeys_.size() == Tally::kMaxUnknownKeys) return false;
    const bool named = fields.kind == EventFields::kUnknownName;
    const uint32_t found =
        named ? tally_.indexOfUnknownName(fields.category, name) : tally_.indexOfType(fields.category, fields.type);
    if (found != index) return false;  // a key that was there already
  } else {
    return false;
  }
  events[index].count = fields.count;
  events[index].sum = wide(fields.sum);
  events[index].last = fields.last;
  return true;
}

bool TallyRestorer::restoreTransfers(const Section& section) {
  TransferFields fields;
  if (!section.read(fields) || fields.direction > 1) return false;
  TransferTally& transfer = tally_.transfers_.at(fields.direction);
  if (transfer.count != 0 || !canSum(fields.count, wide(fields.sizeSum))) return false;
  if (!canSum(fields.count, wide(fields.durationSum))) return false;
  if (!std::isfinite(fields.throughputSum) || fields.throughputSum < 0) return false;
  transfer.count = fields.count;
  transfer.sizeSum = wide(fields.sizeSum);
  transfer.durationSum = wide(fields.durationSum);
  transfer.throughputSum = fields.throughputSum;
  return true;
}

// Returns the counts to which a histogram belongs, and the division of their values, or nullptr.
BucketCounts* TallyRestorer::countsOf(uint32_t of, uint32_t index, const Buckets*& buckets) {
  if (of == HistogramFields::kEvent) {
    if (index >= tally_.events_.size()) return nullptr;
    buckets = tally_.events_[index].buckets;
    return buckets == nullptr ? nullptr : &tally_.events_[index].counts;
  }
  if (index > 1) return nullptr;
  TransferTally& transfer = tally_.transfers_.at(index);
  const TallyPlan& plan = tally_.plan();
  switch (of) {
    case HistogramFields::kSizes:
      buckets = &plan.sizeBuckets;
      return &transfer.sizes;
    case HistogramFields::kDurations:
      buckets = plan.at(plan.transferBounds());
      return &transfer.durations;
    case HistogramFields::kThroughputs:
      buckets = &plan.throughputBuckets;
      return &transfer.throughputs;
    default:
      return nullptr;
  }
}

bool TallyRestorer::restoreHistogram(const Section& section) {
  HistogramFields fields;
  if (!section.read(fields) || section.tail.empty() || section.tail.size() % sizeof(uint32_t) != 0) return false;
  const Buckets* buckets = nullptr;
  BucketCounts* const counts = countsOf(fields.of, fields.index, buckets);
  if (counts == nullptr || !counts->counts().empty()) return false;
  std::vector<uint32_t> window(section.tail.size() / sizeof(uint32_t));
  std::memcpy(window.data(), section.tail.data(), section.tail.size());
  if (fields.first + window.size() > BucketCounts::largest(*buckets)) return false;
  for (size_t i = 0; i < window.size(); ++i) {
    if (window[i] != 0 && fields.first + i >= buckets->count()) return false;
  }
  counts->restore(fields.first, window, {});
  return true;
}

bool TallyRestorer::restoreCarry(const Section& section) {
  CarryFields fields;
  if (!section.read(fields) || fields.times == 0 || fields.times >> 32 != 0) return false;
  const Buckets* buckets = nullptr;
  BucketCounts* const counts = countsOf(fields.of, fields.index, buckets);
  if (counts == nullptr || fields.bucket >= buckets->count()) return false;
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

// A number of values that does not fit is damage: readers would compute with it.
bool TallyRestorer::addsUp() const {
  for (const EventTally& event : tally_.events_) {
    WideSum total = 0;
    tally_.eachCount(event, [&](size_t, uint64_t count) { total += count; });
    if (event.buckets != nullptr && total != event.count) return false;
  }
  for (const TransferTally* transfer : {&tally_.transmit(), &tally_.receive()}) {
    if (totalOf(transfer->sizes) != transfer->count || totalOf(transfer->durations) != transfer->count) return false;
    if (totalOf(transfer->throughputs) > transfer->count) return false;
  }
  return true;
}

// The bucket of the transfer's time is an index, so it is computed again. Its count is there: finish() takes it away.
bool TallyRestorer::restoreAssembly(const TallyFields& fields) {
  using Stage = Transfers::Assembly::Stage;
  if (fields.stage == 0) return true;
  if (fields.stage > static_cast<uint32_t>(Stage::kBytes) || fields.direction > 1) return false;
  if (kXferTime >= tally_.knownTypes_) return false;
  const EventTally& times = tally_.events_[kXferTime];
  Transfers::Assembly assembly{.stage = static_cast<Stage>(fields.stage),
                               .direction = fields.direction,
                               .durationUs = fields.durationUs,
                               .bytes = fields.bytes};
  if (times.count == 0) return false;
  if (times.buckets != nullptr) {
    assembly.durationBucket = times.buckets->find(fields.durationUs);
    bool counted = false;
    times.counts.each([&](size_t bucket, uint64_t) { counted |= bucket == assembly.durationBucket; });
    if (!counted) return false;
  }
  tally_.transfers_.assembly = assembly;
  return true;
}

}  // namespace nixl_otel
