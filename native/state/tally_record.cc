#include "state/tally_record.h"

namespace nixl_otel {
namespace {

constexpr uint64_t low(WideSum sum) { return static_cast<uint64_t>(sum); }
constexpr uint64_t high(WideSum sum) { return static_cast<uint64_t>(sum >> 64); }

void store(EventFields& to, const EventTally& event) {
  to.kind = event.known      ? EventFields::kKnown
            : event.overflow ? EventFields::kOverflow
            : event.named    ? EventFields::kUnknownName
                             : EventFields::kUnknownType;
  to.type = event.type;
  to.category = event.category;
  to.unused = 0;
  to.count = event.count;
  to.sum[0] = low(event.sum);
  to.sum[1] = high(event.sum);
  to.last = event.last;
}

void store(TransferFields& to, const TransferTally& transfer, uint64_t direction) {
  to.direction = direction;
  to.count = transfer.count;
  to.sizeSum[0] = low(transfer.sizeSum);
  to.sizeSum[1] = high(transfer.sizeSum);
  to.durationSum[0] = low(transfer.durationSum);
  to.durationSum[1] = high(transfer.durationSum);
  to.throughputSum = transfer.throughputSum;
}

void store(TallyFields& to, const Tally& tally) {
  const Transfers::Assembly& assembly = tally.assembly();
  to.unusedDigest = 0;
  to.startTimeMs = tally.startTimeMs();
  to.memoryInUse[0] = low(tally.memoryInUse());
  to.memoryInUse[1] = high(tally.memoryInUse());
  to.memoryApproximate = tally.memoryApproximate() ? 1 : 0;
  to.stage = static_cast<uint32_t>(assembly.stage);
  to.direction = assembly.direction;
  to.unused = 0;
  to.durationUs = assembly.durationUs;
  to.bytes = assembly.bytes;
}

void store(RefusedFields& to, const RefusedEvents::State& state) { to = {state.count, state.cut, state.flags}; }

// A number that differs if the event's counts do. A finished transfer moves a count of xfer_time to the transfers.
uint64_t changesOf(const Tally& tally, const EventTally& event) {
  const bool moves = event.known && event.type == kXferTime;
  return event.count + (moves ? tally.transmit().count + tally.receive().count : 0);
}

const TransferTally& transfersOf(const Tally& tally, size_t direction) {
  return direction == 0 ? tally.transmit() : tally.receive();
}

size_t histogramBytes(size_t buckets) { return sectionBytes<HistogramFields>(buckets * sizeof(uint32_t)); }
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
  size_t bytes = sectionBytes<TallyFields>() + sectionBytes<RefusedFields>();
  for (const uint32_t bounds : plan.options.typeBounds) {
    bytes += sectionBytes<EventFields>() + (plan.at(bounds) == nullptr ? 0 : largestBytes(*plan.at(bounds)));
  }
  const size_t transfers = sectionBytes<TransferFields>() + largestBytes(plan.sizeBuckets) +
                           largestBytes(*plan.at(plan.transferBounds())) + largestBytes(plan.throughputBuckets);
  return bytes + sectionBytes<EventFields>() + 2 * transfers;
}

size_t TallySections::bytes(const Tally& tally) {
  size_t bytes = sectionBytes<TallyFields>() + sectionBytes<RefusedFields>() + bytesOf(tally.transmit()) +
                 bytesOf(tally.receive());
  for (const EventTally& event : tally.events()) {
    if (event.count == 0) continue;
    bytes += event.known || event.overflow
                 ? sectionBytes<EventFields>() + (event.buckets == nullptr ? 0 : histogramBytes(event.counts))
                 : largest(event);
  }
  return bytes;
}

TallySections::Window TallySections::addHistogram(SectionWriter& to, const Tally& tally, HistogramOf::Of of,
                                                  size_t index, const Buckets* buckets, const BucketCounts& counts) {
  const auto window = counts.counts();
  const HistogramStart* const start = tally.startOf(of, index);
  if (buckets == nullptr || (window.empty() && start == nullptr)) return {};
  const auto place = static_cast<uint32_t>(to.offset() + sizeof(HistogramFields));
  HistogramFields fields{.of = of,
                         .index = static_cast<uint32_t>(index),
                         .first = static_cast<uint32_t>(counts.first()),
                         .unused = 0,
                         .division = buckets->division(),
                         .startTimeMs = 0,
                         .countBefore = 0,
                         .sumBefore = {}};
  if (start != nullptr) {
    fields.startTimeMs = start->timeMs;
    fields.countBefore = start->count;
    fields.sumBefore[0] = low(start->sum);
    fields.sumBefore[1] = high(start->sum);
  }
  to.add<HistogramFields>(SectionType::kHistogram, std::as_bytes(window)) = fields;
  for (const BucketCounts::Carry& carry : counts.carries()) {
    to.add<CarryFields>(SectionType::kCarry) = {of, fields.index, carry.bucket, carry.times};
  }
  return {place, static_cast<uint32_t>(window.size()), counts.carryChanges()};
}

void TallySections::rewrite(SectionWriter& to, const Tally& tally) {
  place_ = to.offset();
  store(to.add<TallyFields>(SectionType::kTally), tally);
  refused_ = to.offset();
  store(to.add<RefusedFields>(SectionType::kRefused), tally.refused().state());
  events_.assign(tally.events().size(), {});
  for (size_t i = 0; i < events_.size(); ++i) {
    const EventTally& event = tally.events()[i];
    if (event.count == 0) continue;
    KeptEvent& kept = events_[i];
    kept.changes = changesOf(tally, event);
    kept.place = to.offset();
    store(to.add<EventFields>(SectionType::kEvent, std::as_bytes(std::span(event.name))), event);
    kept.window = addHistogram(to, tally, HistogramOf::kEvent, i, event.buckets, event.counts);
  }
  const TallyPlan& plan = tally.plan();
  for (size_t direction : {0u, 1u}) {
    const TransferTally& transfer = transfersOf(tally, direction);
    KeptTransfers& kept = transfers_[direction] = {};
    if (transfer.count == 0) continue;
    kept.changes = transfer.count;
    kept.place = to.offset();
    store(to.add<TransferFields>(SectionType::kTransfers), transfer, direction);
    const auto add = [&](HistogramOf::Of of, const Buckets* buckets, const BucketCounts& counts) {
      return addHistogram(to, tally, of, direction, buckets, counts);
    };
    kept.sizes = add(HistogramOf::kSizes, &plan.sizeBuckets, transfer.sizes);
    kept.durations = add(HistogramOf::kDurations, plan.at(plan.transferBounds()), transfer.durations);
    kept.throughputs = add(HistogramOf::kThroughputs, &plan.throughputBuckets, transfer.throughputs);
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
  store(fixedAt<TallyFields>(base + place_), tally);
  store(fixedAt<RefusedFields>(base + refused_), tally.refused().state());
  for (size_t i = 0; i < events_.size(); ++i) {
    const EventTally& event = tally.events()[i];
    KeptEvent& kept = events_[i];
    const uint64_t changes = changesOf(tally, event);
    if (changes == kept.changes) continue;
    if (kept.place == 0 || !copy(base, kept.window, event.counts)) return false;
    store(fixedAt<EventFields>(base + kept.place), event);
    kept.changes = changes;
  }
  for (size_t direction : {0u, 1u}) {
    const TransferTally& transfer = transfersOf(tally, direction);
    KeptTransfers& kept = transfers_[direction];
    if (transfer.count == kept.changes) continue;
    if (kept.place == 0 || !copy(base, kept.sizes, transfer.sizes) || !copy(base, kept.durations, transfer.durations) ||
        !copy(base, kept.throughputs, transfer.throughputs)) {
      return false;
    }
    store(fixedAt<TransferFields>(base + kept.place), transfer, direction);
    kept.changes = transfer.count;
  }
  return true;
}

}  // namespace nixl_otel
