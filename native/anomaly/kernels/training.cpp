#include "training.hpp"

#include <cmath>

#define QUERN_INLINE inline __attribute__((always_inline))

namespace quern {
namespace {

constexpr float kMeanKept = 0.9f;
constexpr float kSquareKept = 0.999f;
constexpr float kLeastRoot = 1e-8f;
/// Added to a variance.
constexpr float kLeastVariance = 1e-5f;

QUERN_INLINE void adam_body(float* __restrict weights, const float* __restrict gradient, float* __restrict means,
                            float* __restrict squares, size_t count, AdamStep step) {
  for (size_t i = 0; i < count; ++i) {
    const float slope = gradient[i] + step.decay * weights[i];
    means[i] = kMeanKept * means[i] + (1 - kMeanKept) * slope;
    squares[i] = kSquareKept * squares[i] + (1 - kSquareKept) * slope * slope;
    weights[i] -= step.rate * means[i] / (__builtin_sqrtf(squares[i] * step.square_scale) + kLeastRoot);
  }
}

QUERN_INLINE void sums_body(Batch batch, float* __restrict sums) {
  for (size_t k = 0; k < batch.width; ++k) sums[k] = 0;
  for (size_t row = 0; row < batch.rows; ++row) {
    const float* line = batch.values + row * batch.width;
    for (size_t k = 0; k < batch.width; ++k) sums[k] += line[k];
  }
}

QUERN_INLINE void activate_body(Batch x, const Normalisation& by, const uint16_t* __restrict draws, uint16_t dropped,
                                float kept, float* __restrict out) {
  const float share = 1.0f / static_cast<float>(x.rows);
  float* __restrict mean = by.mean;
  float* __restrict inverse = by.inverse;
  sums_body(x, mean);
  for (size_t k = 0; k < x.width; ++k) {
    mean[k] *= share;
    inverse[k] = 0;
  }
  for (size_t row = 0; row < x.rows; ++row) {
    float* __restrict line = x.values + row * x.width;
    for (size_t k = 0; k < x.width; ++k) {
      line[k] -= mean[k];
      inverse[k] += line[k] * line[k];
    }
  }
  for (size_t k = 0; k < x.width; ++k) inverse[k] = 1.0f / __builtin_sqrtf(inverse[k] * share + kLeastVariance);
  const float* __restrict scale = by.scale;
  const float* __restrict shift = by.shift;
  for (size_t row = 0; row < x.rows; ++row) {
    float* __restrict line = x.values + row * x.width;
    float* __restrict to = out + row * x.width;
    const uint16_t* __restrict draw = draws + row * x.width;
    for (size_t k = 0; k < x.width; ++k) {
      line[k] *= inverse[k];
      const float value = line[k] * scale[k] + shift[k];
      const float factor = draw[k] < dropped ? 0.0f : kept;
      to[k] = (value > 0 ? value : 0.0f) * factor;
    }
  }
}

QUERN_INLINE void activate_back_body(Batch gradient, const float* __restrict normalised, const float* __restrict out,
                                     const Normalisation& by, float kept, const NormalisationGradient& gradients) {
  float* __restrict scale_gradient = gradients.scale;
  float* __restrict shift_gradient = gradients.shift;
  const size_t width = gradient.width;
  for (size_t k = 0; k < width; ++k) scale_gradient[k] = shift_gradient[k] = 0;
  for (size_t row = 0; row < gradient.rows; ++row) {
    float* __restrict line = gradient.values + row * width;
    const float* __restrict x = normalised + row * width;
    const float* __restrict y = out + row * width;
    for (size_t k = 0; k < width; ++k) {
      // What was cut or dropped gave 0, and only that.
      line[k] = y[k] > 0 ? line[k] * kept : 0.0f;
      shift_gradient[k] += line[k];
      scale_gradient[k] += line[k] * x[k];
    }
  }
  const float share = 1.0f / static_cast<float>(gradient.rows);
  const float* __restrict scale = by.scale;
  const float* __restrict inverse = by.inverse;
  for (size_t row = 0; row < gradient.rows; ++row) {
    float* __restrict line = gradient.values + row * width;
    const float* __restrict x = normalised + row * width;
    for (size_t k = 0; k < width; ++k)
      line[k] = scale[k] * inverse[k] * (line[k] - share * (shift_gradient[k] + x[k] * scale_gradient[k]));
  }
}

QUERN_INLINE void affine_body(Batch batch, const float* __restrict scale, const float* __restrict shift, bool linear) {
  const float least = linear ? -__builtin_inff() : 0.0f;
  for (size_t row = 0; row < batch.rows; ++row) {
    float* __restrict line = batch.values + row * batch.width;
    for (size_t k = 0; k < batch.width; ++k) {
      const float value = line[k] * scale[k] + shift[k];
      line[k] = value > least ? value : least;
    }
  }
}

// One set of functions per instruction set.
#define QUERN_TRAINING_SET(name, target)                                                                               \
  target void name##_adam(float* weights, const float* gradient, float* means, float* squares, size_t count,           \
                          AdamStep step) {                                                                             \
    adam_body(weights, gradient, means, squares, count, step);                                                         \
  }                                                                                                                    \
  target void name##_activate(Batch x, const Normalisation& by, const uint16_t* draws, uint16_t dropped, float kept,   \
                              float* out) {                                                                            \
    activate_body(x, by, draws, dropped, kept, out);                                                                   \
  }                                                                                                                    \
  target void name##_activate_back(Batch gradient, const float* normalised, const float* out, const Normalisation& by, \
                                   float kept, const NormalisationGradient& gradients) {                               \
    activate_back_body(gradient, normalised, out, by, kept, gradients);                                                \
  }                                                                                                                    \
  target void name##_column_sums(Batch batch, float* sums) {                                                           \
    sums_body(batch, sums);                                                                                            \
  }                                                                                                                    \
  target void name##_affine(Batch batch, const float* scale, const float* shift, bool linear) {                        \
    affine_body(batch, scale, shift, linear);                                                                          \
  }                                                                                                                    \
  constexpr TrainingKernels name##_kernels = {name##_adam, name##_activate, name##_activate_back, name##_column_sums,  \
                                              name##_affine};

QUERN_TRAINING_SET(portable, )
#ifdef QUERN_X86
QUERN_TRAINING_SET(avx2, QUERN_AVX2)
QUERN_TRAINING_SET(avx512, QUERN_AVX512)
#endif

}  // namespace

const TrainingKernels& training_kernels(Isa isa) {
#ifdef QUERN_X86
  if (isa == Isa::kAvx512) return avx512_kernels;
  if (isa == Isa::kAvx2) return avx2_kernels;
#endif
  static_cast<void>(isa);
  return portable_kernels;
}

}  // namespace quern
