#include "work.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "../base/failure.hpp"
#include "turns.hpp"

namespace quern {
namespace {

/// The parts of one parallel() call, which its threads take one after the other.
class Parts {
 public:
  Parts(const Work& work, size_t count, size_t grain, const std::function<void(size_t, size_t)>& each)
      : work_(work), count_(count), grain_(grain), each_(each) {}

  /// Runs until no part is left or one threw. Throws nothing.
  void run() noexcept {
    try {
      for (size_t first; !failed_.load(std::memory_order_relaxed) && (first = next_.fetch_add(grain_)) < count_;) {
        work_.check();
        each_(first, std::min(count_, first + grain_));
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failed_.exchange(true)) thrown_ = std::current_exception();
    }
  }

  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  const Work& work_;
  const size_t count_;
  const size_t grain_;
  const std::function<void(size_t, size_t)>& each_;
  std::atomic<size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr thrown_;
};

}  // namespace

void Work::check() const {
  if (stopped()) throw Failure("unavailable", "The work was cancelled.");
  let_others_go();
}

void Work::parallel(size_t count, size_t grain, const std::function<void(size_t first, size_t last)>& each) const {
  if (count == 0) return;
  grain = std::max<size_t>(1, grain);
  Parts parts(*this, count, grain, each);
  std::vector<std::thread> others;
  const size_t most = std::min(threads_, (count + grain - 1) / grain);
  others.reserve(most);
  try {
    while (others.size() + 1 < most) others.emplace_back([&parts] { parts.run(); });
  } catch (const std::system_error&) {
    // No thread to be had: those that are there do all of it.
  }
  parts.run();
  for (std::thread& other : others) other.join();
  parts.rethrow();
}

}  // namespace quern
