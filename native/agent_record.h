// What the state file of an agent keeps beside its tally: where the consumer stands in each of the agent's rings, and
// what only the processes of the agent and of the consumer knew.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "drain_protocol.h"
#include "ring_file.h"
#include "writer_search.h"

namespace nixl_otel {

// The consumer's place in one ring. The geometry tells whether the ring may still hold the events of the last chunk.
struct RingRecord {
  RingFileId id;
  uint64_t capacity = 0;
  uint32_t slotBytes = 0;  // two slots exist for wire version 2
  DrainRecord drain;
};

struct AgentRecord {
  std::vector<RingRecord> rings;  // in the order of Agent's rings: the last one is the file at the path
  DrainStats retired;             // of rings that were closed
  uint32_t replacements = 0;      // of the file at the path
  double startTimeMs = 0;         // since the Unix epoch: the time from which on the sums count
  double lastEventMs = 0;
  double fullMs = 0;
  ProcessId writer;             // the last one seen; pid 0: none
  uint64_t pidNamespace = 0;    // inode of the pid namespace in which `writer` was seen
  std::string attributes;       // opaque to this room: the agent's attributes, by src/instrumentation
};

}  // namespace nixl_otel
