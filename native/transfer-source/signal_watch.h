// Handles SIGINT and SIGTERM on a separate thread, where a handler may call any function.

#pragma once

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

namespace nixl_otel::transfer_source {

class SignalWatch {
 public:
  // Blocks the signals.
  //
  // Requires: the process has neither other threads nor children yet, because both inherit the mask.
  static void block() {
    const sigset_t set = watched();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
  }

  explicit SignalWatch(std::function<void(int signal)> onSignal) : onSignal_(std::move(onSignal)) {
    thread_ = std::thread([this] { run(); });
  }

  ~SignalWatch() {
    ending_ = true;
    pthread_kill(thread_.native_handle(), SIGUSR1);
    thread_.join();
  }

 private:
  static sigset_t watched() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGUSR1);  // wakes the thread at the end; otherwise ignored
    return set;
  }

  void run() {
    const sigset_t set = watched();
    int signal = 0;
    while (!ending_) {
      if (sigwait(&set, &signal) == 0 && signal != SIGUSR1) onSignal_(signal);
    }
  }

  const std::function<void(int)> onSignal_;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace nixl_otel::transfer_source
