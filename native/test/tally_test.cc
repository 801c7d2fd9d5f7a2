#include "tally/tally.h"

#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "check.h"
#include "random_tally.h"
#include "ring/ring_event.h"
#include "wire_versions.h"

using namespace nixl_otel;

namespace {

TallyOptions options() {
  TallyOptions o;
  for (uint32_t type = 0; type < 21; ++type) {
    const int32_t category = type < 4 ? kTransfer : type < 6 ? kMemory : type < 8 ? kPerformance : kError;
    o.typeCategories.push_back(type == kEventsDropped ? kSystem : category);
  }
  o.typeNames = {{"agent_tx_bytes", kTxBytes}};
  for (const int32_t category : o.typeCategories) {
    o.typeBounds.push_back(category == kPerformance ? 0 : TallyOptions::kNoBounds);
  }
  o.bounds = {{10, 99.5, 1000}};
  o.sizeBounds = {100, 10000};
  o.throughputBounds = {1e6, 1e9};
  return o;
}

std::shared_ptr<const TallyPlan> plan() { return std::make_shared<const TallyPlan>(options()); }

std::vector<TappedEvent> foldTapped(Tally& tally, const RingLayout& layout, const std::vector<RingEvent>& events,
                                    const TapWants& wants, bool gapAfter = false, bool gapBefore = false) {
  std::vector<std::byte> slots(events.size() * layout.slot.size);
  for (size_t i = 0; i < events.size(); ++i) encodeSlot(layout.slot, slots.data() + i * layout.slot.size, events[i]);
  std::vector<TappedEvent> tapped;
  tally.fold({layout, slots.data(), static_cast<uint32_t>(events.size()), gapBefore, gapAfter, 0}, wants, tapped);
  return tapped;
}

void fold(Tally& tally, const RingLayout& layout, const std::vector<RingEvent>& events, bool gapAfter = false) {
  foldTapped(tally, layout, events, {}, gapAfter);
}

RingEvent typed(uint32_t type, uint64_t value) {
  RingEvent event;
  event.type = type;
  event.value = value;
  return event;
}

RingEvent named(const std::string& name, int32_t category, uint64_t value) {
  RingEvent event;
  event.setName(name);
  event.category = category;
  event.value = value;
  return event;
}

std::vector<uint64_t> byBound(const Buckets& buckets, const BucketCounts& counts) {
  std::vector<uint64_t> sums(buckets.boundBuckets());
  counts.each([&](size_t bucket, uint64_t count) { sums[buckets.byBound(bucket)] += count; });
  return sums;
}

std::map<size_t, uint64_t> byBucket(const BucketCounts& counts) {
  std::map<size_t, uint64_t> filled;
  counts.each([&](size_t bucket, uint64_t count) { filled[bucket] = count; });
  return filled;
}

std::vector<uint64_t> byBound(const Tally& tally, const EventTally& event) {
  std::vector<uint64_t> sums(event.buckets->boundBuckets());
  tally.eachCount(event, [&](size_t bucket, uint64_t count) { sums[event.buckets->byBound(bucket)] += count; });
  return sums;
}

}  // namespace

TEST(sumsDoNotWrapAt64Bits) {
  Tally tally(plan());
  fold(tally, *releasedLayout(4), {typed(kTxBytes, UINT64_MAX), typed(kTxBytes, UINT64_MAX)});
  CHECK(tally.events()[kTxBytes].sum == WideSum{UINT64_MAX} * 2);
  CHECK_EQ(tally.events()[kTxBytes].last, UINT64_MAX);
}

// More events than a drain folds at once, because an observer folds a whole ring at once.
TEST(sumsOfManyLargeTransfersDoNotWrap) {
  constexpr uint64_t kTransfers = uint64_t{1} << 14;
  constexpr uint64_t kBytes = (uint64_t{1} << 51) - 1;
  constexpr uint64_t kPostUs = kBytes - 1, kUs = kBytes - 2;
  for (const bool posted : {false, true}) {
    std::vector<RingEvent> events;
    for (uint64_t i = 0; i < kTransfers; ++i) {
      if (posted) events.push_back(typed(kXferPostTime, kPostUs));
      events.push_back(typed(kXferTime, kUs));
      events.push_back(typed(kRxBytes, kBytes));
      events.push_back(typed(kRxRequests, 1));
    }
    Tally tally(plan());
    fold(tally, *releasedLayout(4), events);
    CHECK_EQ(tally.receive().count, kTransfers);
    CHECK(tally.receive().sizeSum == WideSum{kBytes} * kTransfers);
    CHECK(tally.receive().durationSum() == WideSum{kUs} * kTransfers);
    CHECK(tally.events()[kRxBytes].sum == WideSum{kBytes} * kTransfers);
    CHECK(tally.events()[kXferTime].sum == WideSum{kUs} * kTransfers);
    CHECK(tally.events()[kXferPostTime].sum == (posted ? WideSum{kPostUs} * kTransfers : 0));
  }
}

TEST(sharesOnePlanAmongEqualOptions) {
  auto one = planFor(options());
  CHECK(planFor(options()) == one);
  TallyOptions other = options();
  other.sizeBounds.push_back(1e6);
  CHECK(planFor(other) != one);
  CHECK(planFor(other)->options == other);
  TallyOptions bare;
  bare.typeCategories = {kTransfer};
  const auto completed = planFor(bare);
  CHECK(completed->options != bare);
  CHECK(planFor(bare) == completed);
  const std::weak_ptr<const TallyPlan> gone = one;
  one.reset();
  CHECK(gone.expired());
  CHECK(planFor(options())->options == options());
}

TEST(countsValuesByInclusiveUpperBound) {
  Tally tally(plan());
  fold(tally, *releasedLayout(4),
       {typed(kXferTime, 0), typed(kXferTime, 10), typed(kXferTime, 11), typed(kXferTime, 99), typed(kXferTime, 100),
        typed(kXferTime, 1000), typed(kXferTime, 1001), typed(kXferTime, UINT64_MAX)});
  CHECK(byBound(tally, tally.events()[kXferTime]) == (std::vector<uint64_t>{2, 2, 2, 2}));
}

TEST(assemblesTransferFromConsecutiveEventsOnly) {
  Tally tally(plan());
  const RingLayout& v4 = *releasedLayout(4);
  fold(tally, v4, {typed(kXferPostTime, 1), typed(kXferTime, 20), typed(kTxBytes, 5000)});
  fold(tally, v4, {typed(kTxRequests, 1)});
  CHECK_EQ(tally.transmit().count, 1u);
  fold(tally, v4, {typed(kXferTime, 20), typed(kRxBytes, 50), typed(kTxRequests, 1)});  // directions differ
  fold(tally, v4, {typed(kXferTime, 20), typed(kRxBytes, 50)}, true);                   // a gap follows
  fold(tally, v4, {typed(kRxRequests, 1)});
  CHECK_EQ(tally.transmit().count, 1u);
  CHECK_EQ(tally.receive().count, 0u);
  CHECK(byBound(tally.plan().sizeBuckets, tally.transmit().sizes) == (std::vector<uint64_t>{0, 1, 0}));
}

namespace {

using Events = std::vector<RingEvent>;

const Events kSent = {typed(kXferPostTime, 1), typed(kXferTime, 20), typed(kTxBytes, 50), typed(kTxRequests, 1)};
const Events kReceived = {typed(kXferPostTime, 1), typed(kXferTime, 20), typed(kRxBytes, 50), typed(kRxRequests, 1)};

// The first events of a transfer.
Events begun(const Events& transfer, ptrdiff_t events) { return {transfer.begin(), transfer.begin() + events}; }

// Number of refused events after a transfer was cut where the ring was full, and after the next event.
uint64_t refusedBetween(Tally& tally, const Events& cut, const Events& next, int32_t version = 4) {
  fold(tally, *releasedLayout(version), cut, true);
  CHECK_EQ(tally.refused().count(), 0u);  // the next event may continue the transfer
  fold(tally, *releasedLayout(version), next);
  return tally.refused().count();
}

}  // namespace

TEST(countsWhatCutTransfersLackAtFullRing) {
  const auto after = [](const Events& before, const Events& cut, const Events& next, int32_t version = 4) {
    Tally tally(plan());
    fold(tally, *releasedLayout(version), before);
    return refusedBetween(tally, cut, next, version);
  };
  Events both = kSent;
  both.insert(both.end(), kReceived.begin(), kReceived.end());
  CHECK_EQ(after(kSent, begun(kSent, 3), kSent), 1u);
  CHECK_EQ(after(kSent, begun(kSent, 3), {typed(kMemoryRegistered, 1)}), 1u);
  CHECK_EQ(after(both, begun(kReceived, 3), {typed(kTxRequests, 1)}), 1u);
  CHECK_EQ(after(both, begun(kReceived, 2), kSent), 2u);
  CHECK_EQ(after(kSent, begun(kSent, 3), kSent, 5), 1u);
  // What follows may be the end.
  CHECK_EQ(after(kSent, begun(kSent, 3), {typed(kTxRequests, 1)}), 0u);
  CHECK_EQ(after(both, begun(kReceived, 2), {typed(kRxBytes, 50)}), 0u);
  CHECK_EQ(after(both, begun(kReceived, 2), {typed(kTxRequests, 1)}), 0u);
  // The agent may have dropped the end before it reached the ring, and reports that.
  CHECK_EQ(after(kSent, begun(kSent, 3), {typed(kEventsDropped, 7)}), 0u);
  // An allowlist may leave out the end.
  CHECK_EQ(after({}, begun(kSent, 3), kSent), 0u);
  CHECK_EQ(after(kSent, begun(kReceived, 3), kReceived), 0u);
  CHECK_EQ(after(kSent, begun(kReceived, 2), kReceived), 0u);
  // The events of a transfer are not always adjacent.
  CHECK_EQ(after(kSent, begun(kSent, 3), kSent, 3), 0u);
  // Another producer writes between them.
  Events torn = kSent;
  torn.insert(torn.end(), kSent.begin(), kSent.end() - 1);
  torn.insert(torn.end(), kSent.begin(), kSent.end());
  CHECK_EQ(after(torn, begun(kSent, 3), kSent), 0u);
}

TEST(countsNoRefusedEventsOverForeignMoveOrRestart) {
  Tally moved(plan());
  const RingLayout& v4 = *releasedLayout(4);
  fold(moved, v4, kSent);
  fold(moved, v4, begun(kSent, 3), true);
  foldTapped(moved, v4, kSent, {}, false, true);  // a foreign consumer may have taken the end
  CHECK_EQ(moved.refused().count(), 0u);

  Tally restarted(plan());
  fold(restarted, v4, kSent);
  fold(restarted, v4, begun(kSent, 3), true);
  fold(restarted, v4, kSent);
  fold(restarted, v4, begun(kSent, 3), true);
  restarted.restart();
  fold(restarted, v4, begun(kSent, 3), true);  // now with an allowlist
  fold(restarted, v4, begun(kSent, 3));
  CHECK_EQ(restarted.refused().count(), 1u);
}

namespace {

bool sameSums(const EventTally& a, const EventTally& b) {
  return a.count == b.count && a.sum == b.sum && a.last == b.last && byBucket(a.counts) == byBucket(b.counts);
}

}  // namespace

// Tally folds whole transfers with separate code. Chunks of one event never reach that code.
TEST(countsWholeTransfersLikeSingleEvents) {
  const char* names[] = {"agent_tx_bytes",        "agent_rx_bytes",          "agent_tx_requests_num",
                         "agent_rx_requests_num", "agent_memory_registered", "agent_memory_deregistered",
                         "agent_xfer_time",       "agent_xfer_post_time"};
  TallyOptions knowing = options();
  knowing.typeNames.clear();
  for (uint32_t type = 0; type < std::size(names); ++type) knowing.typeNames.emplace_back(names[type], type);
  const auto shared = std::make_shared<const TallyPlan>(knowing);
  std::vector<RingEvent> events;
  const auto add = [&](uint32_t type, uint64_t value) {
    events.push_back(named(names[type], knowing.typeCategories[type], value));
    events.back().type = type;
  };
  std::mt19937_64 random(7);
  const uint64_t values[] = {0, 1, 10, 11, 1000, 123'456, (uint64_t{1} << 51) - 1, uint64_t{1} << 51, UINT64_MAX};
  const auto value = [&] { return random() % 2 == 0 ? random() % 100'000 : values[random() % std::size(values)]; };
  for (int i = 0; i < 3000; ++i) {
    const uint32_t direction = random() % 2;
    if (random() % 8 != 0) add(kXferPostTime, value());
    add(kXferTime, value());
    add(kTxBytes + direction, value());
    if (random() % 16 == 0) continue;  // the ring was full and refused the request
    add(kTxRequests + direction, random() % 16 == 0 ? 2 : 1);
    if (random() % 16 == 0) add(kMemoryRegistered, value());
  }
  for (const int32_t version : wireVersions()) {
    Tally whole(shared);
    Tally single(shared);
    fold(whole, *releasedLayout(version), events);
    for (const RingEvent& event : events) fold(single, *releasedLayout(version), {event});
    for (uint32_t type = 0; type < std::size(names); ++type) {
      CHECK(whole.events()[type].count > 0 || type == kMemoryDeregistered);
      CHECK(sameSums(whole.events()[type], single.events()[type]));
    }
    CHECK(whole.transmit().count > 1000 && whole.receive().count > 1000);
    CHECK(sameTransfers(whole.transmit(), single.transmit()));
    CHECK(sameTransfers(whole.receive(), single.receive()));
    CHECK(whole.refused().state() == single.refused().state());
  }
}

TEST(memoryInUseNeverFallsBelowZero) {
  Tally tally(plan());
  const RingLayout& v4 = *releasedLayout(4);
  fold(tally, v4, {typed(kMemoryRegistered, 100), typed(kMemoryDeregistered, 40)});
  CHECK(tally.memoryInUse() == 60);
  CHECK(!tally.memoryApproximate());
  fold(tally, v4, {typed(kMemoryDeregistered, 100)});
  CHECK(tally.memoryInUse() == 0);
  CHECK(tally.memoryApproximate());
  tally.restart();
  CHECK(!tally.memoryApproximate());
}

TEST(countsKeysAboveLimitUnderOneOverflowKey) {
  Tally tally(plan());
  constexpr uint32_t kEach = check::kSanitized ? 50'000 : 1'000'000;
  for (uint32_t i = 0; i < kEach; ++i) {
    fold(tally, *releasedLayout(1), {named("event-" + std::to_string(i), kBackend, 1)});
    fold(tally, *releasedLayout(4), {typed(1000 + i, 1)});
  }
  CHECK_EQ(tally.events().size(), 21u + Tally::kMaxUnknownKeys + 1);
  CHECK(tally.events().back().overflow);
  CHECK_EQ(tally.events().back().count, 2 * kEach - Tally::kMaxUnknownKeys);
}

TEST(matchesNamesBySpellingAndCategory) {
  Tally tally(plan());
  fold(tally, *releasedLayout(1), {named("agent_tx_bytes", kTransfer, 7), named("agent_tx_bytes", kCustom, 9)});
  CHECK_EQ(tally.events()[kTxBytes].count, 1u);
  CHECK_EQ(tally.events().size(), 22u);
  CHECK_EQ(tally.events().back().name, std::string("agent_tx_bytes"));
}

TEST(usesConfiguredHistogramBounds) {
  TallyOptions own = options();
  own.bounds.push_back({5, 50});
  own.bounds.push_back({1000});
  own.typeBounds[kXferTime] = 1;
  own.typeBounds[kMemoryRegistered] = 2;
  own.rules = {{.type = std::nullopt, .name = "queue_*", .category = kCustom, .bounds = 1},
               {.type = 77, .name = std::nullopt, .category = std::nullopt, .bounds = 2}};
  Tally tally(std::make_shared<const TallyPlan>(own));
  const RingLayout& v4 = *releasedLayout(4);
  fold(tally, v4, {typed(kXferPostTime, 20), typed(kXferTime, 20), typed(kTxBytes, 50), typed(kTxRequests, 1)});
  CHECK(byBound(tally, tally.events()[kXferPostTime]) == (std::vector<uint64_t>{0, 1, 0, 0}));
  CHECK(byBound(tally, tally.events()[kXferTime]) == (std::vector<uint64_t>{0, 1, 0}));
  CHECK(byBound(*tally.events()[kXferTime].buckets, durationsOf(tally.transmit())) == (std::vector<uint64_t>{0, 1, 0}));
  fold(tally, v4, {typed(kMemoryRegistered, 1001), typed(77, 5), typed(78, 5)});
  CHECK(byBound(tally, tally.events()[kMemoryRegistered]) == (std::vector<uint64_t>{0, 1}));
  CHECK(byBound(tally, tally.events()[21]) == (std::vector<uint64_t>{1, 0}));
  CHECK(tally.events()[22].buckets == nullptr);
  fold(tally, *releasedLayout(1), {named("queue_depth", kCustom, 7), named("queue_depth", kSystem, 7)});
  CHECK(byBound(tally, tally.events()[23]) == (std::vector<uint64_t>{0, 1, 0}));
  CHECK(tally.events()[24].buckets == nullptr);
}

// A transfer has a duration, even if the event of its time has no histogram.
TEST(countsDurationsOfTransfersWithoutHistogramOfTimes) {
  TallyOptions own = options();
  own.typeBounds[kXferTime] = TallyOptions::kNoBounds;
  Tally tally(std::make_shared<const TallyPlan>(own));
  fold(tally, *releasedLayout(4), {typed(kXferTime, 50), typed(kTxBytes, 50), typed(kTxRequests, 1)});
  CHECK(tally.events()[kXferTime].buckets == nullptr);
  CHECK(byBound(*tally.plan().at(0), durationsOf(tally.transmit())) == (std::vector<uint64_t>{0, 1, 0, 0}));
}

TEST(passesWantedEventsToTap) {
  Tally tally(plan());
  const std::vector<RingEvent> events = {typed(kXferTime, 20), typed(kTxBytes, 50), typed(kTxRequests, 1),
                                         typed(99, 4)};
  const RingLayout& v4 = *releasedLayout(4);
  const auto times = foldTapped(tally, v4, events, {.types = uint64_t{1} << kXferTime});
  CHECK_EQ(times.size(), 1u);
  CHECK_EQ(times[0].value, 20u);
  const auto before = static_cast<uint64_t>(wallClockMs() * 1e3);
  const auto all = foldTapped(tally, v4, events, {.all = true});
  CHECK_EQ(all.size(), 4u);
  CHECK_EQ(all[3].key, 21u);
  CHECK_EQ(all[3].agentId, tally.id());
  CHECK(all[0].timeUs >= before && all[0].timeUs <= static_cast<uint64_t>(wallClockMs() * 1e3));
  CHECK_EQ(tally.transmit().count, 2u);

  RingEvent dated = named("agent_tx_bytes", kTransfer, UINT64_MAX);
  dated.timestampUs = 1234;
  const auto old = foldTapped(tally, *releasedLayout(1), {dated, named("own", kCustom, 1)}, {.all = true});
  CHECK_EQ(old[0].timeUs, 1234u);
  CHECK_EQ(old[0].value, UINT64_MAX);
  CHECK_EQ(old[1].key, 22u);
}

int main() { return check::run("tally_test"); }
