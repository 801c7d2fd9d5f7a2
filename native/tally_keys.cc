// Keys of named events and of events that the table of events lacks.

#include <fnmatch.h>

#include <string>
#include <utility>

#include "tally.h"

namespace nixl_otel {

uint32_t Tally::findName(const std::byte* slot, const SlotLayout& layout) {
  // The name ends at the first NUL. Any bytes may follow.
  const auto* text = reinterpret_cast<const char*>(slot + layout.name);
  std::string name(text, strnlen(text, kNameBytes));
  const auto category = loadField<int32_t>(slot, layout.category);
  const auto known = knownNames_.find(name);
  if (known != knownNames_.end() && events_[known->second].category == category) return known->second;
  return indexOfUnknown("n" + std::to_string(category) + ":" + name, category, EventTally::kNoType, name);
}

uint32_t Tally::indexOfType(int32_t category, uint32_t type) {
  return indexOfUnknown("t" + std::to_string(category) + ":" + std::to_string(type), category, type, "");
}

uint32_t Tally::indexOfUnknown(std::string key, int32_t category, uint32_t type, std::string name) {
  const auto found = unknownKeys_.find(key);
  if (found != unknownKeys_.end()) return found->second;
  EventTally event;
  if (unknownKeys_.size() < kMaxUnknownKeys) {
    event.type = type;
    event.category = category;
    event.name = std::move(name);
    setHistogram(event, boundsOfUnknown(event));
  } else {
    if (events_.back().overflow) return static_cast<uint32_t>(events_.size() - 1);
    event.category = -1;
    event.overflow = true;
  }
  const auto index = static_cast<uint32_t>(events_.size());
  if (!event.overflow) unknownKeys_.emplace(std::move(key), index);
  events_.push_back(std::move(event));
  return index;
}

void Tally::setHistogram(EventTally& event, uint32_t bounds) const {
  event.bounds = bounds;
  event.buckets = plan_->at(bounds);
}

uint32_t Tally::boundsOfUnknown(const EventTally& event) const {
  for (const HistogramRule& rule : options().rules) {
    const bool named = event.type == EventTally::kNoType;
    if (rule.type && (named || *rule.type != event.type)) continue;
    if (rule.name && (!named || ::fnmatch(rule.name->c_str(), event.name.c_str(), 0) != 0)) continue;
    if (rule.category && *rule.category != event.category) continue;
    return rule.bounds;
  }
  return event.category == kPerformance ? 0 : TallyOptions::kNoBounds;
}

}  // namespace nixl_otel
