#include "tally/tally_plan.h"

#include <utility>
#include <vector>

#include "sync/mutex.h"

namespace nixl_otel {
namespace {

// Never destroyed: other threads may still call planFor() while the process exits.
struct SharedPlans {
  Mutex mutex;
  std::vector<std::weak_ptr<const TallyPlan>> plans GUARDED_BY(mutex);
};

}  // namespace

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
