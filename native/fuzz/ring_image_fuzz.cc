// Any bytes as a ring: they are opened, observed, drained and tallied. Only read_pos and the mark in expected_version
// may change, and the counts must equal the number of events that the ring holds.

#include "fuzzing.h"
#include "ring/ring_observer.h"

using namespace nixl_otel;

namespace {

template <typename T>
T at(const std::vector<uint8_t>& bytes, size_t offset) {
  T value{};
  if (offset + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// Most inputs are no rings, because their size or mask is wrong. Bits of the first byte select corrections.
std::vector<uint8_t> imageFrom(const uint8_t* data, size_t size) {
  if (size == 0) return {};
  const uint8_t repairs = data[0];
  std::vector<uint8_t> bytes(data + 1, data + size);
  const auto version = at<int32_t>(bytes, 16);
  if (!knownVersion(version)) return bytes;
  const RingLayout* layout = releasedLayout(version);
  const auto capacity = at<uint64_t>(bytes, layout->header.capacity);
  if (!validCapacity(capacity) || capacity > 512) return bytes;
  const auto put = [&](size_t offset, auto value) {
    if (offset + sizeof value <= bytes.size()) std::memcpy(bytes.data() + offset, &value, sizeof value);
  };
  if (repairs & 1) bytes.resize(layout->fileSize(capacity));
  if (repairs & 2) put(layout->header.mask, capacity - 1);
  if (repairs & 4) put(20, version);
  if (repairs & 8) {
    put(layout->header.writePos, at<uint64_t>(bytes, layout->header.writePos) & (capacity - 1));
    put(layout->header.readPos, at<uint64_t>(bytes, layout->header.readPos) & (capacity - 1));
  }
  return bytes;
}

void observe(const std::string& path) {
  RingFile file = RingFile::open(path, RingAccess::kObserve, false);
  if (file.state != RingState::kReady) {
    EXPECT(!file.reason.empty());
    return;
  }
  const uint64_t capacity = file.header.capacity;
  RingObserver observer(std::move(file));
  const Observation seen = observer.observe(1000);
  EXPECT(seen.count() < capacity);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> image = imageFrom(data, size);
  const std::string& path = fuzzFile();
  writeFile(path, image.data(), image.size());
  observe(path);
  EXPECT(readFile(path) == image);

  static ChunkBuffer buffer;
  RingState state{};
  std::string reason;
  auto reader = RingReader::open(path, false, state, reason);
  if (reader == nullptr) {
    EXPECT(!reason.empty());
    EXPECT(readFile(path) == image);
    return 0;
  }
  Tally tally(fuzzPlan());
  std::vector<TappedEvent> tapped;
  uint64_t drained = 0;
  const auto fold = [&](const RingReader::Chunk& chunk) {
    EXPECT(chunk.count != 0);
    drained += chunk.count;
    tally.fold(chunk, {size % 3 == 0 ? 0xFFu : 0u, size % 5 == 0}, tapped);
  };
  const RingLayout& layout = reader->layout();
  const auto write = at<uint64_t>(image, layout.header.writePos);
  const auto read = at<uint64_t>(image, layout.header.readPos);
  const uint64_t held = (write - read) & (reader->capacity() - 1);
  reader->drain(1 + size % 5, buffer, fold);
  reader->drain(UINT64_MAX, buffer, fold);
  EXPECT(drained == held);
  EXPECT(countOf(tally) == drained);
  reader.reset();

  std::vector<uint8_t> expected = image;
  std::memcpy(expected.data() + layout.header.readPos, &write, sizeof write);
  // A mark in the image is that of another consumer. The reader leaves its own one in its place.
  const auto left = at<int32_t>(readFile(path), layout.header.expectedVersion);
  EXPECT(isMark(at<int32_t>(image, layout.header.expectedVersion)) ? isMark(left) : left == layout.version);
  std::memcpy(expected.data() + layout.header.expectedVersion, &left, sizeof left);
  EXPECT(readFile(path) == expected);
  return 0;
}
