// Content of a state file as bytes on the heap, checked: a file is untrusted.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "state/agent_record.h"
#include "state/state_sections.h"
#include "tally/tally.h"

namespace nixl_otel {

using BootId = std::array<uint8_t, 16>;

// Returns the identity of the machine's current boot, or nullopt if /proc does not tell it.
std::optional<BootId> currentBoot();

enum class StateFault : uint8_t {
  kNone,
  kEmpty,        // nothing was committed to the file
  kOtherBoot,    // positions and processes of another boot mean nothing
  kOtherLayout,  // of another version of the package
  kDamaged,
};

// A half and its sections, which refer to the bytes that were read.
struct StateHalf {
  StateWord word;
  StatePlace place{};
  std::vector<Section> sections;
};

// Finds the valid half in the bytes of a file. Sets `reason` unless it returns kNone.
StateFault findHalf(std::span<const std::byte> bytes, const BootId& boot, StateHalf& half, std::string& reason);

struct StateImage {
  StateWord word;
  StatePlace place{};  // of the valid half
  AgentRecord agent;
  std::unique_ptr<Tally> tally;
};

// Reads the bytes of a file. Sets `reason` unless it returns kNone. `keyRoom`: bytes for the unknown keys of the tally.
StateFault readImage(std::span<const std::byte> bytes, const BootId& boot, const std::shared_ptr<const TallyPlan>& plan,
                     size_t keyRoom, StateImage& image, std::string& reason);

}  // namespace nixl_otel
