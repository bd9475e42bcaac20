#include "aac_transform.hpp"

#include <bit>
#include <cmath>
#include <numbers>

namespace quern::audio::aac {
namespace {

using std::numbers::pi;

double bessel(double x) {
  double sum = 1;
  double term = 1;
  for (int k = 1; term > sum * 1e-16; ++k) {
    term *= (x / 2 / k) * (x / 2 / k);
    sum += term;
  }
  return sum;
}

/// The rising half of a window; the falling one is its mirror image.
template <size_t kSize>
struct Rise {
  std::array<std::array<float, kSize>, 2> of;

  explicit Rise(double alpha) {
    double all = 0;
    std::array<double, kSize + 1> weights{};
    for (size_t i = 0; i <= kSize; ++i) {
      const double reach = 2 * static_cast<double>(i) / kSize - 1;
      weights[i] = bessel(pi * alpha * std::sqrt(1 - reach * reach));
      all += weights[i];
    }
    double sum = 0;
    for (size_t i = 0; i < kSize; ++i) {
      of[0][i] = static_cast<float>(std::sin(pi / (4 * kSize) * (2 * static_cast<double>(i) + 1)));
      sum += weights[i];
      of[1][i] = static_cast<float>(std::sqrt(sum / all));
    }
  }
};

const std::array<float, kFrame> &long_rise(Shape shape) {
  static const Rise<kFrame> rise(4);
  return rise.of[static_cast<size_t>(shape)];
}

const std::array<float, kShortFrame> &short_rise(Shape shape) {
  static const Rise<kShortFrame> rise(6);
  return rise.of[static_cast<size_t>(shape)];
}

/// Of a window that changes between long and short: it is flat before and
/// behind the short slope.
constexpr size_t kFlat = (kFrame - kShortFrame) / 2;
constexpr size_t kWindows = 8;

/// The first half of a long window, applied.
void rise(Sequence sequence, Shape shape, std::span<float> samples) {
  if (sequence != Sequence::kStop) {
    for (size_t i = 0; i < kFrame; ++i) samples[i] *= long_rise(shape)[i];
    return;
  }
  for (size_t i = 0; i < kFlat; ++i) samples[i] = 0;
  for (size_t i = 0; i < kShortFrame; ++i) samples[kFlat + i] *= short_rise(shape)[i];
}

void fall(Sequence sequence, Shape shape, std::span<float> samples) {
  if (sequence != Sequence::kStart) {
    for (size_t i = 0; i < kFrame; ++i) samples[i] *= long_rise(shape)[kFrame - 1 - i];
    return;
  }
  for (size_t i = 0; i < kShortFrame; ++i) samples[kFlat + i] *= short_rise(shape)[kShortFrame - 1 - i];
  for (size_t i = kFlat + kShortFrame; i < kFrame; ++i) samples[i] = 0;
}

}  // namespace

InverseTransform::InverseTransform(size_t size) : size_(size) {
  const size_t half = size / 2;
  const auto bits = static_cast<uint32_t>(std::countr_zero(half));
  for (size_t k = 0; k < half; ++k) {
    const double angle = -pi * (8 * static_cast<double>(k) + 1) / (8 * static_cast<double>(size));
    twist_.emplace_back(static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle)));
    uint32_t reversed = 0;
    for (uint32_t bit = 0; bit < bits; ++bit) reversed |= (k >> bit & 1) << (bits - 1 - bit);
    order_.push_back(static_cast<uint16_t>(reversed));
  }
  for (size_t k = 0; k < half / 2; ++k) {
    const double angle = -2 * pi * static_cast<double>(k) / static_cast<double>(half);
    turns_.emplace_back(static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle)));
  }
}

void InverseTransform::run(std::span<const float> spectrum, std::span<float> samples) const {
  using Complex = std::complex<float>;
  const auto times = [](Complex a, Complex b) {
    return Complex(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  };
  const size_t half = size_ / 2;
  std::array<Complex, kFrame / 2> values;
  // A cosine transform of kind IV is a Fourier transform of half the size
  // between two turns.
  for (size_t k = 0; k < half; ++k)
    values[order_[k]] = times(Complex(spectrum[2 * k], spectrum[size_ - 1 - 2 * k]), twist_[k]);
  for (size_t span = 1; span < half; span *= 2) {
    const size_t step = half / 2 / span;
    for (size_t from = 0; from < half; from += 2 * span) {
      for (size_t i = 0; i < span; ++i) {
        const Complex turned = times(values[from + span + i], turns_[i * step]);
        values[from + span + i] = values[from + i] - turned;
        values[from + i] += turned;
      }
    }
  }
  const float scale = 1.0F / static_cast<float>(size_);
  const auto cosine = [&](size_t n) {
    const size_t pair = n % 2 == 0 ? n / 2 : (size_ - 1 - n) / 2;
    const Complex turned = times(values[pair], twist_[pair]);
    return scale * (n % 2 == 0 ? turned.real() : -turned.imag());
  };
  // The samples are that transform, its second half first, then mirrored.
  for (size_t n = 0; n < size_; ++n) {
    const float value = cosine(n);
    if (n >= half) {
      samples[n - half] = value;
      samples[3 * half - 1 - n] = -value;
    } else {
      samples[3 * half - 1 - n] = -value;
      samples[3 * half + n] = -value;
    }
  }
}

void Synthesis::run(Sequence sequence, Shape shape, std::span<const float, kFrame> spectrum, float share,
                    std::span<float, kFrame> mono) {
  static const InverseTransform whole(kFrame);
  static const InverseTransform part(kShortFrame);
  // Full scale is 2^15.
  const float scale = share / 32768.0F;
  std::array<float, 2 * kFrame> samples{};
  if (sequence != Sequence::kShort) {
    whole.run(spectrum, samples);
    rise(sequence, last_, std::span(samples).first(kFrame));
    fall(sequence, shape, std::span(samples).subspan(kFrame));
  } else {
    std::array<float, 2 * kShortFrame> window;
    for (size_t w = 0; w < kWindows; ++w) {
      part.run(spectrum.subspan(w * kShortFrame, kShortFrame), window);
      const auto &rising = short_rise(w == 0 ? last_ : shape);
      const auto &falling = short_rise(shape);
      float *into = samples.data() + kFlat + w * kShortFrame;
      for (size_t i = 0; i < kShortFrame; ++i) {
        into[i] += window[i] * rising[i];
        into[kShortFrame + i] += window[kShortFrame + i] * falling[kShortFrame - 1 - i];
      }
    }
  }
  for (size_t i = 0; i < kFrame; ++i) {
    mono[i] += (samples[i] + overlap_[i]) * scale;
    overlap_[i] = samples[kFrame + i];
  }
  last_ = shape;
}

}  // namespace quern::audio::aac
