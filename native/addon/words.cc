#include "addon/words.h"

#include "posix.h"

namespace nixl_otel::addon {

namespace {

void putTransfers(Words& words, const TransferTally& transfers) {
  words.put(transfers.count);
  words.put(transfers.sizeSum);
  words.put(transfers.sizes);
  words.put(transfers.durationSum);
  words.put(transfers.durations);
  words.put(transfers.throughputSum);
  words.put(transfers.throughputs);
}

}  // namespace

void putTally(Words& words, std::vector<std::string>& strings, const Tally& tally) {
  words.put(tally.memoryInUse());
  words.put(uint64_t{tally.events().size()});
  for (const EventTally& event : tally.events()) {
    words.put(uint64_t{event.type});
    words.put(static_cast<uint64_t>(static_cast<int64_t>(event.category)));
    const bool named = !event.overflow && event.type == EventTally::kNoType;
    const bool histogram = event.buckets != nullptr;
    words.put(uint64_t{event.known} | uint64_t{event.overflow} << 1 | uint64_t{histogram} << 2 | uint64_t{named} << 3 |
              uint64_t{histogram ? event.bounds : 0} << 8);
    words.put(event.count);
    words.put(event.sum);
    words.put(event.last);
    words.put(event.counts);
    if (named) strings.push_back(toUtf8(event.name));
  }
  putTransfers(words, tally.transmit());
  putTransfers(words, tally.receive());
}

}  // namespace nixl_otel::addon
