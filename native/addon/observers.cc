// Functions that observe rings. A list in parentheses before a function names its arguments in JavaScript.

#include "addon/events.h"
#include "addon/functions.h"
#include "addon/options.h"
#include "addon/values.h"
#include "addon/words.h"
#include "ring/ring_observer.h"

namespace nixl_otel::addon {

namespace {

// The tally adds the events up natively, so that no event becomes a JavaScript object.
struct ObservedRing {
  explicit ObservedRing(RingFile file) : observer(std::move(file)) {}
  RingObserver observer;
  std::optional<Tally> tally;
};

// (path, force, tallyOptions?)
Napi::Value openObserver(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  RingFile file = RingFile::open(text(info[0]), RingAccess::kObserve, info[1].ToBoolean());
  auto result = ringInfo(env, file.state, file.reason);
  if (file.state != RingState::kReady) return result;
  auto ring = std::make_shared<ObservedRing>(std::move(file));
  if (info[2].IsObject()) ring->tally.emplace(planFor(tallyOptions(info[2].As<Napi::Object>())));
  result.Set("handle", wrap(env, std::move(ring)));
  return result;
}

Napi::Object observationInfo(Napi::Env env, const Observation& seen) {
  auto result = ringInfo(env, seen.state, seen.reason);
  result.Set("lapped", seen.lapped);
  result.Set("stalled", seen.stalled);
  result.Set("restarted", seen.restarted);
  return result;
}

// (observer, most)
Napi::Value observeColumns(const Napi::CallbackInfo& info) {
  const Observation seen = held<ObservedRing>(info)->observer.observe(static_cast<size_t>(number(info[1])));
  EventColumns columns;
  if (seen.layout != nullptr) columns.add(*seen.layout, seen.slots.data(), seen.count());
  auto result = observationInfo(info.Env(), seen);
  result.Set("events", columnsObject(info.Env(), columns));
  return result;
}

// (observer, most)
Napi::Value observeAndTally(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  ObservedRing& ring = *held<ObservedRing>(info);
  const Observation seen = ring.observer.observe(static_cast<size_t>(number(info[1])));
  if (seen.restarted) ring.tally->restart();
  if (seen.lapped) ring.tally->markMemoryApproximate();
  if (seen.count() != 0) {
    std::vector<TappedEvent> none;
    ring.tally->fold({*seen.layout, seen.slots.data(), static_cast<uint32_t>(seen.count()), seen.lapped, false, 0}, {},
                     none);
  }
  auto result = observationInfo(env, seen);
  result.Set("found", seen.count());
  if (seen.layout == nullptr) return result;
  result.Set("wireVersion", seen.layout->version);
  result.Set("capacity", seen.capacity);
  result.Set("pending", seen.pending);
  return result;
}

}  // namespace

void addObservers(Napi::Object exports) {
  add(exports, "openObserver", openObserver);
  add(exports, "closeObserver", release<ObservedRing>);
  add(exports, "observeColumns", observeColumns);
  add(exports, "observeAndTally", observeAndTally);
  add(exports, "tallyOf", [](const Info& info) { return totalsObject(info.Env(), *held<ObservedRing>(info)->tally); });
}

}  // namespace nixl_otel::addon
