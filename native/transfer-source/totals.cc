#include "totals.h"

#include <algorithm>
#include <cstdio>

namespace nixl_otel::transfer_source {

namespace {

struct Field {
  const char* name;
  uint64_t AgentTotals::* member;
};

// Numbers that are printed for each agent and summed over all agents.
constexpr Field kFields[] = {
    {"staged", &AgentTotals::staged},           {"dropped", &AgentTotals::dropped},
    {"flushed", &AgentTotals::flushed},         {"notices", &AgentTotals::notices},
    {"written", &AgentTotals::written},         {"refused", &AgentTotals::refused},
    {"unflushed", &AgentTotals::unflushed},     {"wiped", &AgentTotals::wiped},
    {"restarts", &AgentTotals::restarts},       {"transfersTx", &AgentTotals::transfersTx},
    {"transfersRx", &AgentTotals::transfersRx},
};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string numbersJson(const AgentTotals& totals, bool withLast) {
  std::string out;
  for (const Field& field : kFields) {
    out += '"';
    out += field.name;
    out += "\":" + std::to_string(totals.*field.member) + ',';
  }
  out += "\"events\":{";
  bool first = true;
  for (size_t type = 0; type < totals.events.size(); type++) {
    const EventTotals& event = totals.events[type];
    if (event.count == 0) continue;
    if (!first) out += ',';
    first = false;
    out += '"';
    out += kEventNames[type].canonical;
    out += "\":{\"count\":\"" + decimal(event.count) + "\",\"sum\":\"" + decimal(event.sum) + '"';
    if (withLast) out += ",\"last\":\"" + decimal(event.last) + '"';
    out += '}';
  }
  return out + '}';
}

}  // namespace

void AgentTotals::add(const AgentTotals& other) {
  for (const Field& field : kFields) this->*field.member += other.*field.member;
  for (size_t type = 0; type < events.size(); type++) {
    events[type].count += other.events[type].count;
    events[type].sum += other.events[type].sum;
  }
}

std::string decimal(Uint128 value) {
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(value % 10));
    value /= 10;
  } while (value != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string totalsJson(const std::vector<AgentReport>& reports, int32_t wireVersion, double seconds) {
  AgentTotals all;
  std::string out = "{\"agents\":[";
  for (const AgentReport& report : reports) {
    if (&report != &reports.front()) out += ',';
    out += "{\"agent\":" + quoted(report.agent) + ",\"path\":" + quoted(report.path) +
           ",\"pid\":" + std::to_string(report.totals.pid) + ",\"wireVersion\":" + std::to_string(wireVersion);
    if (report.totals.complete) {
      all.add(report.totals);
      out += ',' + numbersJson(report.totals, true);
    } else {
      out += ",\"complete\":false";
    }
    out += '}';
  }
  char elapsed[32];
  std::snprintf(elapsed, sizeof elapsed, "%.6f", seconds);
  return out + "],\"totals\":{" + numbersJson(all, false) + "},\"seconds\":" + elapsed + '}';
}

}  // namespace nixl_otel::transfer_source
