#include "state/agent_record.h"

#include <algorithm>
#include <cmath>

namespace nixl_otel {
namespace {

// Bits of AgentFields::suspect.
constexpr uint32_t kSuspect = 1;
constexpr uint32_t kShared = 2;

// Fields of a file and of the record beside them, in one list for both directions: copy(field of the file, of the
// record) sets one of them.
void eachOf(auto& fields, auto& stats, const auto& copy) {
  copy(fields.drained, stats.drained);
  copy(fields.foundFull, stats.foundFull);
  copy(fields.restarts, stats.restarts);
  copy(fields.foreignMoves, stats.foreignMoves);
  copy(fields.resyncs, stats.resyncs);
}

void eachOfAgent(auto& fields, auto& agent, const auto& copy) {
  copy(fields.lastEventMs, agent.lastEventMs);
  copy(fields.fullMs, agent.fullMs);
  copy(fields.writerStartTime, agent.writer.startTime);
  copy(fields.pidNamespace, agent.pidNamespace);
  copy(fields.writer, agent.writer.pid);
  copy(fields.replacements, agent.replacements);
  eachOf(fields, agent.retired, copy);
}

void eachOfRing(auto& fields, auto& ring, const auto& copy) {
  copy(fields.device, ring.id.file.device);
  copy(fields.inode, ring.id.file.inode);
  copy(fields.bornSeconds, ring.id.born.tv_sec);
  copy(fields.bornNanoseconds, ring.id.born.tv_nsec);
  copy(fields.capacity, ring.capacity);
  copy(fields.slotBytes, ring.slotBytes);
  copy(fields.before, ring.drain.before);
  copy(fields.after, ring.drain.after);
  copy(fields.mark, ring.drain.mark);
  copy(fields.version, ring.drain.version);
  copy(fields.fromZero, ring.drain.fromZero);
  copy(fields.gaps, ring.drain.gaps);
  copy(fields.gapBefore, ring.drain.gapBefore);
  for (size_t i = 0; i < DrainRecord::kMostGaps; ++i) copy(fields.gapAt[i], ring.drain.gapAt[i]);
  eachOf(fields, ring.drain.stats, copy);
  copy(fields.suspect, ring.drain.stats.suspect);
}
static_assert(std::size(RingFields{}.gapAt) == DrainRecord::kMostGaps);

constexpr auto kToFile = [](auto& field, const auto& value) {
  field = static_cast<std::decay_t<decltype(field)>>(value);
};
constexpr auto kToRecord = [](const auto& field, auto& value) { kToFile(value, field); };

void store(AgentFields& to, const AgentRecord& agent) {
  eachOfAgent(to, agent, kToFile);
  to.suspect = (agent.retired.suspect ? kSuspect : 0) | (agent.shared ? kShared : 0);
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
  if (std::any_of(fields.gapAt, fields.gapAt + fields.gaps, [](uint32_t at) { return at >= kMaxCapacity; })) {
    return false;
  }
  eachOfRing(fields, ring, kToRecord);
  std::fill(ring.drain.gapAt.begin() + fields.gaps, ring.drain.gapAt.end(), 0);
  return true;
}

bool restoreAgent(const Section& section, AgentRecord& agent) {
  AgentFields fields;
  if (!section.read(fields)) return false;
  if (!isTime(fields.lastEventMs) || !isTime(fields.fullMs) || fields.writer < 0) return false;
  eachOfAgent(fields, agent, kToRecord);
  agent.retired.suspect = fields.suspect != 0;
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
    eachOfRing(to.add<RingFields>(SectionType::kRing), ring, kToFile);
  }
  attributes_ = agent.attributes;
  to.add<NoFields>(SectionType::kAttributes, std::as_bytes(std::span(attributes_)));
}

bool AgentSections::update(std::byte* base, const AgentRecord& agent) {
  if (agent.rings.size() != rings_.size() || agent.attributes != attributes_) return false;
  store(fixedAt<AgentFields>(base + place_), agent);
  for (size_t i = 0; i < rings_.size(); ++i) eachOfRing(fixedAt<RingFields>(base + rings_[i]), agent.rings[i], kToFile);
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
