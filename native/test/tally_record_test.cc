// Sections of a half give back the tally that they were written from, and no other bytes do harm.
#include "state/tally_record.h"

#include <algorithm>

#include "random_tally.h"
#include "wire_versions.h"

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
  for (const int32_t version : wireVersions()) {
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
  for (uint64_t seed = 0; seed < 40; ++seed) {
    RandomEvents events(seed % 2 == 0 ? 1 : 4, seed);
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
    CHECK(updates > 50);
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

namespace {

// Values of the three histograms of times: the durations of finished transfers, and the others.
uint64_t timesIn(const Tally& tally) {
  uint64_t all = 0;
  tally.eachCount(tally.events()[kXferTime], [&](size_t, uint64_t count) { all += count; });
  return all;
}

uint64_t valuesIn(const BucketCounts& counts) {
  uint64_t all = 0;
  counts.each([&](size_t, uint64_t count) { all += count; });
  return all;
}

uint64_t before(const Tally& tally, HistogramOf::Of of, size_t index) {
  const HistogramStart* const start = tally.startOf(of, index);
  return start == nullptr ? 0 : start->count;
}

// Counts by the bounds that are shown.
std::vector<uint64_t> shown(const Buckets& buckets, const BucketCounts& counts) {
  std::vector<uint64_t> all(buckets.boundBuckets());
  counts.each([&](size_t bucket, uint64_t count) { all[buckets.byBound(bucket)] += count; });
  return all;
}

bool sameSums(const Tally& a, const Tally& b) {
  bool same = CHECK_EQ(a.events().size(), b.events().size());
  for (size_t i = 0; same && i < a.events().size(); ++i) {
    const EventTally &x = a.events()[i], &y = b.events()[i];
    same = CHECK_EQ(x.count, y.count) && CHECK(x.sum == y.sum) && CHECK_EQ(x.last, y.last) && CHECK_EQ(x.name, y.name);
  }
  return same && CHECK_EQ(a.transmit().count, b.transmit().count) && CHECK_EQ(a.receive().count, b.receive().count) &&
         CHECK(a.memoryInUse() == b.memoryInUse());
}

}  // namespace

// Other bounds to show are no other buckets if the plan kept them, in whichever direction the plan changes.
TEST(showsOtherBoundsOfTheSameCounts) {
  TallyOptions few = someOptions(), many = someOptions();
  for (TallyOptions* options : {&few, &many}) {
    options->keptBounds = {10, 99.5, 1000, 5000};
    options->keptSizeBounds = {100, 1000, 10000};
    options->keptThroughputBounds = {1e6, 1e7, 1e9};
  }
  many.bounds[0] = many.keptBounds;
  many.sizeBounds = many.keptSizeBounds;
  many.throughputBounds = many.keptThroughputBounds;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    RandomEvents events(seed % 2 == 0 ? 1 : 4, seed);
    Tally tally(planFor(few)), expected(planFor(many)), larger(planFor(many)), again(planFor(few));
    RandomEvents same = events;
    events.fold(tally, 60);
    same.fold(expected, 60);
    REQUIRE_EQ(restored(written(tally), larger), "");
    CHECK_EQ(larger.histogramStarts().size(), 0u);
    CHECK(sameSums(larger, tally));
    CHECK(shown(larger.plan().sizeBuckets, larger.transmit().sizes) ==
          shown(expected.plan().sizeBuckets, expected.transmit().sizes));
    CHECK(shown(larger.plan().throughputBuckets, larger.receive().throughputs) ==
          shown(expected.plan().throughputBuckets, expected.receive().throughputs));
    CHECK_EQ(timesIn(larger), timesIn(expected));
    REQUIRE_EQ(restored(written(larger), again), "");
    CHECK(sameTally(again, tally));
  }
}

// A histogram in other buckets begins at 0, and all else goes on: also a transfer that was not finished, and a second
// time.
TEST(beginsOnlyHistogramsOfOtherBuckets) {
  const auto durations = planFor([] {
    TallyOptions options = someOptions();
    options.bounds[0] = {20, 500};
    return options;
  }());
  const auto sizes = planFor([] {
    TallyOptions options = someOptions();
    options.bounds[0] = {20, 500};
    options.sizeBounds = {300, 70000};
    return options;
  }());
  for (uint64_t seed = 0; seed < 60; ++seed) {
    RandomEvents events(seed % 2 == 0 ? 1 : 4, seed);
    Tally tally(somePlan()), second(durations), third(sizes), again(sizes);
    events.fold(tally, 1 + static_cast<uint32_t>(seed));
    const bool isPending = seed % 3 == 0;
    if (isPending) {
      foldTimes(tally, kXferTime, 50, 1);
      foldTimes(tally, kTxBytes, 4096, 1);
    } else {
      foldTimes(tally, kMemoryRegistered, 1, 1);
    }
    const uint64_t times = tally.events()[kXferTime].count;
    REQUIRE_EQ(restored(written(tally), second), "");
    CHECK(sameSums(second, tally));
    if (isPending) CHECK_EQ(timesIn(second), 1u);
    CHECK_EQ(timesIn(second) + before(second, HistogramOf::kEvent, kXferTime), times);
    CHECK_EQ(valuesIn(durationsOf(second.transmit())), 0u);
    CHECK(second.transmit().durationSum() == 0);
    CHECK_EQ(valuesIn(second.transmit().sizes), second.transmit().count);
    CHECK(second.transmit().sizeSum == tally.transmit().sizeSum);
    CHECK_EQ(second.transmit().throughputSum, tally.transmit().throughputSum);
    const HistogramStart* const start = second.startOf(HistogramOf::kEvent, kXferTime);
    if (start != nullptr) CHECK(start->isNew && start->timeMs >= second.startTimeMs());

    const uint64_t sent = second.transmit().count;
    foldTimes(second, kTxRequests, 1, 1);
    CHECK_EQ(second.transmit().count, sent + (isPending ? 1 : 0));
    CHECK_EQ(valuesIn(durationsOf(second.transmit())), isPending ? 1u : 0u);
    CHECK(second.transmit().durationSum() == (isPending ? 50u : 0u));
    for (uint32_t i = 0; i < seed % 5; ++i) foldTimes(second, kXferTime, 7, 1);
    CHECK_EQ(timesIn(second), (isPending ? 1 : 0) + seed % 5);

    const Bytes bytes = written(second);
    CHECK(bytes.size() <= TallySections::bytes(second));
    REQUIRE_EQ(restored(bytes, third), "");
    CHECK(sameSums(third, second));
    CHECK_EQ(valuesIn(third.transmit().sizes), 0u);
    CHECK(third.transmit().sizeSum == 0);
    CHECK_EQ(timesIn(third), timesIn(second));
    if (start != nullptr) {
      const HistogramStart* const kept = third.startOf(HistogramOf::kEvent, kXferTime);
      REQUIRE(kept != nullptr);
      CHECK(!kept->isNew);
      CHECK_EQ(kept->timeMs, start->timeMs);
      CHECK_EQ(kept->count, start->count);
      CHECK(kept->sum == start->sum);
    }
    REQUIRE_EQ(restored(written(third), again), "");
    CHECK(sameTally(again, third));
  }
}

// Another version of the package knows other types.
TEST(continuesWithAnotherTableOfEvents) {
  TallyOptions fewer = someOptions();
  fewer.typeCategories.pop_back();
  fewer.typeBounds.pop_back();
  Tally tally(somePlan()), older(planFor(fewer)), newer(somePlan());
  for (const uint32_t type : {0u, 9u, 8u, 77u}) foldTimes(tally, type, 5, type + 1);
  REQUIRE_EQ(restored(written(tally), older), "");
  const auto found = std::find_if(older.events().begin(), older.events().end(),
                                  [](const EventTally& event) { return event.type == 9 && event.count != 0; });
  REQUIRE(found != older.events().end());
  CHECK(!found->known && found->category == kError && found->count == 10 && found->sum == 50);
  CHECK_EQ(counted(older), counted(tally));
  CHECK_EQ(valuesIn(older.events().back().counts), 78u);
  REQUIRE_EQ(restored(written(older), newer), "");
  CHECK_EQ(counted(newer), counted(tally));
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

// A count above 32 bits that no bucket has would appear when the histogram becomes wider.
TEST(refusesCarriesThatCannotBe) {
  Tally tally(somePlan());
  foldTimes(tally, kXferPostTime, 7, 1);
  const Bytes good = written(tally);
  const size_t bucket = somePlan()->at(0)->find(7);
  const auto with = [&](const std::vector<CarryFields>& carries, uint64_t count) {
    Bytes bytes = good;
    std::vector<Section> sections;
    readSections(bytes, sections);
    for (const Section& section : sections) {
      auto* const fixed = const_cast<std::byte*>(section.fixedPart.data());
      if (section.type == SectionType::kEvent) fixedAt<EventFields>(fixed).count = count;
    }
    alignas(8) static std::byte half[kHalfBytes];
    SectionWriter to(half, 0);
    for (const CarryFields& fields : carries) to.add<CarryFields>(SectionType::kCarry) = fields;
    bytes.insert(bytes.end(), half, half + to.bytes());
    Tally into(somePlan());
    return restored(bytes, into);
  };
  constexpr uint64_t kCarried = uint64_t{1} << 32;
  const CarryFields right{HistogramOf::kEvent, kXferPostTime, bucket, 1};
  const auto changed = [&](auto&& change) {
    CarryFields fields = right;
    change(fields);
    return fields;
  };
  CHECK_EQ(with({right}, kCarried + 1), "");
  CHECK(with({right}, 1) != "");
  CHECK(with({right, right}, kCarried + 1) != "");
  CHECK(with({changed([](CarryFields& f) { f.bucket += 100; })}, 1) != "");
  CHECK(with({changed([](CarryFields& f) { f.bucket = uint64_t{1} << 40; })}, 1) != "");
  CHECK(with({changed([](CarryFields& f) { f.times = 0; })}, 1) != "");
  CHECK(with({changed([](CarryFields& f) { f.times = kCarried; })}, 1) != "");
}

TEST(refusesTailsThatCannotBe) {
  Tally tally(somePlan());
  RandomEvents(1, 1).fold(tally, 100);
  for (const auto& [type, value] : {std::pair{kXferPostTime, 5}, {kXferTime, 50}, {kTxBytes, 4096}, {kTxRequests, 1}}) {
    foldTimes(tally, type, static_cast<uint64_t>(value), 1);
  }
  const Bytes good = written(tally);
  // Changes the first section that `forge` accepts.
  const auto refuses = [&](auto&& forge) {
    Bytes bytes = good;
    std::vector<Section> sections;
    readSections(bytes, sections);
    const bool isForged = std::any_of(sections.begin(), sections.end(), [&](const Section& section) {
      return forge(section, const_cast<std::byte*>(section.tail.data()));
    });
    Tally into(somePlan());
    return CHECK(isForged) && !restored(bytes, into).empty();
  };
  CHECK(refuses([](const Section& section, std::byte* tail) {
    if (section.type != SectionType::kEvent || section.tail.empty()) return false;
    tail[0] = std::byte{0};  // a name ends there
    return true;
  }));
  for (const uint32_t of :
       {HistogramOf::kSizes, HistogramOf::kThroughputs, HistogramOf::kClassDurations, HistogramOf::kClassPosts}) {
    CHECK(refuses([&](const Section& section, std::byte* tail) {
      HistogramFields fields;
      if (section.type != SectionType::kHistogram || !section.read(fields) || fields.of != of) return false;
      for (size_t i = 0; i < section.tail.size(); i += 4) {
        if (fixedAt<uint32_t>(tail + i) != 0) return ++fixedAt<uint32_t>(tail + i), true;
      }
      return false;
    }));
  }
}

TEST(refusesStartsOfHistogramsThatCannotBe) {
  TallyOptions other = someOptions();
  other.bounds[0] = {20, 500};
  const auto plan = planFor(other);
  Tally before(somePlan()), tally(plan);
  foldTimes(before, kXferPostTime, 100, 5);
  foldTimes(before, kMemoryRegistered, 1, 1);  // the last post belongs to no transfer
  REQUIRE_EQ(restored(written(before), tally), "");
  foldTimes(tally, kXferPostTime, 30, 2);
  const Bytes good = written(tally);
  const auto refuses = [&](auto&& forge) {
    Bytes bytes = good;
    std::vector<Section> sections;
    readSections(bytes, sections);
    for (const Section& section : sections) {
      if (section.type != SectionType::kHistogram) continue;
      forge(fixedAt<HistogramFields>(const_cast<std::byte*>(section.fixedPart.data())));
    }
    Tally into(plan);
    return !restored(bytes, into).empty();
  };
  CHECK(!refuses([](HistogramFields& f) { CHECK(f.countBefore == 5 && f.sumBefore[0] == 500); }));
  CHECK(refuses([](HistogramFields& f) { f.startTimeMs = 0; }));  // then the values before are missing
  CHECK(refuses([](HistogramFields& f) { f.startTimeMs = -1; }));
  CHECK(refuses([](HistogramFields& f) { f.startTimeMs = 1e14; }));
  CHECK(refuses([](HistogramFields& f) { f.startTimeMs = std::nan(""); }));
  CHECK(refuses([](HistogramFields& f) { ++f.countBefore; }));
  CHECK(refuses([](HistogramFields& f) { f.countBefore = UINT64_MAX; }));
  CHECK(refuses([](HistogramFields& f) { f.sumBefore[0] = 561; }));  // more than the event's
  CHECK(!refuses([](HistogramFields& f) { f.sumBefore[0] = 560; }));
  CHECK(refuses([](HistogramFields& f) { f.sumBefore[1] = 1; }));
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
  const auto sized = [&](auto&& forge) {
    return refuses(SectionType::kSizeClass, [&](std::byte* at) { forge(fixedAt<SizeClassFields>(at)); });
  };
  const auto post = [&](auto&& forge) {
    return refuses(SectionType::kPost, [&](std::byte* at) { forge(fixedAt<PostFields>(at)); });
  };
  const auto histogram = [&](auto&& forge) {
    return refuses(SectionType::kHistogram, [&](std::byte* at) { forge(fixedAt<HistogramFields>(at)); });
  };
  CHECK(!tallies([](TallyFields&) {}));
  CHECK(tallies([](TallyFields& f) { f.startTimeMs = -1; }));
  CHECK(tallies([](TallyFields& f) { f.startTimeMs = 1e300; }));
  CHECK(tallies([](TallyFields& f) { f.startTimeMs = std::nan(""); }));
  CHECK(tallies([](TallyFields& f) { f.memoryInUse[1] = uint64_t{1} << 63; }));
  CHECK(tallies([](TallyFields& f) { f.stage = 4; }));
  CHECK(tallies([](TallyFields& f) { f.direction = 2; }));
  CHECK(tallies([](TallyFields& f) { f.durationUs = uint64_t{1} << 62; }));
  CHECK(event([](EventFields& f) { f.kind = 4; }));
  CHECK(event([](EventFields& f) { f.type = kTxRequests; }));  // twice
  CHECK(event([](EventFields& f) { f.count = 0; }));
  CHECK(event([](EventFields& f) { f.count = kMostValues; }));
  CHECK(event([](EventFields& f) { f.sum[1] = f.count; }));
  CHECK(transfers([](TransferFields& f) { f.direction = 2; }));
  CHECK(transfers([](TransferFields& f) { ++f.count; }));
  CHECK(transfers([](TransferFields& f) { f.sizeSum[1] = f.count; }));
  CHECK(transfers([](TransferFields& f) { f.durationSum[1] = f.count; }));
  CHECK(transfers([](TransferFields& f) { f.throughputSum = std::nan(""); }));
  CHECK(transfers([](TransferFields& f) { f.endedInPost = f.count + 1; }));
  CHECK(transfers([](TransferFields& f) { f.countAtFlush = f.count + 1; }));
  CHECK(transfers([](TransferFields& f) { f.flushSquares[1] = 1; }));
  // Shorter than any version has written it: its sum of throughputs is missing.
  CHECK(refuses(SectionType::kTransfers, [](std::byte* at) {
    auto& head = fixedAt<SectionHead>(at - sizeof(SectionHead));
    head.tailBytes = head.fixedBytes - uint32_t{offsetof(TransferFields, throughputSum)};
    head.fixedBytes = offsetof(TransferFields, throughputSum);
  }));
  CHECK(sized([](SizeClassFields& f) { f.direction = 2; }));
  CHECK(sized([](SizeClassFields& f) { f.index = SizeClasses::kCount; }));
  CHECK(sized([](SizeClassFields& f) { f.count = 0; }));
  CHECK(sized([](SizeClassFields& f) { ++f.count; }));
  CHECK(sized([](SizeClassFields& f) { f.sizeSum[1] = f.count; }));
  CHECK(sized([](SizeClassFields& f) { f.durationSum[1] = f.count; }));
  CHECK(sized([](SizeClassFields& f) { f.postSum[1] = f.count; }));
  CHECK(post([](PostFields& f) { f.hasPost = 2; }));
  CHECK(histogram([](HistogramFields& f) { f.of = 6; }));
  CHECK(histogram([](HistogramFields& f) { f.index = kTxBytes; }));
  CHECK(histogram([](HistogramFields& f) { f.index = 1'000'000; }));
  CHECK(histogram([](HistogramFields& f) { f.first = 1024; }));
  CHECK(histogram([](HistogramFields& f) { f.first = UINT32_MAX; }));
}

int main() { return check::run("tally_record_test"); }
