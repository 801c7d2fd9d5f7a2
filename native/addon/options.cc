#include "addon/options.h"

#include "addon/values.h"

namespace nixl_otel::addon {

namespace {

uint32_t boundsIndex(const Napi::Value& value) {
  return value.IsNumber() ? static_cast<uint32_t>(number(value)) : TallyOptions::kNoBounds;
}

HistogramRule histogramRule(const Napi::Object& o) {
  HistogramRule rule;
  if (o.Get("type").IsNumber()) rule.type = static_cast<uint32_t>(number(o.Get("type")));
  if (o.Get("name").IsString()) rule.name = text(o.Get("name"));
  if (o.Get("category").IsNumber()) rule.category = static_cast<int32_t>(number(o.Get("category")));
  rule.bounds = boundsIndex(o.Get("bounds"));
  return rule;
}

}  // namespace

TallyOptions tallyOptions(const Napi::Object& tally) {
  TallyOptions options;
  const auto types = tally.Get("types").As<Napi::Array>();
  for (uint32_t type = 0; type < types.Length(); ++type) {
    const auto row = types.Get(type).As<Napi::Object>();
    options.typeCategories.push_back(static_cast<int32_t>(number(row.Get("category"))));
    options.typeBounds.push_back(boundsIndex(row.Get("bounds")));
    const auto names = row.Get("names").As<Napi::Array>();
    for (uint32_t i = 0; i < names.Length(); ++i) options.typeNames.emplace_back(text(names.Get(i)), type);
  }
  const auto bounds = tally.Get("bounds").As<Napi::Array>();
  for (uint32_t i = 0; i < bounds.Length(); ++i) options.bounds.push_back(numbers(bounds.Get(i)));
  const auto rules = tally.Get("rules").As<Napi::Array>();
  for (uint32_t i = 0; i < rules.Length(); ++i) {
    options.rules.push_back(histogramRule(rules.Get(i).As<Napi::Object>()));
  }
  options.sizeBounds = numbers(tally.Get("sizeBounds"));
  options.throughputBounds = numbers(tally.Get("throughputBounds"));
  options.keptBounds = numbers(tally.Get("keptBounds"));
  options.keptSizeBounds = numbers(tally.Get("keptSizeBounds"));
  options.keptThroughputBounds = numbers(tally.Get("keptThroughputBounds"));
  return options;
}

SourceOptions sourceOptions(const Napi::Object& o) {
  SourceOptions options;
  const auto places = o.Get("places").As<Napi::Array>();
  for (uint32_t i = 0; i < places.Length(); ++i) {
    const auto place = places.Get(i).As<Napi::Array>();
    options.places.emplace_back(text(place.Get(0u)), text(place.Get(1u)));
  }
  options.drainInterval = std::chrono::milliseconds(static_cast<int64_t>(number(o.Get("drainIntervalMs"))));
  options.deadTtl = std::chrono::milliseconds(static_cast<int64_t>(number(o.Get("deadTtlMs"))));
  options.idleTtl = std::chrono::milliseconds(static_cast<int64_t>(number(o.Get("idleTtlMs"))));
  options.force = o.Get("force").ToBoolean();
  if (o.Get("owners").IsArray()) {
    options.owners.emplace();
    for (const double user : numbers(o.Get("owners"))) options.owners->push_back(static_cast<uid_t>(user));
  }
  options.fill = o.Get("fill").ToBoolean();
  options.state = o.Get("state").ToBoolean();
  options.removeEndedAfter = std::chrono::milliseconds(static_cast<int64_t>(number(o.Get("removeEndedAfterMs"))));
  options.freshNames = texts(o.Get("freshNames"));
  options.tally = tallyOptions(o.Get("tally").As<Napi::Object>());
  return options;
}

TapWants tapWants(const Napi::Value& types, const Napi::Value& first) {
  TapWants wants;
  wants.first = static_cast<uint64_t>(number(first));
  wants.all = types.IsString();
  if (wants.all) return wants;
  for (const double type : numbers(types)) wants.types |= uint64_t{1} << static_cast<uint32_t>(type);
  return wants;
}

}  // namespace nixl_otel::addon
