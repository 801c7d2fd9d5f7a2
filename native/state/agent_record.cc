#include "state/agent_record.h"

#include <algorithm>
#include <cmath>

namespace nixl_otel {
namespace {

// Bits of AgentFields::suspect.
constexpr uint32_t kSuspect = 1;
constexpr uint32_t kShared = 2;

void store(AgentFields& to, const AgentRecord& agent) {
  to.lastEventMs = agent.lastEventMs;
  to.fullMs = agent.fullMs;
  to.writerStartTime = agent.writer.startTime;
  to.pidNamespace = agent.pidNamespace;
  to.drained = agent.retired.drained;
  to.foundFull = agent.retired.foundFull;
  to.writer = agent.writer.pid;
  to.replacements = agent.replacements;
  to.restarts = agent.retired.restarts;
  to.foreignMoves = agent.retired.foreignMoves;
  to.resyncs = agent.retired.resyncs;
  to.suspect = (agent.retired.suspect ? kSuspect : 0) | (agent.shared ? kShared : 0);
}

void store(RingFields& to, const RingRecord& ring) {
  const DrainRecord& drain = ring.drain;
  to.device = ring.id.file.device;
  to.inode = ring.id.file.inode;
  to.bornSeconds = ring.id.born.tv_sec;
  to.bornNanoseconds = ring.id.born.tv_nsec;
  to.capacity = ring.capacity;
  to.before = drain.before;
  to.after = drain.after;
  to.drained = drain.stats.drained;
  to.foundFull = drain.stats.foundFull;
  to.slotBytes = ring.slotBytes;
  to.mark = drain.mark;
  to.version = drain.version;
  to.fromZero = drain.fromZero ? 1 : 0;
  to.restarts = drain.stats.restarts;
  to.foreignMoves = drain.stats.foreignMoves;
  to.resyncs = drain.stats.resyncs;
  to.suspect = drain.stats.suspect ? 1 : 0;
  to.gaps = drain.gaps;
  to.gapBefore = drain.gapBefore;
  static_assert(std::size(RingFields{}.gapAt) == DrainRecord::kMostGaps);
  std::copy(drain.gapAt.begin(), drain.gapAt.end(), to.gapAt);
}

DrainStats statsOf(const auto& fields) {
  return {.drained = fields.drained,
          .restarts = fields.restarts,
          .foreignMoves = fields.foreignMoves,
          .resyncs = fields.resyncs,
          .foundFull = fields.foundFull,
          .suspect = fields.suspect != 0};
}

// A length of time, or a time since the Unix epoch, that a clock of this century may have.
bool isTime(double ms) { return ms >= 0 && ms < 1e13; }

bool restoreRing(const Section& section, RingRecord& ring) {
  RingFields fields;
  if (!section.read(fields)) return false;
  if (!validCapacity(fields.capacity) || !knownVersion(fields.version) || !isMark(fields.mark)) return false;
  // Not this capacity: until the ring has come to rest, positions are those of the ring that it replaced.
  if (fields.before >= kMaxCapacity || fields.after >= kMaxCapacity) return false;
  if (fields.gaps > DrainRecord::kMostGaps) return false;
  for (uint32_t i = 0; i < fields.gaps; ++i) {
    if (fields.gapAt[i] >= kMaxCapacity) return false;
  }
  ring.id.file = {fields.device, fields.inode};
  ring.id.born = {fields.bornSeconds, fields.bornNanoseconds};
  ring.capacity = fields.capacity;
  ring.slotBytes = fields.slotBytes;
  ring.drain = {.mark = fields.mark,
                .version = fields.version,
                .before = fields.before,
                .after = fields.after,
                .fromZero = fields.fromZero != 0,
                .gapBefore = fields.gapBefore != 0,
                .gaps = fields.gaps,
                .stats = statsOf(fields)};
  std::copy_n(fields.gapAt, fields.gaps, ring.drain.gapAt.begin());
  return true;
}

bool restoreAgent(const Section& section, AgentRecord& agent) {
  AgentFields fields;
  if (!section.read(fields)) return false;
  if (!isTime(fields.lastEventMs) || !isTime(fields.fullMs) || fields.writer < 0) return false;
  agent.lastEventMs = fields.lastEventMs;
  agent.fullMs = fields.fullMs;
  agent.writer = {fields.writer, fields.writerStartTime};
  agent.pidNamespace = fields.pidNamespace;
  agent.replacements = fields.replacements;
  agent.retired = statsOf(fields);
  agent.shared = (fields.suspect & kShared) != 0;
  return true;
}

}  // namespace

size_t AgentSections::bytes(const AgentRecord& agent) {
  return sectionBytes<AgentFields>() + agent.rings.size() * sectionBytes<RingFields>() +
         sectionBytes<NoFields>(agent.attributes.size());
}

void AgentSections::rewrite(SectionWriter& to, const AgentRecord& agent) {
  place_ = to.offset();
  store(to.add<AgentFields>(SectionType::kAgent), agent);
  rings_.clear();
  for (const RingRecord& ring : agent.rings) {
    rings_.push_back(to.offset());
    store(to.add<RingFields>(SectionType::kRing), ring);
  }
  attributes_ = agent.attributes;
  to.add<NoFields>(SectionType::kAttributes, std::as_bytes(std::span(attributes_)));
}

bool AgentSections::update(std::byte* base, const AgentRecord& agent) {
  if (agent.rings.size() != rings_.size() || agent.attributes != attributes_) return false;
  store(fixedAt<AgentFields>(base + place_), agent);
  for (size_t i = 0; i < rings_.size(); ++i) store(fixedAt<RingFields>(base + rings_[i]), agent.rings[i]);
  return true;
}

bool AgentSections::restore(std::span<const Section> sections, AgentRecord& agent, std::string& reason) {
  bool found = false;
  for (const Section& section : sections) {
    if (section.type == SectionType::kAgent) {
      if (found || !restoreAgent(section, agent)) return reason = "its agent's record is damaged", false;
      found = true;
    } else if (section.type == SectionType::kRing) {
      agent.rings.emplace_back();
      const bool room = agent.rings.size() <= StateWord::kMostRings;
      if (!room || !restoreRing(section, agent.rings.back())) return reason = "a ring's record is damaged", false;
    } else if (section.type == SectionType::kAttributes) {
      if (section.tail.size() > AgentRecord::kMostAttributeBytes) return reason = "its attributes are too long", false;
      agent.attributes.assign(reinterpret_cast<const char*>(section.tail.data()), section.tail.size());
    }
  }
  if (!found) reason = "it has no record of an agent";
  return found;
}

}  // namespace nixl_otel
