// The content of a state file: read as a consumer does at its start, and as `list` does beside a live one. Inputs that
// begin with the magic number are whole files. Others are sections, behind a head that is right: so that the fuzzer
// need not find one.

#include "fuzzing.h"
#include "state/state_image.h"
#include "state/tally_record.h"

using namespace nixl_otel;

namespace {

std::vector<std::byte> withHead(const uint8_t* data, size_t size, const BootId& boot) {
  const auto bytes = static_cast<uint32_t>(sizeof(HalfHead) + size);
  const StateWord word = StateWord::of(3, 1, 1);
  StateHead head{.magic = StateHead::kMagic, .layout = StateHead::kLayout, .unused = 0, .boot = {}, .halves = {}};
  std::memcpy(head.boot, boot.data(), boot.size());
  head.halves[1] = {StateHead::kBytes, bytes};
  const HalfHead half{word.sequence(), bytes, 0};
  std::vector<std::byte> file(StateHead::kBytes + bytes);
  std::memcpy(file.data(), &head, sizeof head);
  std::memcpy(file.data() + StateHead::kWordOffset, &word, sizeof word);
  std::memcpy(file.data() + StateHead::kBytes, &half, sizeof half);
  if (size != 0) std::memcpy(file.data() + StateHead::kBytes + sizeof half, data, size);
  return file;
}

// The tally counts on: a forged index or window must not lead a later event astray.
void countOn(Tally& tally) {
  const RingLayout& layout = *releasedLayout(4);
  std::vector<std::byte> slots;
  for (const uint32_t type : {7u, 6u, 0u, 2u, 6u, 1u, 3u, 2u, 3u, 77u, 4u, 5u}) {
    RingEvent event;
    event.type = type;
    event.value = type == 2 || type == 3 ? 1 : 5000;
    slots.resize(slots.size() + layout.slot.size);
    encodeSlot(layout.slot, slots.data() + slots.size() - layout.slot.size, event);
  }
  std::vector<TappedEvent> tapped;
  tally.fold({layout, slots.data(), static_cast<uint32_t>(slots.size() / layout.slot.size), false, false, 0}, {},
             tapped);
}

// True if countOn() may bring a count to kMostValues, which does not restore. Only forged counts are so large.
bool nearLimits(const Tally& tally) {
  constexpr uint64_t most = kMostValues - 1000;
  bool near = tally.memoryInUse() > WideSum{most} * UINT64_MAX;
  for (const EventTally& event : tally.events()) near |= event.count > most;
  return near || tally.transmit().count > most || tally.receive().count > most;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const BootId boot{};
  uint64_t first = 0;
  if (size >= sizeof first) std::memcpy(&first, data, sizeof first);
  const auto* const bytes = reinterpret_cast<const std::byte*>(data);
  const std::vector<std::byte> file =
      first == StateHead::kMagic ? std::vector<std::byte>(bytes, bytes + size) : withHead(data, size, boot);
  StateImage image;
  std::string reason;
  const StateFault fault = readImage(file, boot, fuzzPlan(), kMostHalfBytes / 2, image, reason);
  EXPECT((fault == StateFault::kNone && image.tally != nullptr) == reason.empty());
  if (fault != StateFault::kNone || image.tally == nullptr) return 0;
  EXPECT(image.agent.rings.size() <= StateWord::kMostRings);
  for (int i = 0; i < 2; ++i) {
    countOf(*image.tally);
    alignas(8) static std::byte half[kMostHalfBytes];
    EXPECT(TallySections::bytes(*image.tally) <= sizeof half);
    SectionWriter to(half, 0);
    TallySections().rewrite(to, *image.tally);
    std::vector<Section> sections;
    EXPECT(readSections(std::span(half).first(to.bytes()), sections));
    Tally again(fuzzPlan());
    EXPECT(TallyRestorer(again).restore(sections, reason) || nearLimits(*image.tally));
    countOn(*image.tally);
  }
  return 0;
}
