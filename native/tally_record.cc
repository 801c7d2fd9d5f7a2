#include "tally_record.h"

namespace nixl_otel {
namespace {

constexpr uint64_t low(WideSum sum) { return static_cast<uint64_t>(sum); }
constexpr uint64_t high(WideSum sum) { return static_cast<uint64_t>(sum >> 64); }

EventFields fieldsOf(const EventTally& event) {
  return {.kind = event.known      ? EventFields::kKnown
                  : event.overflow ? EventFields::kOverflow
                  : event.named    ? EventFields::kUnknownName
                                   : EventFields::kUnknownType,
          .type = event.type,
          .category = event.category,
          .unused = 0,
          .count = event.count,
          .sum = {low(event.sum), high(event.sum)},
          .last = event.last};
}

TransferFields fieldsOf(const TransferTally& transfer, uint64_t direction) {
  return {.direction = direction,
          .count = transfer.count,
          .sizeSum = {low(transfer.sizeSum), high(transfer.sizeSum)},
          .durationSum = {low(transfer.durationSum), high(transfer.durationSum)},
          .throughputSum = transfer.throughputSum};
}

TallyFields fieldsOf(const Tally& tally) {
  const Transfers::Assembly& assembly = tally.assembly();
  return {.planDigest = tally.plan().digest,
          .startTimeMs = tally.startTimeMs(),
          .memoryInUse = {low(tally.memoryInUse()), high(tally.memoryInUse())},
          .memoryApproximate = tally.memoryApproximate(),
          .stage = static_cast<uint32_t>(assembly.stage),
          .direction = assembly.direction,
          .unused = 0,
          .durationUs = assembly.durationUs,
          .bytes = assembly.bytes};
}

// A number that differs if the event's counts do. A finished transfer moves a count of xfer_time to the transfers.
uint64_t changesOf(const Tally& tally, const EventTally& event) {
  const bool moves = event.known && event.type == kXferTime;
  return event.count + (moves ? tally.transmit().count + tally.receive().count : 0);
}

const TransferTally& transfersOf(const Tally& tally, size_t direction) {
  return direction == 0 ? tally.transmit() : tally.receive();
}

size_t histogramBytes(size_t buckets) {
  return buckets == 0 ? 0 : sectionBytes<HistogramFields>(buckets * sizeof(uint32_t));
}
size_t histogramBytes(const BucketCounts& counts) {
  return histogramBytes(counts.counts().size()) + counts.carries().size() * sectionBytes<CarryFields>();
}
size_t largestBytes(const Buckets& buckets) { return histogramBytes(BucketCounts::largest(buckets)); }

size_t bytesOf(const TransferTally& transfer) {
  if (transfer.count == 0) return 0;
  return sectionBytes<TransferFields>() + histogramBytes(transfer.sizes) + histogramBytes(transfer.durations) +
         histogramBytes(transfer.throughputs);
}

}  // namespace

size_t TallySections::largest(const EventTally& event) {
  return sectionBytes<EventFields>(kNameBytes) + (event.buckets == nullptr ? 0 : largestBytes(*event.buckets));
}

size_t TallySections::largest(const TallyPlan& plan) {
  size_t bytes = sectionBytes<TallyFields>();
  for (const uint32_t bounds : plan.options.typeBounds) {
    bytes += sectionBytes<EventFields>() + (plan.at(bounds) == nullptr ? 0 : largestBytes(*plan.at(bounds)));
  }
  const size_t transfers = sectionBytes<TransferFields>() + largestBytes(plan.sizeBuckets) +
                           largestBytes(*plan.at(plan.transferBounds())) + largestBytes(plan.throughputBuckets);
  return bytes + sectionBytes<EventFields>() + 2 * transfers;
}

size_t TallySections::bytes(const Tally& tally) {
  size_t bytes = sectionBytes<TallyFields>() + bytesOf(tally.transmit()) + bytesOf(tally.receive());
  for (const EventTally& event : tally.events()) {
    if (event.count == 0) continue;
    bytes +=
        event.known || event.overflow ? sectionBytes<EventFields>() + histogramBytes(event.counts) : largest(event);
  }
  return bytes;
}

TallySections::Window TallySections::addHistogram(SectionWriter& to, const std::byte* base, HistogramFields::Of of,
                                                  size_t index, const BucketCounts& counts) {
  const auto window = counts.counts();
  if (window.empty()) return {};
  const HistogramFields fields{of, static_cast<uint32_t>(index), static_cast<uint32_t>(counts.first()), 0};
  const std::byte* const fixed = to.add(SectionType::kHistogram, fields, std::as_bytes(window));
  for (const BucketCounts::Carry& carry : counts.carries()) {
    to.add(SectionType::kCarry, CarryFields{of, fields.index, carry.bucket, carry.times});
  }
  return {static_cast<size_t>(fixed - base) + sizeof fields, window.size(), counts.carryChanges()};
}

void TallySections::rewrite(SectionWriter& to, const std::byte* base, const Tally& tally) {
  place_ = static_cast<size_t>(to.add(SectionType::kTally, fieldsOf(tally)) - base);
  events_.assign(tally.events().size(), {});
  for (size_t i = 0; i < events_.size(); ++i) {
    const EventTally& event = tally.events()[i];
    if (event.count == 0) continue;
    Kept& kept = events_[i];
    kept.changes = changesOf(tally, event);
    kept.place =
        static_cast<size_t>(to.add(SectionType::kEvent, fieldsOf(event), std::as_bytes(std::span(event.name))) - base);
    kept.windows[0] = addHistogram(to, base, HistogramFields::kEvent, i, event.counts);
  }
  for (size_t direction : {0u, 1u}) {
    const TransferTally& transfer = transfersOf(tally, direction);
    Kept& kept = transfers_[direction] = {};
    if (transfer.count == 0) continue;
    kept.changes = transfer.count;
    kept.place = static_cast<size_t>(to.add(SectionType::kTransfers, fieldsOf(transfer, direction)) - base);
    kept.windows[0] = addHistogram(to, base, HistogramFields::kSizes, direction, transfer.sizes);
    kept.windows[1] = addHistogram(to, base, HistogramFields::kDurations, direction, transfer.durations);
    kept.windows[2] = addHistogram(to, base, HistogramFields::kThroughputs, direction, transfer.throughputs);
  }
}

// False if the window became wider, or a count exceeded its 32 bits.
inline bool TallySections::copy(std::byte* base, const Window& window, const BucketCounts& counts) {
  const auto now = counts.counts();
  if (now.size() != window.buckets || counts.carryChanges() != window.carryChanges) return false;
  if (!now.empty()) std::memcpy(base + window.place, now.data(), now.size_bytes());
  return true;
}

bool TallySections::update(std::byte* base, const Tally& tally) {
  if (tally.events().size() != events_.size()) return false;
  storeField(base + place_, 0, fieldsOf(tally));
  for (size_t i = 0; i < events_.size(); ++i) {
    const EventTally& event = tally.events()[i];
    Kept& kept = events_[i];
    const uint64_t changes = changesOf(tally, event);
    if (changes == kept.changes) continue;
    if (kept.place == 0 || !copy(base, kept.windows[0], event.counts)) return false;
    storeField(base + kept.place, 0, fieldsOf(event));
    kept.changes = changes;
  }
  for (size_t direction : {0u, 1u}) {
    const TransferTally& transfer = transfersOf(tally, direction);
    Kept& kept = transfers_[direction];
    if (transfer.count == kept.changes) continue;
    if (kept.place == 0 || !copy(base, kept.windows[0], transfer.sizes) ||
        !copy(base, kept.windows[1], transfer.durations) || !copy(base, kept.windows[2], transfer.throughputs)) {
      return false;
    }
    storeField(base + kept.place, 0, fieldsOf(transfer, direction));
    kept.changes = transfer.count;
  }
  return true;
}

}  // namespace nixl_otel
