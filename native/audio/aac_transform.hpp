#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quern::audio::aac {

/// Samples of a frame, and of each of the eight windows of a short one.
inline constexpr size_t kFrame = 1024;
inline constexpr size_t kShortFrame = 128;

enum class Sequence : uint8_t { kLong, kStart, kShort, kStop };
enum class Shape : uint8_t { kSine, kKaiser };

/// The inverse of the modified discrete cosine transform: `size` numbers of a
/// spectrum to twice as many samples.
class InverseTransform {
 public:
  /// `size` is a power of 2 from 4 on.
  explicit InverseTransform(size_t size);
  void run(std::span<const float> spectrum, std::span<float> samples) const;

 private:
  size_t size_;
  /// Turns before and after the Fourier transform, and within it.
  std::vector<std::complex<float>> twist_;
  std::vector<std::complex<float>> turns_;
  std::vector<uint16_t> order_;
};

/// Makes samples of the spectra of one channel, each frame overlapping with the
/// next.
class Synthesis {
 public:
  /// Adds the frame's samples, from -1 to 1, times `share` to `mono`.
  void run(Sequence sequence, Shape shape, std::span<const float, kFrame> spectrum, float share,
           std::span<float, kFrame> mono);

 private:
  std::array<float, kFrame> overlap_{};
  Shape last_ = Shape::kSine;
};

}  // namespace quern::audio::aac
