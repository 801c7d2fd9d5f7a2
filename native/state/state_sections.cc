#include "state/state_sections.h"

namespace nixl_otel {

bool readSections(std::span<const std::byte> bytes, std::vector<Section>& sections) {
  while (!bytes.empty()) {
    SectionHead head;
    if (bytes.size() < sizeof head) return false;
    std::memcpy(&head, bytes.data(), sizeof head);
    bytes = bytes.subspan(sizeof head);
    const size_t all = head.fixedBytes + padded(head.tailBytes);
    if (head.fixedBytes % 8 != 0 || all > bytes.size()) return false;
    sections.push_back({static_cast<SectionType>(head.type), bytes.first(head.fixedBytes),
                        bytes.subspan(head.fixedBytes, head.tailBytes)});
    bytes = bytes.subspan(all);
  }
  return true;
}

}  // namespace nixl_otel
