#include "tally/size_class.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "check.h"
#include "random_tally.h"
#include "ring/ring_event.h"
#include "tally/tally.h"

using namespace nixl_otel;

namespace {

// What a program that reads event for event would say of one class.
struct Expected {
  uint64_t count = 0;
  WideSum sizeSum = 0, durationSum = 0, postSum = 0;
  std::vector<uint64_t> durations, posts;
};

// Sums up transfers of one direction in the plainest way. `apart`: agents write posts when they post.
class Oracle {
 public:
  explicit Oracle(bool apart) : apart_(apart) {}

  void note(uint32_t type, uint64_t value) {
    last_.push_back({type, value});
    const size_t size = last_.size();
    if (type == kXferPostTime) ++open_;
    if (type == kXferTime) {
      const bool follows = size > 1 && last_[size - 2].type == kXferPostTime;
      post_ = follows && (!apart_ || open_ == 1) ? std::optional(last_[size - 2].value) : std::nullopt;
      open_ -= open_ == 0 ? 0 : 1;
    }
    if (type != kTxRequests && type != kRxRequests) return;
    const uint32_t direction = type - kTxRequests;
    if (size < 3 || value != 1 || last_[size - 2].type != kTxBytes + direction || last_[size - 3].type != kXferTime) {
      return;
    }
    finish(direction, last_[size - 2].value, last_[size - 3].value);
  }
  // Notes that events are missing here.
  void interrupt() { last_.clear(); }

  std::map<uint64_t, Expected> classes[2];  // by their largest bytes
  uint64_t endedInPost[2] = {};

 private:
  struct Event {
    uint32_t type;
    uint64_t value;
  };
  void finish(uint32_t direction, uint64_t bytes, uint64_t us) {
    uint64_t upTo = 1024;
    while (bytes > upTo && upTo <= uint64_t{1} << 30) upTo *= 2;
    Expected& one = classes[direction][upTo > uint64_t{1} << 30 ? UINT64_MAX : upTo];
    ++one.count;
    one.sizeSum += bytes;
    one.durationSum += us;
    one.durations.push_back(us);
    if (!post_) return;
    one.postSum += *post_;
    one.posts.push_back(*post_);
    const WideSum apart = us > *post_ ? us - *post_ : *post_ - us;
    endedInPost[direction] += apart * 50 <= us;
  }

  const bool apart_;
  std::vector<Event> last_;
  std::optional<uint64_t> post_;
  uint64_t open_ = 0;
};

BucketCounts countsOf(const IntegerBuckets& buckets, const std::vector<uint64_t>& values) {
  BucketCounts counts;
  for (const uint64_t value : values) counts.add(buckets.find(value));
  return counts;
}

void checkClasses(const Tally& tally, const Oracle& oracle) {
  const TallyPlan& plan = tally.plan();
  for (const uint32_t direction : {0u, 1u}) {
    const TransferTally& transfers = direction == 0 ? tally.transmit() : tally.receive();
    CHECK_EQ(transfers.endedInPost, oracle.endedInPost[direction]);
    size_t number = 0;
    transfers.classes.each([&](size_t index, const SizeClass& one) {
      ++number;
      const auto found = oracle.classes[direction].find(SizeClasses::largestOf(index));
      REQUIRE(found != oracle.classes[direction].end());
      const Expected& expected = found->second;
      CHECK_EQ(one.count, expected.count);
      CHECK(one.sizeSum == expected.sizeSum && one.durationSum == expected.durationSum);
      CHECK(one.postSum == expected.postSum);
      CHECK(sameCounts(one.durations, countsOf(*plan.at(plan.transferBounds()), expected.durations)));
      CHECK(sameCounts(one.posts, countsOf(*plan.postBuckets(), expected.posts)));
    });
    CHECK_EQ(number, oracle.classes[direction].size());
  }
}

// Agents that post several transfers before one ends, lose events, and move every size.
class Agent {
 public:
  explicit Agent(uint64_t seed) : random_(seed) {}

  // Posts stand directly before the time, or (apart) where the agent posted.
  std::vector<RingEvent> events(bool apart, uint32_t transfers) {
    events_.clear();
    for (uint32_t i = 0; i < transfers; ++i) {
      const auto direction = static_cast<uint32_t>(below(2));
      const uint64_t bytes = random_() >> (20 + below(44));
      const uint64_t us = below(10) == 0 ? 0 : below(100000);
      const uint64_t post = below(3) == 0 ? us : us - us / 100 * below(5);
      const bool hasPost = below(8) != 0;
      if (apart && below(6) == 0) add(kXferPostTime, below(1000));
      if (hasPost) add(kXferPostTime, post);
      if (below(16) == 0) add(kMemoryRegistered, 1);
      add(kXferTime, us);
      if (below(32) != 0) add(kTxBytes + direction, bytes);
      if (below(32) != 0) add(kTxRequests + direction, below(64) == 0 ? 2 : 1);
      if (below(32) == 0) add(kFirstError, 1);
      if (apart && below(6) == 0) add(kXferTime, us);  // its end was lost
    }
    return events_;
  }
  uint64_t below(uint64_t bound) { return random_() % bound; }

 private:
  void add(uint32_t type, uint64_t value) {
    static const char* const kNames[] = {"agent_tx_bytes",        "agent_rx_bytes",       "agent_tx_requests_num",
                                         "agent_rx_requests_num", "agent_memory",         "agent_memory_end",
                                         "agent_xfer_time",       "agent_xfer_post_time", "agent_error"};
    RingEvent event;
    event.type = type;
    event.value = value;
    event.category = type < 4 ? kTransfer : type < 6 ? kMemory : type < 8 ? kPerformance : kError;
    event.setName(kNames[type]);
    events_.push_back(event);
  }

  std::mt19937_64 random_;
  std::vector<RingEvent> events_;
};

std::shared_ptr<const TallyPlan> planWithNames() {
  TallyOptions options = someOptions();
  const char* const names[] = {"agent_tx_bytes", "agent_rx_bytes",   "agent_tx_requests_num", "agent_rx_requests_num",
                               "agent_memory",   "agent_memory_end", "agent_xfer_time",       "agent_xfer_post_time"};
  options.typeNames.clear();
  for (uint32_t type = 0; type < std::size(names); ++type) options.typeNames.emplace_back(names[type], type);
  return planFor(options);
}

}  // namespace

TEST(dividesAtPowersOfTwo) {
  CHECK_EQ(SizeClasses::indexOf(0), 0u);
  CHECK_EQ(SizeClasses::indexOf(UINT64_MAX), SizeClasses::kCount - 1);
  for (size_t index = 0; index + 1 < SizeClasses::kCount; ++index) {
    CHECK_EQ(SizeClasses::largestOf(index), uint64_t{1024} << index);
    CHECK_EQ(SizeClasses::indexOf(SizeClasses::largestOf(index)), index);
    CHECK_EQ(SizeClasses::indexOf(SizeClasses::largestOf(index) + 1), index + 1);
  }
  CHECK_EQ(SizeClasses::largestOf(SizeClasses::kCount - 1), UINT64_MAX);
}

// However the events come in chunks: whole ones are folded by other code than parts.
TEST(countsWhatAProgramWouldCount) {
  const auto plan = planWithNames();
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const auto version = static_cast<int32_t>(seed % 5 + 1);
    const bool apart = version < 4;
    const RingLayout& layout = *releasedLayout(version);
    Agent agent(seed);
    Oracle oracle(apart);
    Tally tally(plan);
    std::vector<TappedEvent> none;
    for (int round = 0; round < 4; ++round) {
      const std::vector<RingEvent> events = agent.events(apart, 200);
      for (size_t begin = 0; begin < events.size();) {
        const size_t count = std::min<size_t>(events.size() - begin, 1 + agent.below(seed % 2 == 0 ? 7 : 400));
        std::vector<std::byte> slots(count * layout.slot.size);
        for (size_t i = 0; i < count; ++i) {
          encodeSlot(layout.slot, slots.data() + i * layout.slot.size, events[begin + i]);
          oracle.note(events[begin + i].type, events[begin + i].value);
        }
        const bool isCut = agent.below(20) == 0;
        tally.fold({layout, slots.data(), static_cast<uint32_t>(count), false, isCut, 0}, {}, none);
        if (isCut) oracle.interrupt();
        begin += count;
      }
    }
    checkClasses(tally, oracle);
    CHECK(oracle.endedInPost[0] > 10);
  }
}

// A full ring and a post that was lost must not give a transfer the post of another one.
TEST(givesNoTransferThePostOfAnother) {
  const auto plan = planWithNames();
  const RingLayout& layout = *releasedLayout(3);
  const auto fold = [&](Tally& tally, const std::vector<std::pair<uint32_t, uint64_t>>& events) {
    std::vector<std::byte> slots(events.size() * layout.slot.size);
    for (size_t i = 0; i < events.size(); ++i) {
      RingEvent event;
      event.type = events[i].first;
      event.value = events[i].second;
      encodeSlot(layout.slot, slots.data() + i * layout.slot.size, event);
    }
    std::vector<TappedEvent> none;
    tally.fold({layout, slots.data(), static_cast<uint32_t>(events.size()), false, false, 0}, {}, none);
  };
  Tally tally(plan);
  // Two transfers are posted, then both end.
  fold(tally, {{kXferPostTime, 1},
               {kXferPostTime, 2},
               {kXferTime, 10},
               {kTxBytes, 50},
               {kTxRequests, 1},
               {kXferTime, 20},
               {kTxBytes, 5000},
               {kTxRequests, 1}});
  CHECK_EQ(tally.transmit().count, 2u);
  tally.transmit().classes.each([](size_t, const SizeClass& one) { CHECK(one.postSum == 0); });
  // One at a time.
  fold(tally, {{kXferPostTime, 3}, {kXferTime, 10}, {kTxBytes, 50}, {kTxRequests, 1}});
  CHECK(tally.transmit().classes.find(0)->postSum == 3);
}

TEST(sumsSquaresOfFlushes) {
  TransferTally transfers;
  for (const uint64_t flush : {3u, 0u, 5u}) {
    transfers.count += flush;
    transfers.noteFlush();
  }
  CHECK(transfers.flushSquares == 9 + 25);
}

int main() { return check::run("size_class_test"); }
