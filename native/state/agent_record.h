// What the state file of an agent keeps beside its tally: where the consumer stands in each of the agent's rings, and
// what only the processes of the agent and of the consumer knew.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "process/writer_search.h"
#include "ring/drain_protocol.h"
#include "ring/ring_file.h"
#include "state/state_sections.h"

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
  bool shared = false;            // several processes wrote a ring at the same time; `retired` is then suspect
  uint32_t replacements = 0;      // of the file at the path
  double lastEventMs = 0;         // since the Unix epoch
  double fullMs = 0;
  ProcessId writer;           // the last one seen; pid 0: none
  uint64_t pidNamespace = 0;  // inode of the pid namespace in which `writer` was seen
  std::string attributes;     // opaque to this room: the agent's attributes, by src/instrumentation

  static constexpr size_t kMostAttributeBytes = 4096;
};

// The sections of a record in one half of a state file. All are written with each commit, because most fields change.
class AgentSections {
 public:
  static size_t bytes(const AgentRecord& agent);
  void rewrite(SectionWriter& to, const AgentRecord& agent);
  // False if sections have to move: rewrite().
  bool update(std::byte* base, const AgentRecord& agent);

  // Restores a record. False and `reason` if a field cannot be one: a file is untrusted. Does not know whether a ring's
  // last swap is known to have hit the marked ring: that is in W.
  static bool restore(std::span<const Section> sections, AgentRecord& agent, std::string& reason);

 private:
  uint32_t place_ = 0;
  std::vector<uint32_t> rings_;  // places of their fixed parts
  std::string attributes_;
};

}  // namespace nixl_otel
