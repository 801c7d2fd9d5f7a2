// The flush interval that real processes were started with.
#include "process/flush_setting.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "check.h"

using namespace nixl_otel;
using std::chrono::milliseconds;

namespace {

// Returns the setting of a process that is started with these variables.
milliseconds settingOf(const std::string& first, const std::string& second) {
  int started[2];
  if (::pipe2(started, O_CLOEXEC) != 0) std::abort();
  const pid_t pid = ::fork();
  if (pid == 0) {
    const char* const arguments[] = {"sleep", "1000000", nullptr};
    const char* const variables[] = {first.c_str(), second.c_str(), nullptr};
    ::execve("/bin/sleep", const_cast<char**>(arguments), const_cast<char**>(variables));
    ::_exit(1);
  }
  ::close(started[1]);
  char none;
  // execve() closes the other end: from then on the process has its own variables.
  if (::read(started[0], &none, 1) != 0) std::abort();
  ::close(started[0]);
  const milliseconds setting = flushSettingOf(pid);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  return setting;
}

}  // namespace

TEST(readsTheVariableOfTheProcess) {
  CHECK(settingOf("NIXL_TELEMETRY_RUN_INTERVAL=60000", "A=1") == milliseconds(60'000));
  CHECK(settingOf("A=" + std::string(100'000, 'x'), "NIXL_TELEMETRY_RUN_INTERVAL=5") == milliseconds(5));
  CHECK(settingOf("A=1", "B=2") == milliseconds(0));
  CHECK(settingOf("XNIXL_TELEMETRY_RUN_INTERVAL=5", "") == milliseconds(0));
}

TEST(takesNoOtherTextForAnInterval) {
  for (const char* value : {"", "0", "-5", "5s", "1.5", " 5", "999999999", "99999999999999999999"}) {
    CHECK(settingOf(std::string("NIXL_TELEMETRY_RUN_INTERVAL=") + value, "") == milliseconds(0));
  }
}

TEST(knowsNothingOfAProcessThatHasEnded) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  ::waitpid(pid, nullptr, 0);
  CHECK(flushSettingOf(pid) == milliseconds(0));
}

int main() { return check::run("flush_setting_test"); }
