#include "team.hpp"

#include <exception>

namespace quern::encoder {
namespace {

/// Looks at the others before a thread sleeps: some 50 us, longer than threads are apart that have a core each.
constexpr size_t kLooks = 2000;

void rest() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

Team::Team(size_t threads) {
  others_.reserve(threads);
  try {
    while (others_.size() + 1 < threads) others_.emplace_back([this, thread = others_.size() + 1] { serve(thread); });
  } catch (const std::exception&) {
    // No thread to be had: those that are there do all of it.
  }
}

Team::~Team() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  begin_.notify_all();
  for (std::thread& other : others_) other.join();
}

void Team::run(const std::function<void(size_t thread)>& work) {
  if (!others_.empty()) {
    {
      const std::lock_guard lock(mutex_);
      work_ = &work;
      ++call_;
    }
    begin_.notify_all();
  }
  work(0);
  meet();
}

void Team::meet() {
  if (others_.empty()) return;
  const size_t meeting = meeting_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size()) {
    arrived_.store(0, std::memory_order_relaxed);
    meeting_.store(meeting + 1, std::memory_order_release);
    meeting_.notify_all();
    return;
  }
  for (size_t look = 0; look < kLooks; ++look) {
    if (meeting_.load(std::memory_order_acquire) != meeting) return;
    rest();
  }
  meeting_.wait(meeting, std::memory_order_acquire);
}

void Team::serve(size_t thread) {
  for (size_t served = 0;; ++served) {
    const std::function<void(size_t)>* work;
    {
      std::unique_lock lock(mutex_);
      begin_.wait(lock, [&] { return ended_ || call_ != served; });
      if (ended_) return;
      work = work_;
    }
    (*work)(thread);
    meet();
  }
}

}  // namespace quern::encoder
