#include "page/template.h"

#include <algorithm>

namespace nixl_otel {
namespace {

// Words that a step reads, without the counts of a native histogram, which its own words point to.
uint64_t wordsOf(const Step& step) {
  switch (step.what) {
    case What::kCount:
    case What::kDouble:
    case What::kFirst:
    case What::kRunning:
      return 1;
    case What::kWide:
      return 2;
    case What::kTotal:
      return static_cast<uint64_t>(std::max(step.argument, 0));
    case What::kExponential:
      return ExponentialWords::kWords;
    default:
      return 0;
  }
}

bool isDivided(What what) { return what == What::kCount || what == What::kWide || what == What::kDouble; }

}  // namespace

std::shared_ptr<const Template> Template::of(std::span<const Step> steps, std::span<const uint8_t> bytes,
                                             std::span<const uint32_t> familyEnds, uint64_t words, uint64_t given,
                                             std::string& reason) {
  auto made = std::make_shared<Template>();
  size_t step = 0, at = 0;
  for (const uint32_t end : familyEnds) {
    if (end < step || end > steps.size()) return reason = "a family ends outside of the steps", nullptr;
    made->families_.push_back({end, at});
    size_t open = 0;
    for (; step < end; ++step) {
      const Step& one = steps[step];
      if (one.bytes > bytes.size() - at) return reason = "a step has bytes that are not there", nullptr;
      at += one.bytes;
      if (one.what > What::kClose || one.how > How::kNotAtAll) return reason = "an unknown step", nullptr;
      if (one.what == What::kOpen && ++open > kMostMessages) return reason = "too many open messages", nullptr;
      if (one.what == What::kClose && open-- == 0) return reason = "a message ends that is not open", nullptr;
      if (isDivided(one.what) && one.argument <= 0) return reason = "a divisor below 1", nullptr;
      if (one.skip > end - step - 1) return reason = "a step leaves out steps of other families", nullptr;
      for (const Step& left : steps.subspan(step + 1, one.skip)) {
        if (left.what != What::kNothing) return reason = "a step leaves out a number", nullptr;
      }
      const uint64_t used = wordsOf(one);
      if (used > 0) made->words_ = std::max(made->words_, one.place + used);
      if (one.what == What::kGiven) made->given_ = std::max(made->given_, uint64_t{one.place} + 1);
    }
    if (open > 0) return reason = "an open message", nullptr;
  }
  if (step != steps.size() || at != bytes.size()) return reason = "steps or bytes behind the families", nullptr;
  if (made->words_ > words) return reason = "a number behind the words of the agent", nullptr;
  if (made->given_ > given) return reason = "a number that is not given", nullptr;
  made->steps_.assign(steps.begin(), steps.end());
  made->bytes_.assign(bytes.begin(), bytes.end());
  return made;
}

}  // namespace nixl_otel
