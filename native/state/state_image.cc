#include "state/state_image.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "posix/posix.h"
#include "state/tally_record.h"

namespace nixl_otel {
namespace {

template <typename T>
T load(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

StateFault damaged(std::string& reason, const char* what) {
  reason = what;
  return StateFault::kDamaged;
}

}  // namespace

std::optional<BootId> currentBoot() {
  static const std::optional<BootId> boot = []() -> std::optional<BootId> {
    const FileDescriptor fd(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
    char text[37] = {};
    if (!fd.valid() || ::read(fd.get(), text, 36) != 36) return std::nullopt;
    BootId id{};
    size_t digits = 0;
    for (const char c : text) {
      const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
      if (digit < 0) continue;
      id[digits / 2] = static_cast<uint8_t>(id[digits / 2] << 4 | digit);
      if (++digits == 2 * id.size()) return id;
    }
    return std::nullopt;
  }();
  return boot;
}

StateFault findHalf(std::span<const std::byte> bytes, const BootId& boot, StateHalf& half, std::string& reason) {
  if (bytes.empty()) return StateFault::kEmpty;
  if (bytes.size() < StateHead::kBytes) return damaged(reason, "it is cut");
  const auto head = load<StateHead>(bytes, 0);
  half.word = load<StateWord>(bytes, StateHead::kWordOffset);
  if (head.magic != StateHead::kMagic) return damaged(reason, "it is no state file");
  if (head.layout != StateHead::kLayout) {
    reason = "it has layout " + std::to_string(head.layout) + ", and this version reads layout " +
             std::to_string(StateHead::kLayout);
    return StateFault::kOtherLayout;
  }
  if (std::memcmp(head.boot, boot.data(), boot.size()) != 0) {
    reason = "it was written before the machine's last boot";
    return StateFault::kOtherBoot;
  }
  if (half.word.value == 0) {
    reason = "nothing was committed to it";
    return StateFault::kEmpty;
  }
  half.place = head.halves[half.word.half()];
  const StatePlace& place = half.place;
  if (place.offset < StateHead::kBytes || place.offset % 8 != 0)
    return damaged(reason, "its half begins at a wrong place");
  if (uint64_t{place.offset} + place.bytes > bytes.size()) return damaged(reason, "it is cut");
  if (place.bytes < sizeof(HalfHead) || place.bytes > kMostHalfBytes)
    return damaged(reason, "its half has a wrong size");
  const auto halfHead = load<HalfHead>(bytes, place.offset);
  if (halfHead.sequence != half.word.sequence()) return damaged(reason, "its half is of another commit");
  if (halfHead.bytes < sizeof(HalfHead) || halfHead.bytes > place.bytes) {
    return damaged(reason, "its half has a wrong length");
  }
  const auto sections = bytes.subspan(place.offset, halfHead.bytes).subspan(sizeof(HalfHead));
  if (!readSections(sections, half.sections)) return damaged(reason, "a section has a wrong length");
  return StateFault::kNone;
}

StateFault readImage(std::span<const std::byte> bytes, const BootId& boot, const std::shared_ptr<const TallyPlan>& plan,
                     size_t keyRoom, StateImage& image, std::string& reason) {
  StateHalf half;
  if (const StateFault fault = findHalf(bytes, boot, half, reason); fault != StateFault::kNone) return fault;
  if (!AgentSections::restore(half.sections, image.agent, reason)) return StateFault::kDamaged;
  std::vector<RingRecord>& rings = image.agent.rings;
  for (size_t i = 0; i < rings.size(); ++i) rings[i].drain.rested = half.word.rested(i);
  image.word = half.word;
  image.place = half.place;
  image.tally = std::make_unique<Tally>(plan);
  if (TallyRestorer(*image.tally, keyRoom).restore(half.sections, reason)) return StateFault::kNone;
  return StateFault::kDamaged;
}

}  // namespace nixl_otel
