#include "tally_plan.h"

#include <bit>
#include <string_view>

#include "mutex.h"

namespace nixl_otel {
namespace {

// Never destroyed: other threads may still call planFor() while the process exits.
struct SharedPlans {
  Mutex mutex;
  std::vector<std::weak_ptr<const TallyPlan>> plans GUARDED_BY(mutex);
};

// FNV-1a of 64 bits.
class Digest {
 public:
  void add(std::string_view bytes) {
    add(bytes.size());
    for (const char byte : bytes) step(static_cast<unsigned char>(byte));
  }
  void add(uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) step(number >> shift & 0xFF);
  }
  void add(double number) { add(std::bit_cast<uint64_t>(number)); }
  void add(int32_t number) { add(static_cast<uint64_t>(number)); }
  void add(uint32_t number) { add(uint64_t{number}); }
  template <typename A, typename B>
  void add(const std::pair<A, B>& both) {
    add(both.first);
    add(both.second);
  }
  template <typename T>
  void add(const std::optional<T>& value) {
    add(uint64_t{value.has_value()});
    if (value) add(*value);
  }
  template <typename T>
  void add(const std::vector<T>& values) {
    add(uint64_t{values.size()});
    for (const T& value : values) add(value);
  }
  void add(const HistogramRule& rule) {
    add(rule.type);
    add(rule.name);
    add(rule.category);
    add(rule.bounds);
  }
  uint64_t value() const { return value_; }

 private:
  void step(uint64_t byte) { value_ = (value_ ^ byte) * 0x100000001B3; }
  uint64_t value_ = 0xCBF29CE484222325;
};

}  // namespace

uint64_t digestOf(const TallyOptions& options) {
  Digest digest;
  digest.add(uint64_t{Exponential::kBuckets});
  digest.add(options.typeCategories);
  digest.add(options.typeBounds);
  digest.add(options.typeNames);
  digest.add(options.bounds);
  digest.add(options.rules);
  digest.add(options.sizeBounds);
  digest.add(options.throughputBounds);
  return digest.value();
}

std::shared_ptr<const TallyPlan> planFor(TallyOptions options) {
  static SharedPlans& shared = *new SharedPlans;
  options = TallyPlan::completed(std::move(options));
  const MutexLock lock(shared.mutex);
  std::erase_if(shared.plans, [](const auto& plan) { return plan.expired(); });
  for (const auto& weak : shared.plans) {
    const auto plan = weak.lock();
    if (plan != nullptr && plan->options == options) return plan;
  }
  const auto made = std::make_shared<const TallyPlan>(std::move(options));
  shared.plans.push_back(made);
  return made;
}

}  // namespace nixl_otel
