// Sections of a half give back the tally that they were written from, and no other bytes do harm.
#include "tally_record.h"

#include <algorithm>

#include "random_tally.h"

using namespace nixl_otel;

namespace {

constexpr size_t kHalfBytes = 400'000;

using Bytes = std::vector<std::byte>;

Bytes written(const Tally& tally) {
  alignas(8) static std::byte half[kHalfBytes];
  std::fill(std::begin(half), std::end(half), std::byte{0});
  SectionWriter to(half, 0);
  TallySections().rewrite(to, tally);
  return {half, half + to.bytes()};
}

// Restores a tally, or returns the reason why the bytes are none.
std::string restored(const Bytes& bytes, Tally& tally) {
  std::vector<Section> sections;
  if (!readSections(bytes, sections)) return "a section leaves the half";
  std::string reason;
  return TallyRestorer(tally).restore(sections, reason) ? "" : reason;
}

uint64_t counted(const Tally& tally) {
  uint64_t all = 0;
  for (const EventTally& event : tally.events()) all += event.count;
  return all;
}

void foldTimes(Tally& tally, uint32_t type, uint64_t value, uint32_t times) {
  const RingLayout& layout = *releasedLayout(4);
  std::vector<std::byte> slots(times * layout.slot.size);
  RingEvent event;
  event.type = type;
  event.value = value;
  for (uint32_t i = 0; i < times; ++i) encodeSlot(layout.slot, slots.data() + i * layout.slot.size, event);
  std::vector<TappedEvent> tapped;
  tally.fold({layout, slots.data(), times, false, false, 0}, {}, tapped);
}

}  // namespace

TEST(restoresTalliesOfEachWireVersion) {
  for (const int32_t version : {1, 2, 3, 4, 5}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      RandomEvents events(version, seed);
      Tally tally(somePlan());
      events.fold(tally, 1 + static_cast<uint32_t>(seed * seed));
      if (seed % 4 == 0) tally.restart();
      Tally again(somePlan());
      const Bytes bytes = written(tally);
      CHECK(bytes.size() <= TallySections::bytes(tally));
      REQUIRE_EQ(restored(bytes, again), "");
      REQUIRE(sameTally(again, tally));
      // The restored tally counts on as the other one does.
      RandomEvents more = events;
      events.fold(tally, 50);
      more.fold(again, 50);
      REQUIRE(sameTally(again, tally));
    }
  }
}

// An update of a half that lags two commits behind leaves the same bytes as writing it anew.
TEST(updatesAllThatChanged) {
  for (const int32_t version : {1, 4}) {
    RandomEvents events(version, 3);
    Tally tally(somePlan());
    alignas(8) static std::byte half[kHalfBytes];
    std::fill(std::begin(half), std::end(half), std::byte{0});
    TallySections sections;
    uint32_t bytes = 0;
    int updates = 0;
    for (int i = 0; i < 400; ++i) {
      events.fold(tally, i % 7 == 0 ? 100 : 1);
      if (i % 5 == 0) foldTimes(tally, kTxRequests, 1, 2);  // leaves histograms as they are
      if (i % 2 != 0) continue;
      if (i == 0 || !sections.update(half, tally)) {
        SectionWriter to(half, 0);
        sections.rewrite(to, tally);
        bytes = to.bytes();
      } else {
        ++updates;
      }
      REQUIRE(written(tally) == Bytes(half, half + bytes));
    }
    CHECK(updates > 100);
  }
}

// The end of a transfer moves its time to another histogram, and counts no further time.
TEST(updatesTimesWhenATransferEnds) {
  Tally tally(somePlan());
  alignas(8) static std::byte half[kHalfBytes];
  TallySections sections;
  SectionWriter to(half, 0);
  for (const bool isKept : {false, true}) {
    foldTimes(tally, kXferTime, 50, 1);
    foldTimes(tally, kTxBytes, 4096, 1);
    if (isKept) sections.rewrite(to, tally);
    foldTimes(tally, kTxRequests, 1, 1);
  }
  REQUIRE_EQ(tally.transmit().count, 2u);
  CHECK(sections.update(half, tally));
  CHECK(written(tally) == Bytes(half, half + to.bytes()));
}

TEST(keepsCountsAbove32Bits) {
  Tally tally(somePlan());
  foldTimes(tally, kXferPostTime, 7, 1);
  Bytes bytes = written(tally);
  std::vector<Section> sections;
  REQUIRE(readSections(bytes, sections));
  const size_t bucket = somePlan()->at(0)->find(7);
  for (const Section& section : sections) {
    auto* const fixed = const_cast<std::byte*>(section.fixedPart.data());
    if (section.type == SectionType::kEvent) {
      fixedAt<EventFields>(fixed).count = UINT32_MAX;
    } else if (section.type == SectionType::kHistogram) {
      const size_t first = fixedAt<HistogramFields>(fixed).first;
      fixedAt<uint32_t>(fixed + sizeof(HistogramFields) + (bucket - first) * 4) = UINT32_MAX;
    }
  }
  Tally large(somePlan());
  REQUIRE_EQ(restored(bytes, large), "");
  foldTimes(large, kXferPostTime, 7, 3);
  CHECK_EQ(large.events()[kXferPostTime].counts.carries().size(), 1u);
  Tally again(somePlan());
  bytes = written(large);
  CHECK(bytes.size() <= TallySections::bytes(large));
  REQUIRE_EQ(restored(bytes, again), "");
  CHECK(sameTally(again, large));
  CHECK_EQ(again.events()[kXferPostTime].count, uint64_t{UINT32_MAX} + 3);
}

TEST(skipsWhatLaterVersionsAppend) {
  struct LaterTransfers {
    TransferFields fields;
    uint64_t more[3];
  };
  RandomEvents events(4, 1);
  Tally tally(somePlan());
  events.fold(tally, 100);
  const Bytes bytes = written(tally);
  std::vector<Section> sections;
  REQUIRE(readSections(bytes, sections));
  alignas(8) static std::byte half[kHalfBytes];
  SectionWriter to(half, 0);
  to.add<NoFields>(SectionType{9999}, bytes);
  for (const Section& section : sections) {
    TransferFields fields;
    if (section.type == SectionType::kTransfers) {
      REQUIRE(section.read(fields));
      to.add<LaterTransfers>(section.type) = {fields, {1, 2, 3}};
    } else {
      // A fixed part and its tail, as they are: the head says where the tail begins.
      std::byte* const head = half + to.bytes();
      Bytes both(section.fixedPart.begin(), section.fixedPart.end());
      both.insert(both.end(), section.tail.begin(), section.tail.end());
      to.add<NoFields>(section.type, both);
      fixedAt<SectionHead>(head).fixedBytes = static_cast<uint16_t>(section.fixedPart.size());
      fixedAt<SectionHead>(head).tailBytes = static_cast<uint32_t>(section.tail.size());
    }
  }
  Tally again(somePlan());
  REQUIRE_EQ(restored(Bytes(half, half + to.bytes()), again), "");
  CHECK(sameTally(again, tally));
}

TEST(survivesForgedAndCutSections) {
  RandomEvents events(1, 5);
  Tally tally(somePlan());
  events.fold(tally, 60);
  const Bytes good = written(tally);
  int refused = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    for (const uint8_t mask : {0x01, 0x80, 0xFF}) {
      Bytes forged = good;
      forged[i] ^= std::byte{mask};
      Tally into(somePlan());
      if (!restored(forged, into).empty()) {
        ++refused;
        continue;
      }
      // What is accepted can count on: indices and counts agree.
      foldTimes(into, kXferTime, 50, 3);
      foldTimes(into, kTxBytes, 50, 1);
      foldTimes(into, kTxRequests, 1, 1);
      Tally again(somePlan());
      CHECK_EQ(restored(written(into), again), "");
    }
    Tally into(somePlan());
    const Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(i));
    if (restored(cut, into).empty()) CHECK(counted(into) <= counted(tally));
  }
  CHECK(refused > static_cast<int>(good.size()));
}

// Each line changes one field of one section to a value that no tally has.
TEST(refusesEachFieldThatCannotBe) {
  RandomEvents events(4, 9);
  Tally tally(somePlan());
  events.fold(tally, 100);
  foldTimes(tally, kXferTime, 50, 1);  // a transfer is under assembly
  const Bytes good = written(tally);
  const auto refuses = [&](SectionType type, auto&& forge) {
    Bytes bytes = good;
    std::vector<Section> sections;
    readSections(bytes, sections);
    const auto found = std::find_if(sections.begin(), sections.end(), [&](const Section& s) { return s.type == type; });
    forge(const_cast<std::byte*>(found->fixedPart.data()));
    Tally into(somePlan());
    return !restored(bytes, into).empty();
  };
  const auto tallies = [&](auto&& forge) {
    return refuses(SectionType::kTally, [&](std::byte* at) { forge(fixedAt<TallyFields>(at)); });
  };
  const auto event = [&](auto&& forge) {
    return refuses(SectionType::kEvent, [&](std::byte* at) { forge(fixedAt<EventFields>(at)); });
  };
  const auto transfers = [&](auto&& forge) {
    return refuses(SectionType::kTransfers, [&](std::byte* at) { forge(fixedAt<TransferFields>(at)); });
  };
  const auto histogram = [&](auto&& forge) {
    return refuses(SectionType::kHistogram, [&](std::byte* at) { forge(fixedAt<HistogramFields>(at)); });
  };
  CHECK(!tallies([](TallyFields&) {}));
  CHECK(tallies([](TallyFields& f) { f.startTimeMs = -1; }));
  CHECK(tallies([](TallyFields& f) { f.startTimeMs = 1e300; }));
  CHECK(tallies([](TallyFields& f) { f.startTimeMs = std::nan(""); }));
  CHECK(tallies([](TallyFields& f) { f.stage = 3; }));
  CHECK(tallies([](TallyFields& f) { f.direction = 2; }));
  CHECK(tallies([](TallyFields& f) { f.durationUs = uint64_t{1} << 62; }));
  CHECK(event([](EventFields& f) { f.kind = 4; }));
  CHECK(event([](EventFields& f) { f.type = 10; }));
  CHECK(event([](EventFields& f) { f.type = kTxRequests; }));  // twice
  CHECK(event([](EventFields& f) { f.count = 0; }));
  CHECK(event([](EventFields& f) { f.sum[1] = f.count; }));
  CHECK(transfers([](TransferFields& f) { f.direction = 2; }));
  CHECK(transfers([](TransferFields& f) { ++f.count; }));
  CHECK(transfers([](TransferFields& f) { f.sizeSum[1] = f.count; }));
  CHECK(transfers([](TransferFields& f) { f.durationSum[1] = f.count; }));
  CHECK(transfers([](TransferFields& f) { f.throughputSum = std::nan(""); }));
  CHECK(histogram([](HistogramFields& f) { f.of = 4; }));
  CHECK(histogram([](HistogramFields& f) { f.index = kTxBytes; }));
  CHECK(histogram([](HistogramFields& f) { f.index = 1'000'000; }));
  CHECK(histogram([](HistogramFields& f) { f.first = 1024; }));
  CHECK(histogram([](HistogramFields& f) { f.first = UINT32_MAX; }));
}

int main() { return check::run("tally_record_test"); }
