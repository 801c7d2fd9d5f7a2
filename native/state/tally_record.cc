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
  const WideSum durationSum = transfer.durationSum();
  to.durationSum[0] = low(durationSum);
  to.durationSum[1] = high(durationSum);
  to.throughputSum = transfer.throughputSum;
  to.endedInPost = transfer.endedInPost;
  to.flushSquares[0] = low(transfer.flushSquares);
  to.flushSquares[1] = high(transfer.flushSquares);
  to.countAtFlush = transfer.countAtFlush;
}

void store(SizeClassFields& to, const SizeClass& one, uint32_t direction, size_t index) {
  to.direction = direction;
  to.index = static_cast<uint32_t>(index);
  to.count = one.count;
  to.sizeSum[0] = low(one.sizeSum);
  to.sizeSum[1] = high(one.sizeSum);
  to.durationSum[0] = low(one.durationSum);
  to.durationSum[1] = high(one.durationSum);
  to.postSum[0] = low(one.postSum);
  to.postSum[1] = high(one.postSum);
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

void store(PostFields& to, const Transfers::Assembly& assembly) {
  to = {assembly.postUs, assembly.openPosts, assembly.hasPost ? 1u : 0u};
}

void store(RefusedFields& to, const RefusedEvents::State& state) { to = {state.count, state.cut, state.flags}; }

// A number that differs if the event's counts do. A finished transfer moves a count of both times to its class.
uint64_t changesOf(const Tally& tally, const EventTally& event) {
  const bool moves = event.count != 0 && event.known && (event.type == kXferTime || event.type == kXferPostTime);
  return event.count + (moves ? tally.transmit().count + tally.receive().count : 0);
}
// The same for a direction. A flush is noted after its transfers.
uint64_t changesOf(const TransferTally& transfer) { return transfer.count + transfer.countAtFlush; }

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
  size_t bytes = sectionBytes<TransferFields>() + histogramBytes(transfer.sizes) + histogramBytes(0) +
                 histogramBytes(transfer.throughputs);
  transfer.classes.each([&](size_t, const SizeClass& one) {
    bytes += sectionBytes<SizeClassFields>() + histogramBytes(one.durations) + histogramBytes(one.posts);
  });
  return bytes;
}

}  // namespace

size_t TallySections::largest(const EventTally& event) {
  return sectionBytes<EventFields>(kNameBytes) + (event.buckets == nullptr ? 0 : largestBytes(*event.buckets));
}

size_t TallySections::largest(const TallyPlan& plan) {
  size_t bytes = sectionBytes<TallyFields>() + sectionBytes<PostFields>() + sectionBytes<RefusedFields>();
  for (const uint32_t bounds : plan.options.typeBounds) {
    bytes += sectionBytes<EventFields>() + (plan.at(bounds) == nullptr ? 0 : largestBytes(*plan.at(bounds)));
  }
  const Buckets* const posts = plan.postBuckets();
  const size_t sized = sectionBytes<SizeClassFields>() + largestBytes(*plan.at(plan.transferBounds())) +
                       (posts == nullptr ? 0 : largestBytes(*posts));
  const size_t transfers = sectionBytes<TransferFields>() + largestBytes(plan.sizeBuckets) + histogramBytes(0) +
                           largestBytes(plan.throughputBuckets) + SizeClasses::kCount * sized;
  return bytes + sectionBytes<EventFields>() + 2 * transfers;
}

size_t TallySections::bytes(const Tally& tally) {
  size_t bytes = sectionBytes<TallyFields>() + sectionBytes<PostFields>() + sectionBytes<RefusedFields>() +
                 bytesOf(tally.transmit()) + bytesOf(tally.receive());
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
  post_ = to.offset();
  store(to.add<PostFields>(SectionType::kPost), tally.assembly());
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
  for (const uint32_t direction : {0u, 1u}) addTransfers(to, tally, direction);
}

void TallySections::addTransfers(SectionWriter& to, const Tally& tally, uint32_t direction) {
  const TallyPlan& plan = tally.plan();
  const Buckets* const durations = plan.at(plan.transferBounds());
  const TransferTally& transfer = transfersOf(tally, direction);
  KeptTransfers& kept = transfers_[direction] = {};
  if (transfer.count == 0) return;
  kept.changes = changesOf(transfer);
  kept.place = to.offset();
  store(to.add<TransferFields>(SectionType::kTransfers), transfer, direction);
  kept.sizes = addHistogram(to, tally, HistogramOf::kSizes, direction, &plan.sizeBuckets, transfer.sizes);
  addHistogram(to, tally, HistogramOf::kDurations, direction, durations, {});  // its start, if it has one
  kept.throughputs =
      addHistogram(to, tally, HistogramOf::kThroughputs, direction, &plan.throughputBuckets, transfer.throughputs);
  transfer.classes.each([&](size_t index, const SizeClass& one) {
    KeptClass& keptClass = kept.classes[index];
    keptClass.changes = one.count;
    keptClass.place = to.offset();
    store(to.add<SizeClassFields>(SectionType::kSizeClass), one, direction, index);
    const uint32_t number = ClassIndex{direction, static_cast<uint32_t>(index)}.number();
    keptClass.durations = addHistogram(to, tally, HistogramOf::kClassDurations, number, durations, one.durations);
    keptClass.posts = addHistogram(to, tally, HistogramOf::kClassPosts, number, plan.postBuckets(), one.posts);
  });
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
  store(fixedAt<PostFields>(base + post_), tally.assembly());
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
  for (const uint32_t direction : {0u, 1u}) {
    if (!updateTransfers(base, transfersOf(tally, direction), direction, transfers_[direction])) return false;
  }
  return true;
}

bool TallySections::updateTransfers(std::byte* base, const TransferTally& transfer, uint32_t direction,
                                    KeptTransfers& kept) {
  if (changesOf(transfer) == kept.changes) return true;
  if (kept.place == 0 || !copy(base, kept.sizes, transfer.sizes) ||
      !copy(base, kept.throughputs, transfer.throughputs)) {
    return false;
  }
  store(fixedAt<TransferFields>(base + kept.place), transfer, direction);
  kept.changes = changesOf(transfer);
  bool fits = true;
  transfer.classes.each([&](size_t index, const SizeClass& one) {
    KeptClass& keptClass = kept.classes[index];
    if (!fits || one.count == keptClass.changes) return;
    fits = keptClass.place != 0 && copy(base, keptClass.durations, one.durations) &&
           copy(base, keptClass.posts, one.posts);
    if (!fits) return;
    store(fixedAt<SizeClassFields>(base + keptClass.place), one, direction, index);
    keptClass.changes = one.count;
  });
  return fits;
}

}  // namespace nixl_otel
