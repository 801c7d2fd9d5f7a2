// Templates of pages together with the words that fill them: steps, bytes, words and given numbers are any. A template
// that is refused has a reason, one that is taken stays within its page, and makes the same bytes in any room.

#include <bit>
#include <span>
#include <vector>

#include "fuzzing.h"
#include "page/fill.h"

using namespace nixl_otel;

namespace {

// A page of all families, or nothing if the room is too small.
std::vector<uint8_t> page(const Template& made, std::span<const Filling> agents, const FamilyHead& head, size_t room,
                          bool& fits) {
  std::vector<uint8_t> bytes(room);
  PageRoom out(bytes, 0);
  fits = true;
  for (size_t family = 0; family < made.families() && fits; ++family) fits = out.append(head, family, agents);
  EXPECT(out.end() <= bytes.size());
  bytes.resize(fits ? out.end() : 0);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  const auto flags = input.byte();
  std::vector<Step> steps(input.byte() % 24);
  std::vector<uint32_t> familyEnds(input.byte() % 4);
  std::vector<uint64_t> words(input.byte() % 24);
  std::vector<double> given(input.byte() % 4);
  for (Step& step : steps) {
    step = {input.byte(), static_cast<What>(input.byte()),  static_cast<How>(input.byte()), input.byte(),
            input.byte(), static_cast<int8_t>(input.byte())};
  }
  for (uint32_t& end : familyEnds) end = input.byte();
  // Mostly small numbers: a native histogram has counts, and a distance to them.
  for (uint64_t& word : words) word = (flags & 4) != 0 ? input.word() : input.byte();
  for (double& number : given) number = std::bit_cast<double>(input.word());
  std::vector<uint8_t> bytes;
  while (!input.empty()) bytes.push_back(input.byte());
  std::string reason;
  const auto made = Template::of(steps, bytes, familyEnds, words.size(), given.size(), reason);
  EXPECT((made == nullptr) == !reason.empty());
  if (made == nullptr) return 0;

  // Fewer words than the template was made for are refused, not read.
  const Filling agent{made.get(), words, given};
  EXPECT(agent.fits());
  if (made->words() > 0) EXPECT(!(Filling{made.get(), std::span(words).first(made->words() - 1), given}.fits()));
  const std::vector<Filling> agents(1 + (flags >> 3) % 3, agent);
  const FamilyHead head{std::span(bytes).first(bytes.size() / 2), (flags & 1) != 0, (flags & 2) != 0};
  bool fits = false;
  const std::vector<uint8_t> whole = page(*made, agents, head, size_t{1} << 16, fits);
  EXPECT(fits);
  for (size_t room = 0; room <= whole.size(); room += 1 + room / 8) {
    const std::vector<uint8_t> other = page(*made, agents, head, room, fits);
    EXPECT(!fits || other == whole);
  }
  return 0;
}
