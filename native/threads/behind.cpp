#include "behind.hpp"

#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include "turns.hpp"

namespace quern {
namespace {

/// Wakes the one thread that waits for it; posted once for each time that it is taken. Not a std::binary_semaphore:
/// that of libstdc++ 12 may sleep through a release (GCC's bug 104928).
class Signal {
 public:
  void post() noexcept {
    posted_.store(1, std::memory_order_release);
    posted_.notify_one();
  }

  void take() noexcept {
    posted_.wait(0, std::memory_order_acquire);
    posted_.store(0, std::memory_order_relaxed);
  }

 private:
  std::atomic<int> posted_{0};
};

/// A thread that stands back and one that speaks for it, which end with the process.
class Pair {
 public:
  /// `park` is called on the second thread when the pair can take the next job.
  explicit Pair(std::function<void(Pair*)> park) : park_(std::move(park)) {
    std::thread speaker([this] { speak(); });
    try {
      std::thread([this] { work(); }).detach();
    } catch (...) {
      worked_.post();  // without anything to say it leaves
      speaker.join();
      throw;
    }
    speaker.detach();
  }

  void run(std::function<void()> job, std::function<void()> after, std::promise<void> ended) noexcept {
    job_ = std::move(job);
    after_ = std::move(after);
    ended_ = std::move(ended);
    given_.post();
  }

  Pair* next = nullptr;  ///< of those that are parked

 private:
  [[noreturn]] void work() noexcept {
    stand_back();
    for (;;) {
      given_.take();
      job_();
      job_ = nullptr;
      worked_.post();
    }
  }

  void speak() noexcept {
    for (;;) {
      worked_.take();
      const auto after = std::exchange(after_, nullptr);
      if (!after) return;
      std::promise<void> ended = std::move(ended_);
      park_(this);
      after();
      ended.set_value();
    }
  }

  const std::function<void(Pair*)> park_;
  Signal given_, worked_;
  std::function<void()> job_, after_;
  std::promise<void> ended_;
};

/// The pairs that wait for a job.
class Parking {
 public:
  /// Owned by its threads.
  Pair* take() {
    {
      const std::lock_guard lock(mutex_);
      if (first_) return std::exchange(first_, first_->next);
    }
    return new Pair([this](Pair* pair) {
      const std::lock_guard lock(mutex_);
      pair->next = std::exchange(first_, pair);
    });
  }

 private:
  std::mutex mutex_;  ///< of threads of the usual rank alone
  Pair* first_ = nullptr;
};

}  // namespace

std::future<void> run_behind(std::function<void()> job, std::function<void()> after) {
  // Never torn down: its threads wait in it until the process is gone.
  static Parking& parking = *new Parking;
  std::promise<void> ended;
  std::future<void> end = ended.get_future();
  parking.take()->run(std::move(job), std::move(after), std::move(ended));
  return end;
}

}  // namespace quern
