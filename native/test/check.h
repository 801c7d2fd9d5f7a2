// Minimal test harness, so that a contributor needs to install no framework.
//
//   TEST(drainsPushedEvents) { CHECK_EQ(count, 3u); }
//   int main() { return check::run("ring_reader_test"); }
//
// After a failed CHECK the test continues. A failed REQUIRE ends the test. The variable TEST_ONLY selects tests whose
// names contain its value.

#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace check {

struct Test {
  const char* name;
  void (*body)();
};

struct TestEnded {};  // thrown by REQUIRE

inline std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

// First failure of the running test. Later failures are not kept, because most of them are its consequences.
inline std::string& firstFailure() {
  static std::string text;
  return text;
}

struct Registration {
  Registration(const char* name, void (*body)()) { tests().push_back({name, body}); }
};

template <typename T>
std::string show(const T& value) {
  std::ostringstream out;
  if constexpr (std::is_enum_v<T>) {
    out << static_cast<int64_t>(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    out << (value ? "true" : "false");
  } else {
    out << value;
  }
  return out.str();
}

inline void noteFailure(const char* file, int line, const std::string& what) {
  if (!firstFailure().empty()) return;
  const char* slash = std::strrchr(file, '/');
  firstFailure() = std::string(slash != nullptr ? slash + 1 : file) + ":" + std::to_string(line) + ": " + what;
}

template <typename A, typename B>
bool equal(const A& a, const B& b, const char* textA, const char* textB, const char* file, int line) {
  if (a == b) return true;
  noteFailure(file, line, std::string(textA) + " is " + show(a) + ", not " + textB + " = " + show(b));
  return false;
}

inline bool holds(bool condition, const char* text, const std::string& more, const char* file, int line) {
  if (!condition) noteFailure(file, line, std::string(text) + " does not hold" + (more.empty() ? "" : ": " + more));
  return condition;
}

// True under a sanitizer, where long tests repeat their steps less often.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

inline int run(const char* program, const char* only = std::getenv("TEST_ONLY")) {
  int passed = 0;
  int failed = 0;
  for (const Test& test : tests()) {
    if (only != nullptr && std::strstr(test.name, only) == nullptr) continue;
    firstFailure().clear();
    try {
      test.body();
    } catch (const TestEnded&) {
    } catch (const std::exception& problem) {
      noteFailure(program, 0, std::string("it threw: ") + problem.what());
    }
    firstFailure().empty() ? ++passed : ++failed;
    if (!firstFailure().empty()) std::printf("FAIL %s: %s\n", test.name, firstFailure().c_str());
    std::fflush(stdout);
  }
  std::printf("%s: %d passed, %d failed\n", program, passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace check

#define TEST(name)                                                  \
  static void name();                                               \
  static const check::Registration name##Registration{#name, name}; \
  static void name()

#define CHECK(condition) check::holds((condition), #condition, "", __FILE__, __LINE__)
#define CHECK_WITH(condition, more) check::holds((condition), #condition, (more), __FILE__, __LINE__)
#define CHECK_EQ(a, b) check::equal((a), (b), #a, #b, __FILE__, __LINE__)
#define REQUIRE(condition)                           \
  do {                                               \
    if (!CHECK(condition)) throw check::TestEnded(); \
  } while (false)
#define REQUIRE_EQ(a, b)                           \
  do {                                             \
    if (!CHECK_EQ(a, b)) throw check::TestEnded(); \
  } while (false)
