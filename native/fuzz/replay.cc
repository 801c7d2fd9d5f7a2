// Runs the corpus of a fuzz target once. It needs no libFuzzer, so any compiler can build it.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int, char** arguments) {
  const std::string program = std::filesystem::path(arguments[0]).filename();
  const std::string corpus = "fuzz/corpus/" + program.substr(0, program.rfind("_replay"));
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    ++inputs;
  }
  std::printf("%s: %d passed, 0 failed\n", program.c_str(), inputs);
  return inputs > 0 ? 0 : 1;
}
