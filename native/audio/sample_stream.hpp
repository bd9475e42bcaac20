#pragma once

#include <span>
#include <vector>

namespace quern::audio {

/// Something that takes a row of samples in pieces and gives another row. Not for several threads at once.
class SampleStream {
 public:
  virtual ~SampleStream() = default;
  /// Appends to `out` what is ready.
  virtual void push(std::span<const float> samples, std::vector<float>& out) = 0;
  /// Appends to `out` what is left, as if silence followed, and begins anew.
  virtual void flush(std::vector<float>& out) = 0;
};

}  // namespace quern::audio
