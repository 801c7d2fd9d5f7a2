// Functions that observe rings. A list in parentheses before a function names its arguments in JavaScript.

#include "addon/events.h"
#include "addon/functions.h"
#include "addon/options.h"
#include "addon/rings.h"
#include "addon/values.h"
#include "addon/words.h"
#include "ring/ring_observer.h"

namespace nixl_otel::addon {

namespace {

Napi::Value openObserver(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  RingFile file = RingFile::open(text(info[0]), RingAccess::kObserve, info[1].ToBoolean());
  auto result = ringInfo(env, file.state, file.reason);
  if (file.state != RingState::kReady) return result;
  result.Set("handle", wrap(env, std::make_shared<RingObserver>(std::move(file))));
  return result;
}

void closeObserver(const Napi::CallbackInfo& info) { held<RingObserver>(info).reset(); }

Napi::Object observationInfo(Napi::Env env, const Observation& seen) {
  auto result = ringInfo(env, seen.state, seen.reason);
  result.Set("lapped", seen.lapped);
  result.Set("stalled", seen.stalled);
  result.Set("restarted", seen.restarted);
  return result;
}

Napi::Value observe(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Observation seen = held<RingObserver>(info)->observe(static_cast<size_t>(number(info[1])));
  const std::vector<RingEvent> found = seen.events();
  auto events = Napi::Array::New(env, found.size());
  for (uint32_t i = 0; i < found.size(); ++i) events.Set(i, eventObject(env, *seen.layout, found[i]));
  auto result = observationInfo(env, seen);
  result.Set("events", events);
  return result;
}

// (observer, most): like observe(), but returns the events in columns.
Napi::Value observeColumns(const Napi::CallbackInfo& info) {
  const Observation seen = held<RingObserver>(info)->observe(static_cast<size_t>(number(info[1])));
  EventColumns columns;
  if (seen.layout != nullptr) columns.add(*seen.layout, seen.slots.data(), seen.count());
  auto result = observationInfo(info.Env(), seen);
  result.Set("events", columnsObject(info.Env(), columns));
  return result;
}

// An observer that tallies its events natively, so that no event becomes a JavaScript object.
struct TallyingObserver {
  TallyingObserver(RingFile file, std::shared_ptr<const TallyPlan> plan)
      : observer(std::move(file)), tally(std::move(plan)) {}
  RingObserver observer;
  Tally tally;
};

// (path, force, tallyOptions)
Napi::Value openTallyingObserver(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  RingFile file = RingFile::open(text(info[0]), RingAccess::kObserve, info[1].ToBoolean());
  auto result = ringInfo(env, file.state, file.reason);
  if (file.state != RingState::kReady) return result;
  auto plan = planFor(tallyOptions(info[2].As<Napi::Object>()));
  result.Set("handle", wrap(env, std::make_shared<TallyingObserver>(std::move(file), std::move(plan))));
  return result;
}

void closeTallyingObserver(const Napi::CallbackInfo& info) { held<TallyingObserver>(info).reset(); }

// (observer, most)
Napi::Value observeAndTally(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  TallyingObserver& observing = *held<TallyingObserver>(info);
  const Observation seen = observing.observer.observe(static_cast<size_t>(number(info[1])));
  if (seen.restarted) observing.tally.restart();
  if (seen.lapped) observing.tally.markMemoryApproximate();
  if (seen.count() != 0) {
    std::vector<TappedEvent> none;
    observing.tally.fold({*seen.layout, seen.slots.data(), static_cast<uint32_t>(seen.count()), seen.lapped, false, 0},
                         {}, none);
  }
  auto result = observationInfo(env, seen);
  result.Set("found", static_cast<double>(seen.count()));
  if (seen.layout == nullptr) return result;
  result.Set("wireVersion", seen.layout->version);
  result.Set("capacity", static_cast<double>(seen.capacity));
  result.Set("pending", static_cast<double>(seen.pending));
  return result;
}

Napi::Value tallyOf(const Napi::CallbackInfo& info) {
  return totalsObject(info.Env(), held<TallyingObserver>(info)->tally);
}

}  // namespace

void addObservers(Napi::Object exports) {
  add(exports, "openObserver", openObserver);
  add(exports, "closeObserver", closeObserver);
  add(exports, "observe", observe);
  add(exports, "observeColumns", observeColumns);
  add(exports, "openTallyingObserver", openTallyingObserver);
  add(exports, "closeTallyingObserver", closeTallyingObserver);
  add(exports, "observeAndTally", observeAndTally);
  add(exports, "tallyOf", tallyOf);
}

}  // namespace nixl_otel::addon
