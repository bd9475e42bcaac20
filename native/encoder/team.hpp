#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace quern::encoder {

/// Threads that go through the same work side by side; the caller is one of them. They sleep between calls.
class Team {
 public:
  /// Fewer where no more are to be had.
  explicit Team(size_t threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  size_t size() const noexcept { return others_.size() + 1; }
  /// Calls work(0) to work(size() - 1), each on a thread of its own, and waits for all. `work` throws nothing.
  void run(const std::function<void(size_t thread)>& work);
  /// Within a call: waits until all threads have come here, whose writes are then seen.
  void meet();

 private:
  void serve(size_t thread);

  std::vector<std::thread> others_;
  std::mutex mutex_;
  std::condition_variable begin_;
  const std::function<void(size_t)>* work_ = nullptr;
  size_t call_ = 0;
  bool ended_ = false;
  std::atomic<size_t> arrived_{0};
  std::atomic<size_t> meeting_{0};
};

}  // namespace quern::encoder
