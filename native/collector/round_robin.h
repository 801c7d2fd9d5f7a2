// Turns of the entries of an ordered set or map. A round may end early. Then the next round begins at the next entry.

#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

namespace nixl_otel {

enum class Turn { kKeep, kRemove, kStop };

class RoundRobin {
 public:
  template <typename Container>
  using Visit = std::function<Turn(typename Container::iterator::reference)>;
  static constexpr size_t kEndless = std::numeric_limits<size_t>::max();

  // Calls visit(entry) for up to `turns` entries; the first entry follows the last. kRemove erases the entry. kStop
  // ends the round, and the next round begins with this entry.
  //
  // Requires: visit() erases no entry. It may insert entries.
  template <typename Container>
  void visit(Container& entries, size_t turns, const Visit<Container>& visit) {
    auto entry = entries.lower_bound(next_);
    next_.clear();
    for (; turns > 0 && !entries.empty(); --turns) {
      if (entry == entries.end()) entry = entries.begin();
      const Turn turn = visit(*entry);
      if (turn == Turn::kStop) {
        next_ = keyOf(*entry);
        return;
      }
      entry = turn == Turn::kRemove ? entries.erase(entry) : std::next(entry);
    }
  }

  // False after a round that ended early.
  bool isComplete() const { return next_.empty(); }
  void reset() { next_.clear(); }

 private:
  static const std::string& keyOf(const std::string& entry) { return entry; }
  template <typename Value>
  static const std::string& keyOf(const std::pair<const std::string, Value>& entry) {
    return entry.first;
  }

  std::string next_;  // key of the next turn; "" after a complete round
};

}  // namespace nixl_otel
