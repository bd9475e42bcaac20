#pragma once

#include <cstddef>
#include <cstdint>

#include "../../base/cpu.hpp"

namespace quern {

/// One step of Adam (Kingma and Ba 2015) with a penalty on large weights.
struct AdamStep {
  float rate;          ///< learning rate / (1 - 0.9^step)
  float square_scale;  ///< 1 / (1 - 0.999^step)
  float decay;         ///< added to the gradient, times the weight
};

/// A layer's outputs in a batch: `rows` lines of `width` numbers, which is a multiple of kPanel<float>.
struct Batch {
  float* values;
  size_t rows;
  size_t width;
};

/// What batch normalisation of `width` columns learns (scale, shift) and needs; arrays of `width` numbers.
struct Normalisation {
  const float* scale;
  const float* shift;
  float* mean;
  float* inverse;  ///< 1 / deviation of the batch
};

/// The gradients of what it learns.
struct NormalisationGradient {
  float* scale;
  float* shift;
};

/// Loops over the numbers of a neural network that is trained. `width` and `count` are multiples of kPanel<float>.
struct TrainingKernels {
  void (*adam)(float* weights, const float* gradient, float* means, float* squares, size_t count, AdamStep step);
  /// Subtracts the batch's mean and divides by its deviation, in place; then scales, shifts, cuts below 0 and drops
  /// into `out`: what draws[i] < dropped says is 0, the rest is `kept` times larger.
  void (*activate)(Batch normalised, const Normalisation& by, const uint16_t* draws, uint16_t dropped, float kept,
                   float* out);
  /// The gradient of activate() by its input, in place of that by its output, and those by scale and shift.
  void (*activate_back)(Batch gradient, const float* normalised, const float* out, const Normalisation& by, float kept,
                        const NormalisationGradient& gradients);
  /// sums[column] = sum over rows.
  void (*column_sums)(Batch batch, float* sums);
  /// values = max(0, values * scale + shift), without the maximum where `linear`.
  void (*affine)(Batch batch, const float* scale, const float* shift, bool linear);
};

/// Kernels of one instruction set, which the processor must have.
const TrainingKernels& training_kernels(Isa isa = best_isa());

}  // namespace quern
