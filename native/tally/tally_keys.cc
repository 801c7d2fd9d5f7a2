// Keys of named events and of events that the table of events lacks.

#include <fnmatch.h>

#include <string>
#include <utility>

#include "tally/tally.h"

namespace nixl_otel {

uint32_t Tally::findName(const std::byte* slot, const SlotLayout& layout) {
  // The name ends at the first NUL. Any bytes may follow.
  const auto* text = reinterpret_cast<const char*>(slot + layout.name);
  std::string name(text, strnlen(text, kNameBytes));
  const auto category = loadField<int32_t>(slot, layout.category);
  const auto known = knownNames_.find(name);
  if (known != knownNames_.end() && events_[known->second].category == category) return known->second;
  return indexOfUnknownName(category, std::move(name));
}

uint32_t Tally::indexOfUnknownName(int32_t category, std::string name) {
  std::string key = "n" + std::to_string(category) + ":" + name;
  EventTally event;
  event.category = category;
  event.named = true;
  event.name = std::move(name);
  return indexOfUnknown(std::move(key), std::move(event));
}

uint32_t Tally::indexOfType(int32_t category, uint32_t type) {
  EventTally event;
  event.category = category;
  event.type = type;
  return indexOfUnknown("t" + std::to_string(category) + ":" + std::to_string(type), std::move(event));
}

// The overflow key is the last one: after it no key is added, so that all events of a key count at one place.
uint32_t Tally::indexOfUnknown(std::string key, EventTally event) {
  const auto found = unknownKeys_.find(key);
  if (found != unknownKeys_.end()) return found->second;
  if (overflows()) return static_cast<uint32_t>(events_.size() - 1);
  setHistogram(event, boundsOfUnknown(event));
  if (unknownKeys_.size() == kMaxUnknownKeys || (admits_ && !admits_(event))) return addOverflow();
  const uint32_t index = add(std::move(event));
  unknownKeys_.emplace(std::move(key), index);
  return index;
}

uint32_t Tally::addOverflow() {
  EventTally event;
  event.category = -1;
  event.overflow = true;
  return add(std::move(event));
}

uint32_t Tally::add(EventTally event) {
  events_.push_back(std::move(event));
  return static_cast<uint32_t>(events_.size() - 1);
}

void Tally::setHistogram(EventTally& event, uint32_t bounds) const {
  event.bounds = bounds;
  event.buckets = plan_->at(bounds);
}

uint32_t Tally::boundsOfUnknown(const EventTally& event) const {
  for (const HistogramRule& rule : options().rules) {
    if (rule.type && (event.named || *rule.type != event.type)) continue;
    if (rule.name && (!event.named || ::fnmatch(rule.name->c_str(), event.name.c_str(), 0) != 0)) continue;
    if (rule.category && *rule.category != event.category) continue;
    return rule.bounds;
  }
  return event.category == kPerformance ? 0 : TallyOptions::kNoBounds;
}

}  // namespace nixl_otel
