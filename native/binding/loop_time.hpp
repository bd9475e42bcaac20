#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

namespace quern::binding {

/**
 * How long calls may keep a JavaScript thread from its event loop. A brief call is answered at once, for a thread of
 * the pool costs about as much again; but a caller that awaits one after the other would never let the loop turn, so
 * every now and then one takes the pool. While one does, all do: they can run beside each other.
 */
class LoopTime {
 public:
  using Clock = std::chrono::steady_clock;

  /// The moment, when a call may take time of the thread.
  std::optional<Clock::time_point> left() {
    if (waiting_ > 0) return std::nullopt;
    const Clock::time_point now = Clock::now();
    if (now - begun_ > kForgotten) {
      begun_ = now;
      spent_ = {};
    }
    if (spent_ >= kMost) return std::nullopt;
    return now;
  }
  /// A call took time, from `began` until now.
  void spend(Clock::time_point began) { spent_ += Clock::now() - began; }
  /// A call takes the pool; turn() must follow.
  void wait() { ++waiting_; }
  /// A call comes back from the pool: the loop has turned.
  void turn() {
    --waiting_;
    spent_ = {};
  }

 private:
  static constexpr Clock::duration kMost = std::chrono::microseconds(200);
  /// After so long the loop has turned by itself.
  static constexpr Clock::duration kForgotten = std::chrono::milliseconds(2);

  Clock::time_point begun_;
  Clock::duration spent_{};
  size_t waiting_ = 0;
};

}  // namespace quern::binding
