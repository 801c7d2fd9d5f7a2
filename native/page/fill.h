// Fills the numbers of agents into their templates, family by family.
#pragma once

#include <cstdint>
#include <span>

#include "page/template.h"

namespace nixl_otel {

// Template and numbers of one agent.
struct Filling {
  const Template* made;
  std::span<const uint64_t> words;
  std::span<const double> given;
  // Returns whether the template reads only numbers that are there.
  bool fits() const { return made->words() <= words.size() && made->given() <= given.size(); }
};

// Bytes in front of the series of a family.
struct FamilyHead {
  std::span<const uint8_t> bytes;
  bool isMessage;  // the family is a message, which its length precedes
  bool isKept;     // the head is there without series, too
};

// A page, up to the end of its memory.
class PageRoom {
 public:
  PageRoom(std::span<uint8_t> room, size_t end) : room_(room), end_(end) {}
  size_t end() const { return end_; }

  // Appends a family of all agents. Each must fit, and have as many families. Returns false if the room is too small.
  bool append(const FamilyHead& head, size_t family, std::span<const Filling> agents);

 private:
  bool append(const Template::Part& part, const Filling& agent);
  bool append(const Step& step, const Filling& agent);
  bool appendExponential(std::span<const uint64_t> words, uint64_t place, int64_t shift);
  bool append(const uint8_t* bytes, size_t number);
  bool hasRoom(size_t bytes) const { return room_.size() - end_ >= bytes; }
  bool open();
  bool close();
  void varint(uint64_t value);
  template <typename Number>
  void number(How how, Number value);

  std::span<uint8_t> room_;
  size_t end_;
  uint64_t running_ = 0;
  size_t messages_[Template::kMostMessages + 2];  // begins of the open messages: family, template, span of buckets
  size_t open_ = 0;
};

}  // namespace nixl_otel
