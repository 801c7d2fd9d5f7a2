#include "agent_record.h"

#include <algorithm>
#include <cmath>

namespace nixl_otel {
namespace {

AgentFields fieldsOf(const AgentRecord& agent) {
  return {.lastEventMs = agent.lastEventMs,
          .fullMs = agent.fullMs,
          .writerStartTime = agent.writer.startTime,
          .pidNamespace = agent.pidNamespace,
          .drained = agent.retired.drained,
          .foundFull = agent.retired.foundFull,
          .writer = agent.writer.pid,
          .replacements = agent.replacements,
          .restarts = agent.retired.restarts,
          .foreignMoves = agent.retired.foreignMoves,
          .resyncs = agent.retired.resyncs,
          .suspect = agent.retired.suspect};
}

RingFields fieldsOf(const RingRecord& ring) {
  const DrainRecord& drain = ring.drain;
  RingFields fields{.device = ring.id.file.device,
                    .inode = ring.id.file.inode,
                    .bornSeconds = ring.id.born.tv_sec,
                    .bornNanoseconds = ring.id.born.tv_nsec,
                    .capacity = ring.capacity,
                    .before = drain.before,
                    .after = drain.after,
                    .drained = drain.stats.drained,
                    .foundFull = drain.stats.foundFull,
                    .slotBytes = ring.slotBytes,
                    .mark = drain.mark,
                    .version = drain.version,
                    .fromZero = drain.fromZero,
                    .restarts = drain.stats.restarts,
                    .foreignMoves = drain.stats.foreignMoves,
                    .resyncs = drain.stats.resyncs,
                    .suspect = drain.stats.suspect,
                    .gaps = drain.gaps,
                    .unused = 0,
                    .gapAt = {}};
  static_assert(std::size(fields.gapAt) == DrainRecord::kMostGaps);
  std::copy(drain.gapAt.begin(), drain.gapAt.end(), fields.gapAt);
  return fields;
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
  if (fields.before >= fields.capacity || fields.after >= fields.capacity) return false;
  if (fields.gaps > DrainRecord::kMostGaps) return false;
  for (uint32_t i = 0; i < fields.gaps; ++i) {
    if (fields.gapAt[i] >= fields.capacity) return false;
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
  return true;
}

std::span<const std::byte> bytesOf(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

size_t AgentSections::bytes(const AgentRecord& agent) {
  return sectionBytes<AgentFields>() + agent.rings.size() * sectionBytes<RingFields>() +
         sectionBytes<NoFields>(agent.attributes.size());
}

void AgentSections::rewrite(SectionWriter& to, const std::byte* base, const AgentRecord& agent) {
  place_ = static_cast<size_t>(to.add(SectionType::kAgent, fieldsOf(agent)) - base);
  rings_.clear();
  for (const RingRecord& ring : agent.rings) {
    rings_.push_back(static_cast<size_t>(to.add(SectionType::kRing, fieldsOf(ring)) - base));
  }
  attributes_ = agent.attributes;
  to.add(SectionType::kAttributes, NoFields{}, bytesOf(attributes_));
}

bool AgentSections::update(std::byte* base, const AgentRecord& agent) {
  if (agent.rings.size() != rings_.size() || agent.attributes != attributes_) return false;
  storeField(base, static_cast<uint32_t>(place_), fieldsOf(agent));
  for (size_t i = 0; i < rings_.size(); ++i) {
    storeField(base, static_cast<uint32_t>(rings_[i]), fieldsOf(agent.rings[i]));
  }
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
