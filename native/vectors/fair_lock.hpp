#pragma once

#include <mutex>
#include <shared_mutex>

namespace quern::vectors {

/// A reader-writer lock whose writer is not kept out by readers that never pause, as one of std::shared_mutex may be.
class FairLock {
 public:
  void lock() {
    const std::lock_guard turn(turn_);
    readers_.lock();
  }
  void unlock() { readers_.unlock(); }
  void lock_shared() {
    const std::lock_guard turn(turn_);
    readers_.lock_shared();
  }
  bool try_lock_shared() {
    const std::unique_lock turn(turn_, std::try_to_lock);
    return turn && readers_.try_lock_shared();
  }
  void unlock_shared() { readers_.unlock_shared(); }

 private:
  std::mutex turn_;
  std::shared_mutex readers_;
};

}  // namespace quern::vectors
