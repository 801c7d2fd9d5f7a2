// Sources, their readers and their taps.

#include "addon/environment.h"
#include "addon/functions.h"
#include "addon/options.h"
#include "addon/values.h"
#include "collector/collector.h"

namespace nixl_otel::addon {

namespace {

using std::chrono::milliseconds;

// (options, taps: [types, capacity][]): returns handles of the source and of its taps.
Napi::Value openSource(const Napi::CallbackInfo& info) {
  std::vector<std::shared_ptr<EventTap>> taps;
  const auto requested = info[1].As<Napi::Array>();
  auto handles = Napi::Array::New(info.Env(), requested.Length());
  for (uint32_t i = 0; i < requested.Length(); ++i) {
    const auto one = requested.Get(i).As<Napi::Array>();
    taps.push_back(
        std::make_shared<EventTap>(tapWants(one.Get(0u), one.Get(2u)), static_cast<size_t>(number(one.Get(1u)))));
    handles.Set(i, wrap(info.Env(), taps.back()));
  }
  auto source = Collector::instance().open(sourceOptions(info[0].As<Napi::Object>()), std::move(taps));
  environmentOf(info).sources.insert(source);
  auto opened = Napi::Object::New(info.Env());
  opened.Set("source", wrap(info.Env(), std::move(source)));
  opened.Set("taps", handles);
  return opened;
}

void closeSource(const Napi::CallbackInfo& info) {
  const std::shared_ptr<Source> source = held<Source>(info);
  environmentOf(info).sources.erase(source);
  Collector::instance().close(source);
}

// --- state files ---

// (source, agentId): returns the tally as words and names, with the counters of the agent's rings; or undefined.
Napi::Value recoveredCounts(const Napi::CallbackInfo& info) {
  Collector& collector = Collector::instance();
  WaitBudget budget = collector.callBudget();
  const auto counts = collector.recoveredCounts(*held<Source>(info), whole(info[1]), budget);
  if (counts == nullptr) return info.Env().Undefined();
  Napi::Object result = totalsObject(info.Env(), counts->tally);
  result.Set("foundFull", counts->drains.foundFull);
  result.Set("foundFullMs", counts->fullMs);
  result.Set("restarts", counts->drains.restarts);
  result.Set("resyncs", counts->drains.resyncs);
  result.Set("foreignMoves", counts->drains.foreignMoves);
  result.Set("refused", counts->tally.refused().count());
  auto begun = Napi::Array::New(info.Env());
  for (const HistogramStart& start : counts->tally.histogramStarts()) {
    if (!start.isNew) continue;
    constexpr const char* kNames[] = {"event", "size", "duration", "throughput"};
    auto histogram = Napi::Object::New(info.Env());
    histogram.Set("of", kNames[start.of]);
    histogram.Set("index", start.index);
    begun.Set(begun.Length(), histogram);
  }
  if (begun.Length() > 0) result.Set("begunHistograms", begun);
  return result;
}

// --- raw events ---

Napi::Value openTap(const Napi::CallbackInfo& info) {
  return wrap(info.Env(),
              Collector::instance().openTap(held<Source>(info), tapWants(info[1], info[3]), whole(info[2])));
}

void closeTap(const Napi::CallbackInfo& info) {
  const auto& tap = *info[1].As<Napi::External<std::shared_ptr<EventTap>>>().Data();
  Collector::instance().closeTap(held<Source>(info), tap);
}

template <typename T, typename Field>
Napi::TypedArrayOf<T> column(Napi::Env env, const std::vector<TappedEvent>& events, Field TappedEvent::* field) {
  auto array = Napi::TypedArrayOf<T>::New(env, events.size());
  for (size_t i = 0; i < events.size(); ++i) array[i] = static_cast<T>(events[i].*field);
  return array;
}

Napi::Value takeTapped(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::vector<TappedEvent> events = held<EventTap>(info)->take(whole(info[1]));
  auto batch = Napi::Object::New(env);
  batch.Set("length", events.size());
  batch.Set("agentIds", column<double>(env, events, &TappedEvent::agentId));
  batch.Set("types", column<uint32_t>(env, events, &TappedEvent::key));
  batch.Set("values", column<double>(env, events, &TappedEvent::value));
  return batch;
}

// Like takeTapped(), but returns all fields of the events and exact values.
Napi::Value takeEvents(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::vector<TappedEvent> events = held<EventTap>(info)->take(whole(info[1]));
  auto batch = Napi::Object::New(env);
  batch.Set("length", events.size());
  batch.Set("agentIds", column<double>(env, events, &TappedEvent::agentId));
  batch.Set("keys", column<uint32_t>(env, events, &TappedEvent::key));
  batch.Set("values", column<uint64_t>(env, events, &TappedEvent::value));
  batch.Set("timesUs", column<double>(env, events, &TappedEvent::timeUs));
  return batch;
}

Napi::Object statsObject(Napi::Env env, const TapStats& stats) {
  auto result = Napi::Object::New(env);
  result.Set("seen", stats.seen);
  result.Set("kept", stats.kept);
  result.Set("sampledOut", stats.sampledOut);
  result.Set("overflowed", stats.overflowed);
  return result;
}

Napi::Value tapStats(const Napi::CallbackInfo& info) {
  const EventTap& tap = *held<EventTap>(info);
  const Napi::Object result = statsObject(info.Env(), tap.stats());
  auto types = Napi::Array::New(info.Env());
  for (uint32_t type = 0; type < EventTap::kTypes; ++type) {
    if ((tap.wants().types >> type & 1) == 0) continue;
    Napi::Object one = statsObject(info.Env(), tap.statsOf(type));
    one.Set("type", type);
    types.Set(types.Length(), one);
  }
  result.Set("types", types);
  return result;
}

}  // namespace

void addSources(Napi::Object exports) {
  add(exports, "openSource", openSource);
  add(exports, "closeSource", closeSource);
  Collector& collector = Collector::instance();  // never destroyed
  add(exports, "drainNow", [&](const Info& info) { return collector.drainNow(milliseconds(whole(info[0]))); });
  add(exports, "requestDrain", [&](const Info&) { return collector.requestDrain(); });
  add(exports, "holdSource", [&](const Info& info) { return collector.hold(held<Source>(info)); });
  add(exports, "isDrainServed", [&](const Info& info) { return collector.isServed(whole(info[0])); });
  add(exports, "addReader", [&](const Info& info) { return collector.addReader(held<Source>(info)); });
  add(exports, "removeReader",
      [&](const Info& info) { collector.removeReader(held<Source>(info), static_cast<uint32_t>(number(info[1]))); });
  // (source, agentId, text)
  add(exports, "keepAttributes",
      [&](const Info& info) { collector.keepAttributes(held<Source>(info), whole(info[1]), text(info[2])); });
  add(exports, "recoveredCounts", recoveredCounts);
  add(exports, "openTap", openTap);
  add(exports, "closeTap", closeTap);
  add(exports, "takeTapped", takeTapped);
  add(exports, "takeEvents", takeEvents);
  add(exports, "setSampling", [](const Info& info) { held<EventTap>(info)->setSampling(whole(info[1])); });
  add(exports, "tapStats", tapStats);
}

}  // namespace nixl_otel::addon
