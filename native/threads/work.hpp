#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace quern {

/**
 * The leave to compute: how many threads, and whether to go on. One per fit or scoring; `stop` may be called from any
 * thread.
 */
class Work {
 public:
  explicit Work(size_t threads) : threads_(threads == 0 ? 1 : threads) {}

  size_t threads() const noexcept { return threads_; }
  void stop() noexcept { stopped_.store(true, std::memory_order_relaxed); }
  bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }

  /// Throws Failure('unavailable') once stopped. Long loops call it at least every 10 ms of work.
  void check() const;

  /**
   * Calls `each(first, last)` for parts of [0, count) of at most `grain` items, on up to threads() threads, the
   * caller's among them. The parts and their bounds do not depend on the number of threads, so neither do results.
   * Checks before every part; rethrows what a part threw.
   */
  void parallel(size_t count, size_t grain, const std::function<void(size_t first, size_t last)>& each) const;

 private:
  const size_t threads_;
  std::atomic<bool> stopped_{false};
};

}  // namespace quern
