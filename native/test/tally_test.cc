#include "tally.h"

#include <memory>
#include <vector>

#include "check.h"
#include "ring_event.h"

using namespace nixl_otel;

namespace {

std::shared_ptr<const TallyPlan> plan() {
  TallyOptions o;
  for (uint32_t type = 0; type < 21; ++type) {
    const int32_t category = type < 4 ? kTransfer : type < 6 ? kMemory : type < 8 ? kPerformance : kError;
    o.typeCategories.push_back(type == kEventsDropped ? kSystem : category);
  }
  o.typeNames = {{"agent_tx_bytes", kTxBytes}};
  o.durationBoundsUs = {10, 99.5, 1000};
  o.sizeBounds = {100, 10000};
  o.throughputBounds = {1e6, 1e9};
  return std::make_shared<const TallyPlan>(o);
}

void fold(Tally& tally, const RingLayout& layout, const std::vector<RingEvent>& events, bool gapAfter = false) {
  std::vector<std::byte> slots(events.size() * layout.slot.size);
  for (size_t i = 0; i < events.size(); ++i) encodeSlot(layout.slot, slots.data() + i * layout.slot.size, events[i]);
  std::vector<TappedEvent> tapped;
  tally.fold({layout, slots.data(), static_cast<uint32_t>(events.size()), gapAfter, 0}, 0, tapped);
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

}  // namespace

TEST(sumsDoNotWrapAt64Bits) {
  Tally tally(plan());
  fold(tally, *releasedLayout(4), {typed(kTxBytes, UINT64_MAX), typed(kTxBytes, UINT64_MAX)});
  CHECK(tally.events()[kTxBytes].sum == WideSum{UINT64_MAX} * 2);
  CHECK_EQ(tally.events()[kTxBytes].last, UINT64_MAX);
}

TEST(valuesFallIntoTheBucketWhoseBoundTheyDoNotPass) {
  Tally tally(plan());
  fold(tally, *releasedLayout(4),
       {typed(kXferTime, 0), typed(kXferTime, 10), typed(kXferTime, 11), typed(kXferTime, 99), typed(kXferTime, 100),
        typed(kXferTime, 1000), typed(kXferTime, 1001), typed(kXferTime, UINT64_MAX)});
  CHECK(tally.events()[kXferTime].durations == (std::vector<uint64_t>{2, 2, 2, 2}));
}

TEST(aTransferIsPutTogetherFromConsecutiveEventsOnly) {
  Tally tally(plan());
  const RingLayout& v4 = *releasedLayout(4);
  fold(tally, v4, {typed(kXferPostTime, 1), typed(kXferTime, 20), typed(kTxBytes, 5000)});
  fold(tally, v4, {typed(kTxRequests, 1)});
  CHECK_EQ(tally.transmit().count, 1u);
  fold(tally, v4, {typed(kXferTime, 20), typed(kRxBytes, 50), typed(kTxRequests, 1)});  // directions differ
  fold(tally, v4, {typed(kXferTime, 20), typed(kRxBytes, 50)}, true);                   // cut by a full ring
  fold(tally, v4, {typed(kRxRequests, 1)});
  CHECK_EQ(tally.transmit().count, 1u);
  CHECK_EQ(tally.receive().count, 0u);
  CHECK(tally.transmit().sizes == (std::vector<uint64_t>{0, 1, 0}));
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

TEST(unknownKeysEndUnderOneOverflowKey) {
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

TEST(namesAreKnownBySpellingAndCategory) {
  Tally tally(plan());
  fold(tally, *releasedLayout(1), {named("agent_tx_bytes", kTransfer, 7), named("agent_tx_bytes", kCustom, 9)});
  CHECK_EQ(tally.events()[kTxBytes].count, 1u);
  CHECK_EQ(tally.events().size(), 22u);
  CHECK_EQ(tally.events().back().name, std::string("agent_tx_bytes"));
}

int main() { return check::run("tally_test"); }
