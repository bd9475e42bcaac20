#pragma once

#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "options.hpp"

namespace quern {

/// What the worker has for JavaScript: rows pile up in one frame until they are taken, so a slow reader never gets a
/// backlog of calls.
class Outbox {
 public:
  /// `notify` is called on the worker when the frame stops being empty; it must not block.
  explicit Outbox(std::function<void()> notify) : notify_(std::move(notify)) {}

  /// Adds the rows of a step; their logprob offsets count from the start of `logprobs`.
  void put(std::span<StepRow> rows, std::span<const double> logprobs, const std::string& error) {
    if (rows.empty()) return;
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      first = frame_.rows.empty();
      const auto base = static_cast<int32_t>(frame_.logprobs.size());
      for (StepRow& row : rows)
        if (row.logprobs_offset >= 0) row.logprobs_offset += base;
      frame_.rows.insert(frame_.rows.end(), rows.begin(), rows.end());
      frame_.logprobs.insert(frame_.logprobs.end(), logprobs.begin(), logprobs.end());
      if (!error.empty()) frame_.error = error;
    }
    if (first) notify_();
  }

  /// Moves everything that piled up into `frame`; any thread.
  void take(StepFrame& frame) {
    frame.rows.clear();
    frame.logprobs.clear();
    frame.error.clear();
    const std::lock_guard lock(mutex_);
    std::swap(frame, frame_);
  }

 private:
  std::mutex mutex_;
  StepFrame frame_;
  std::function<void()> notify_;
};

}  // namespace quern
