// Templates of a page of metrics: all bytes of one agent's series except their numbers, and steps that say which number
// follows which bytes. A template has the parts of each family in turn. This room knows neither names nor formats.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace nixl_otel {

// Kinds of numbers that a step appends after its bytes. src/serve/exposition/template.ts has the same numbers.
enum class What : uint8_t {
  kNothing = 0,
  kCount = 1,        // the word at `place`, divided by `argument`
  kWide = 2,         // the two words at `place`, low word first, divided by `argument`
  kDouble = 3,       // the word at `place` as a double, divided by `argument`
  kGiven = 4,        // the double at `place` of those that are given for each page; -0: leave the step out, and `skip`
  kTotal = 5,        // the sum of `argument` words from `place` on
  kFirst = 6,        // the word at `place`, from which a running sum begins
  kRunning = 7,      // the running sum, with the word at `place`
  kExponential = 8,  // the native histogram whose words begin at `place`; `argument`: shift of its buckets
  kOpen = 9,         // nothing: begins a message, which its length precedes
  kClose = 10,       // nothing: ends the message
};

enum class How : uint8_t {
  kText = 0,
  kEightBytes = 1,  // a double, little-endian
  kVarint = 2,
  kNotAtAll = 3,
};

// A step as JavaScript makes it: 16 bytes.
struct Step {
  uint32_t bytes;  // of the template, in front of the number
  What what;
  How how;
  uint16_t skip;  // further steps that belong to a given number; they have no numbers themselves
  uint32_t place;
  int32_t argument;
};
static_assert(sizeof(Step) == 16);

// A checked template, which does not change.
class Template {
 public:
  static constexpr size_t kMostMessages = 8;  // open in each other

  // `familyEnds`: number of steps up to the end of each family. `words`: those of the agent; `given`: numbers given for
  // each page. Returns nullptr and the reason if a step reads beyond them, or the parts do not fit each other.
  static std::shared_ptr<const Template> of(std::span<const Step> steps, std::span<const uint8_t> bytes,
                                            std::span<const uint32_t> familyEnds, uint64_t words, uint64_t given,
                                            std::string& reason);

  struct Part {
    std::span<const Step> steps;
    const uint8_t* bytes;
  };
  size_t families() const { return families_.size(); }
  Part family(size_t index) const {
    const Family& family = families_[index];
    const size_t begin = index == 0 ? 0 : families_[index - 1].stepsEnd;
    return {std::span(steps_).subspan(begin, family.stepsEnd - begin), bytes_.data() + family.bytesBegin};
  }
  // Words and given numbers that its steps read.
  uint64_t words() const { return words_; }
  uint64_t given() const { return given_; }

 private:
  struct Family {
    size_t stepsEnd;
    size_t bytesBegin;
  };
  std::vector<Step> steps_;
  std::vector<uint8_t> bytes_;
  std::vector<Family> families_;
  uint64_t words_ = 0;
  uint64_t given_ = 0;
};

// Words of a native histogram, from its `place` on.
struct ExponentialWords {
  static constexpr uint64_t kZeros = 1, kFirst = 2, kBuckets = 3, kDistance = 4;
  static constexpr uint64_t kWords = 5;
};

}  // namespace nixl_otel
