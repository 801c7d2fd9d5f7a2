// Layout of a tally in a state file: counts, exact sums, last values, histograms and transfers. A restored tally shows
// what the stored one showed. If it has another plan, it has all counts and sums; a histogram of another division
// begins at 0.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "state/state_sections.h"
#include "tally/tally.h"

namespace nixl_otel {

// The sections of a tally in one half of a state file. Knows what this half holds, so that only what changed since then
// is written.
class TallySections {
 public:
  // Bytes for this tally. Counts an unknown key with its largest size, which is reserved for it.
  static size_t bytes(const Tally& tally);
  // Bytes for any tally of this plan without unknown keys.
  static size_t largest(const TallyPlan& plan);
  // Largest bytes of an unknown key.
  static size_t largest(const EventTally& event);

  void rewrite(SectionWriter& to, const Tally& tally);
  // False if sections have to move, because a key was counted for the first time or a histogram became wider:
  // rewrite().
  bool update(std::byte* base, const Tally& tally);

 private:
  // Buckets of a histogram in this half.
  struct Window {
    uint32_t place = 0;
    uint32_t buckets = 0;
    uint32_t carryChanges = 0;
  };
  // An event in this half. It is up to date if `changes` equals the number of the tally. `place` is the offset of its
  // fixed part, 0 if the event was not counted.
  struct KeptEvent {
    uint64_t changes = 0;
    uint32_t place = 0;
    Window window;
  };
  // The same for a class. `changes`: its count.
  struct KeptClass {
    uint64_t changes = 0;
    uint32_t place = 0;
    Window durations, posts;
  };
  struct KeptTransfers {
    uint64_t changes = 0;
    uint32_t place = 0;
    Window sizes, throughputs;
    std::array<KeptClass, SizeClasses::kCount> classes;
  };

  void addTransfers(SectionWriter& to, const Tally& tally, uint32_t direction);
  static bool updateTransfers(std::byte* base, const TransferTally& transfer, uint32_t direction, KeptTransfers& kept);
  static Window addHistogram(SectionWriter& to, const Tally& tally, HistogramOf::Of of, size_t index,
                             const Buckets* buckets, const BucketCounts& counts);
  static bool copy(std::byte* base, const Window& window, const BucketCounts& counts);

  uint32_t place_ = 0;
  uint32_t post_ = 0;
  uint32_t refused_ = 0;
  std::vector<KeptEvent> events_;
  KeptTransfers transfers_[2];
};

// Number of a class of a direction in the index of a histogram.
struct ClassIndex {
  uint32_t direction;
  uint32_t sizeClass;
  uint32_t number() const { return direction << 16 | sizeClass; }
  static ClassIndex of(uint32_t number) { return {number >> 16, number & 0xFFFF}; }
};

// A state file with this count, or a larger one, is damaged: a machine counts for a thousand years to get there. So
// sums cannot overflow after a restart.
inline constexpr uint64_t kMostValues = uint64_t{1} << 60;

// Restores a tally from the sections of a half. The plan may be another one than that of the recorded tally.
class TallyRestorer {
 public:
  // `tally` has counted nothing. `keyRoom`: bytes for unknown keys, see TallySections::largest().
  explicit TallyRestorer(Tally& tally, size_t keyRoom = SIZE_MAX) : tally_(tally), keyRoom_(keyRoom) {}
  // False and `reason` if the sections cannot be those of a tally: a file is untrusted. Then the tally is of no use.
  bool restore(std::span<const Section> sections, std::string& reason);

 private:
  // What became of a histogram.
  enum class Fate : uint8_t { kAbsent, kRestored, kOtherDivision };
  struct Target {
    const Buckets* buckets = nullptr;  // nullptr: the plan has no such histogram
    BucketCounts* counts = nullptr;
    Fate* fate = nullptr;
    uint32_t index = 0;  // in the tally
  };

  bool restoreTally(const Section& section);
  bool restoreEvent(const Section& section);
  bool takeRoom(EventTally& key);
  bool restoreTransfers(const Section& section);
  bool restoreClass(const Section& section);
  bool restorePost(const Section& section);
  bool restoreRefused(const Section& section);
  bool restoreHistogram(const Section& section);
  bool restoreCarry(const Section& section);
  std::optional<Target> targetOf(uint32_t of, uint32_t index);
  std::optional<Target> targetOfClass(uint32_t of, uint32_t index);
  bool completeHistograms();
  bool completeEvent(uint32_t index);
  bool completeTimes();
  bool completePosts();
  bool completeClasses(uint32_t direction);
  bool completeTransfers(uint32_t direction);
  bool isSumWithin(const EventTally& event, size_t index) const;
  uint64_t before(HistogramOf::Of of, size_t index) const;
  void beginAnew(HistogramOf::Of of, uint32_t index, BucketCounts& counts, uint64_t count, WideSum sum);
  bool isBegun() const;
  bool isPostPending() const;
  bool restoreAssembly(const TallyFields& fields);

  Tally& tally_;
  size_t keyRoom_;
  size_t keysToCome_ = 0;  // unknown ones
  std::optional<TallyFields> fields_;
  size_t current_ = SIZE_MAX;      // index of the last event
  bool isSkipping_ = false;        // the last histogram has another division
  std::vector<Fate> eventFates_;   // by index, as far as there are histograms
  Fate transferFates_[2][3] = {};  // sizes, durations, throughputs
  struct ClassFates {
    Fate durations, posts;
  };
  std::array<ClassFates, SizeClasses::kCount> classFates_[2] = {};
  uint32_t currentClass_ = UINT32_MAX;  // number of the last class, see ClassIndex
  BucketCounts none_;                   // of a histogram of which the file has only the start
  PostFields post_ = {};
};

// Returns the fixed part of the tally's section, or nullopt.
std::optional<TallyFields> tallyFields(std::span<const Section> sections);

}  // namespace nixl_otel
