// The search over all states between two calls of the consumer, and over all schedules within a call.

#pragma once

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "explorer_calls.h"

namespace explorer {

// Result of a schedule, once the producer has ended and the consumer has found the ring empty twice.
struct Ending {
  uint8_t wrong = 0;  // bits of Wrong
  bool suspect = false;
  uint8_t rebuilds = 0;        // number that began while the consumer was attached or had a record
  uint8_t allRebuilds = 0;     // number that began at any time
  bool mustBeNoticed = false;  // the consumer did not die before it had a record of one of them
  uint32_t restarts = 0;
  int excess = 0;    // events counted beyond those written, with a second producer
  int underWay = 0;  // its pushes that had passed the check when the other one moved write_pos
};

struct Report {
  size_t states = 0;   // distinct states, at memory accesses and between calls
  size_t runs = 0;     // executions of the consumer's code; most of them end early at a known state
  size_t endings = 0;  // distinct states in which all sides may stop
  size_t wrong = 0;
  size_t wrongUnflagged = 0;
  size_t flagged = 0;
  std::map<std::pair<int, int>, size_t> restartsOfRebuilds;  // {rebuilds, restarts counted} -> endings
  size_t tooMany = 0;                                        // endings with more events counted than written
  size_t tooManyUnflagged = 0;
  bool hung = false;
  std::string schedule;  // of the first wrong ending

  std::string line(const char* name) const {
    char text[300];
    std::snprintf(text, sizeof text, "%-46s %9zu states %9zu runs %8zu endings: %zu wrong (%zu unflagged), %zu flagged",
                  name, states, runs, endings, wrong, wrongUnflagged, flagged);
    return text;
  }
};

using IsWrong = std::function<bool(const Ending&)>;

class Search {
 public:
  // The search stops at the first ending for which `isWrong` is true, and keeps its schedule.
  Search(const Setting& setting, IsWrong isWrong) : setting_(setting), isWrong_(std::move(isWrong)) {}

  Report run() {
    add(startWorld(setting_), newConsumer(), 0);
    for (size_t i = 0; i < nodes_.size() && report_.schedule.empty(); ++i) expand(i);
    report_.states = visited_.size();
    return report_;
  }

 private:
  struct Node {
    World w;
    Consumer c;
    size_t parent;
  };
  enum class Call : uint8_t { kOpen, kOpenOther, kDrain, kDrainLess, kClose, kKill };

  void add(const World& w, const Consumer& c, size_t parent) {
    if (!visited_.insert(digest(w, c))) return;
    nodes_.push_back({w, c, parent});
    if (!w.rebuilding) end(nodes_.size() - 1);
  }

  static Digest digest(const World& w, const Consumer& c) {
    Digest d;
    d.addBytes(c);
    d.add(~uint64_t{0});  // no call's state
    d.addBytes(w);
    return d;
  }

  void expand(size_t index) {
    forEachSuccessor(nodes_[index], visited_, [&](const World& w, const Consumer& c) {
      add(w, c, index);
      return report_.schedule.empty();
    });
  }

  std::vector<Call> possibleCalls(const Node& node) const {
    std::vector<Call> calls;
    if (!node.c.open) {
      calls.push_back(Call::kOpen);
      if (node.w.othersLeft > 0 && node.c.recorded) calls.push_back(Call::kOpenOther);
      return calls;
    }
    calls.push_back(Call::kDrain);
    if (setting_.budgets[1] != 0) calls.push_back(Call::kDrainLess);
    if (node.c.isOther) calls.insert(calls.end(), {Call::kClose, Call::kKill});
    return calls;
  }

  // `found(world, consumer)` returns false to stop.
  template <typename Found>
  void forEachSuccessor(const Node node, DigestSet& visited, Found found) {
    if (setting_.costLimit != 0 && node.w.cost >= setting_.costLimit) return;
    const Moves moves = possibleMoves(node.w, setting_);
    for (int m = 0; m < moves.count; ++m) {
      World w = node.w;
      make(w, setting_, moves.list[m], node.c.watch());
      if (!found(w, node.c)) return;
    }
    for (const Call call : possibleCalls(node)) {
      Choices choices;
      do {
        World w = node.w;
        Consumer c = node.c;
        SimulatedRing ring(w, c, setting_, choices, &visited);
        if (setting_.costLimit != 0) ++w.cost;
        ++report_.runs;
        try {
          oneCall(w, c, ring, call);
          if (!found(w, c)) return;
        } catch (const AlreadyExplored&) {
        } catch (const Hung&) {
          report_.hung = true;
        }
      } while (choices.advance());
    }
  }

  nixl_otel::DrainOutcome oneCall(World& w, Consumer& c, SimulatedRing& ring, Call call) {
    try {
      switch (call) {
        case Call::kDrain:
        case Call::kDrainLess:
          return drainCall(w, c, ring, setting_.budgets[call == Call::kDrainLess]);
        case Call::kOpen:
        case Call::kOpenOther:
          openCall(c, ring, call == Call::kOpenOther);
          if (c.isOther) --w.othersLeft;
          break;
        case Call::kClose:
          closeCall(c, ring);
          break;
        case Call::kKill:
          c.close();
      }
    } catch (const Died&) {
      --w.deathsLeft;
      endDrainCall(w);
      c.close();
    }
    return nixl_otel::DrainOutcome::kWaiting;
  }

  // Ends a schedule: the producer takes no more steps, and the consumer drains until the ring is empty.
  void end(size_t index) {
    World w = nodes_[index].w;
    Consumer c = nodes_[index].c;
    Choices none;
    SimulatedRing ring(w, c, setting_, none, nullptr);
    ring.freezeOthers();
    int empty = 0;
    try {
      if (c.isOther) oneCall(w, c, ring, Call::kClose);
      for (int calls = 0; calls < 12 && empty < 2; ++calls) {
        empty =
            oneCall(w, c, ring, c.open ? Call::kDrain : Call::kOpen) == nixl_otel::DrainOutcome::kEmpty ? empty + 1 : 0;
      }
    } catch (const Hung&) {
      report_.hung = true;
    }
    if (empty < 2) w.wrong |= kStuck;
    if (lostEvents(w) != 0) w.wrong |= kLost;
    Ending ending;
    ending.wrong = w.wrong;
    ending.suspect = c.protocol.stats().suspect;
    ending.rebuilds = w.rebuildsSeen;
    ending.allRebuilds = w.incarnation;
    ending.mustBeNoticed = w.recordRebuilt || (w.rebuildsSeen > 0 && w.deathsLeft == setting_.deaths);
    ending.restarts = c.protocol.stats().restarts;
    ending.excess = std::max(0, setting_.secondPushes == 0 ? 0 : w.events - w.lastValue);
    ending.underWay = w.underWay;
    ++report_.endings;
    report_.tooMany += ending.excess > 0;
    report_.tooManyUnflagged += ending.excess > 0 && !ending.suspect;
    report_.wrong += ending.wrong != 0;
    report_.wrongUnflagged += ending.wrong != 0 && !ending.suspect;
    report_.flagged += ending.suspect;
    ++report_.restartsOfRebuilds[{ending.rebuilds, static_cast<int>(ending.restarts)}];
    if (isWrong_ && report_.schedule.empty() && isWrong_(ending)) report_.schedule = schedule(index, ending);
  }

  // Returns the schedule that leads to a node. Nodes store no steps: edge() searches for them again.
  std::string schedule(size_t index, const Ending& ending) {
    std::vector<size_t> path;
    for (size_t i = index; i != 0; i = nodes_[i].parent) path.insert(path.begin(), i);
    std::string text = "start: positions " + std::to_string(setting_.startPos) + ", capacity " +
                       std::to_string(setting_.capacity[0]) + "\n";
    for (const size_t i : path) text += edge(nodes_[nodes_[i].parent], digest(nodes_[i].w, nodes_[i].c));
    text += "end: wrong " + std::to_string(ending.wrong) + (ending.suspect ? ", flagged" : ", not flagged") +
            ", restarts " + std::to_string(ending.restarts) + " of " + std::to_string(ending.rebuilds) + "\n";
    return text;
  }

  std::string edge(const Node& from, const Digest& to) {
    std::string text;
    const Moves moves = possibleMoves(from.w, setting_);
    for (int m = 0; m < moves.count; ++m) {
      World w = from.w;
      make(w, setting_, moves.list[m], from.c.watch());
      if (same(digest(w, from.c), to)) return describe(from.w, moves.list[m]) + "\n";
    }
    const char* names[] = {"open", "another opens", "drain", "drain less", "close", "killed"};
    for (const Call call : possibleCalls(from)) {
      DigestSet visited;
      Choices choices;
      do {
        World w = from.w;
        Consumer c = from.c;
        text = std::string("-- ") + names[static_cast<int>(call)] + "\n";
        SimulatedRing ring(w, c, setting_, choices, &visited, &text);
        if (setting_.costLimit != 0) ++w.cost;
        try {
          oneCall(w, c, ring, call);
          if (same(digest(w, c), to)) return text + "--\n";
        } catch (const AlreadyExplored&) {
        }
      } while (choices.advance());
    }
    return text;
  }

  static bool same(const Digest& x, const Digest& y) { return x.a == y.a && x.b == y.b; }

  const Setting setting_;
  const IsWrong isWrong_;
  DigestSet visited_;
  std::vector<Node> nodes_;
  Report report_;
};

inline Report explore(const Setting& setting, IsWrong isWrong = nullptr) {
  return Search(setting, std::move(isWrong)).run();
}

}  // namespace explorer
