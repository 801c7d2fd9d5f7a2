// Moves real memory and writes the telemetry rings that a NIXL agent would write. --help lists the flags.

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "options.h"
#include "print_line.h"
#include "processes.h"
#include "ring/ring_layout.h"
#include "signal_watch.h"

#ifndef NIXL_OTEL_VERSION
#define NIXL_OTEL_VERSION "(built by hand)"
#endif

namespace nixl_otel::transfer_source {
namespace {

// Runs the agents and prints the totals. If a child process is killed, its agents have no totals, and those of the
// others are still printed. If a ring cannot be created, nothing is printed.
int run(const Options& options) {
  using Clock = std::chrono::steady_clock;
  SignalWatch::block();
  if (options.parent != 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != static_cast<pid_t>(options.parent)) return 1;  // the parent ended before prctl()
  }
  TotalsBoard board(options.agents);
  bool started = false;
  Clock::time_point begin;
  const auto onReady = [&] {
    started = true;
    begin = Clock::now();
    if (options.ready) {
      std::puts("ready");
      std::fflush(stdout);
    } else if (::isatty(STDERR_FILENO) != 0) {
      printLine("writes rings in " + options.dir + "; Ctrl-C ends it");
    }
  };
  const int code = options.processes == 1 ? runHere(options, board, onReady) : runChildren(options, board, onReady);
  if (!started) return code;
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();

  std::vector<AgentReport> reports;
  for (uint32_t i = 0; i < options.agents; i++) {
    reports.push_back({options.agentName(i), options.ringPath(i), board[i]});
  }
  std::puts(totalsJson(reports, options.wireVersion, seconds).c_str());
  return std::fflush(stdout) == 0 ? code : 1;
}

}  // namespace
}  // namespace nixl_otel::transfer_source

int main(int argc, char** argv) {
  using namespace nixl_otel::transfer_source;
  if (argc > 0) programName = std::filesystem::path(argv[0]).filename();
  try {
    const Options options = parseOptions(argc, argv);
    if (options.help) return std::fputs(kUsage, stdout) < 0;
    if (options.version) {
      const std::string versions = nixl_otel::knownVersions();
      return std::printf("transfer-source %s, wire versions %s\n", NIXL_OTEL_VERSION, versions.c_str()) < 0;
    }
    return run(options);
  } catch (const OptionError& error) {
    printLine(error.what());
    return 2;
  } catch (const std::exception& error) {
    printLine(error.what());
    return 1;
  }
}
