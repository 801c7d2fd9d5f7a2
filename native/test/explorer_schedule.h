// Depth-first search over schedules by replay. Each run executes the consumer's code. At each memory access a choice
// determines the steps of the others before it. The next run repeats all choices except the last, which it changes.

#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace explorer {

// Digest of a state: two independent 64-bit hashes. With 10^8 states the probability of a collision is below 10^-22.
struct Digest {
  uint64_t a = 0x9E3779B97F4A7C15u;
  uint64_t b = 0xD1B54A32D192ED03u;

  void add(uint64_t word) {
    a = (a ^ word) * 0xBF58476D1CE4E5B9u;
    a ^= a >> 29;
    b = (b + word) * 0x94D049BB133111EBu;
    b ^= b >> 32;
  }
  template <typename T>
  void addBytes(const T& object) {
    const char* bytes = reinterpret_cast<const char*>(&object);
    size_t i = 0;
    for (; i + 8 <= sizeof object; i += 8) {
      uint64_t word;
      std::memcpy(&word, bytes + i, 8);
      add(word);
    }
    uint64_t rest = 0;
    std::memcpy(&rest, bytes + i, sizeof object - i);
    add(rest);
  }
};

// Set of digests with open addressing. It needs half the memory and a tenth of the time of std::unordered_set.
class DigestSet {
 public:
  DigestSet() : table_(1 << 12) {}
  // Returns true when the digest is new.
  bool insert(Digest d) {
    if (d.a == 0) d.a = 1;  // 0 marks a free place
    if (++count_ * 2 > table_.size()) grow();
    Digest& place = find(table_, d);
    if (place.a != 0) {
      --count_;
      return false;
    }
    place = d;
    return true;
  }
  size_t size() const { return count_; }

 private:
  struct Place : Digest {
    Place() { a = b = 0; }
  };
  static Digest& find(std::vector<Place>& table, const Digest& d) {
    size_t i = d.b & (table.size() - 1);
    while (table[i].a != 0 && (table[i].a != d.a || table[i].b != d.b)) i = (i + 1) & (table.size() - 1);
    return table[i];
  }
  void grow() {
    std::vector<Place> bigger(table_.size() * 2);
    for (const Place& place : table_) {
      if (place.a != 0) find(bigger, place) = place;
    }
    table_.swap(bigger);
  }
  std::vector<Place> table_;
  size_t count_ = 0;
};

struct AlreadyExplored {};  // thrown out of the consumer's code if an earlier run has reached the same state

class Choices {
 public:
  bool replaying() const { return cursor_ < made_.size(); }
  // 0 <= answer < options
  int choose(int options) {
    if (!replaying()) made_.push_back({0, static_cast<uint8_t>(options)});
    return made_[cursor_++].answer;
  }
  // Changes the last choice that has an option left, and drops the choices after it. Returns false if there is none.
  bool advance() {
    cursor_ = 0;
    while (!made_.empty() && made_.back().answer + 1 == made_.back().options) made_.pop_back();
    if (made_.empty()) return false;
    ++made_.back().answer;
    return true;
  }
  void rewind() { cursor_ = 0; }

 private:
  struct Choice {
    uint8_t answer;
    uint8_t options;
  };
  std::vector<Choice> made_;
  size_t cursor_ = 0;
};

}  // namespace explorer
