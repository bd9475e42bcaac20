#pragma once

#include <cstddef>
#include <cstdint>

#include "../base/cpu.hpp"

namespace quern {

/// Columns that the dense kernels take at once: 128 bytes of numbers. Panels are padded to it.
template <typename T>
constexpr size_t kPanel = 128 / sizeof(T);

/// The least multiple of a panel that holds `count` numbers.
template <typename T>
constexpr size_t padded(size_t count) {
  return (count + kPanel<T> - 1) / kPanel<T> * kPanel<T>;
}

/// A table that is read along its rows or its columns: entry (row, depth) lies at row * row_step + depth * depth_step.
template <typename T>
struct Strided {
  const T* values;
  size_t row_step;
  size_t depth_step;
};

/// `depth` lines of kPanel<T> numbers, `step` apart.
template <typename T>
struct Panel {
  const T* values;
  size_t step;
  size_t depth;
};

/**
 * Rows times one panel. A result's bits depend on its row and its column of the panel alone, not on the rows beside it.
 * `out` has a line per row, `out_step` apart.
 */
template <typename T>
struct DenseKernels {
  using Kernel = void (*)(Strided<T> a, size_t rows, Panel<T> panel, T* out, size_t out_step);
  /// out = sum over depth of a * panel.
  Kernel multiply;
  /// out += sum over depth of a * panel.
  Kernel add_product;
  /// out = sum over depth of (a - panel)^2.
  Kernel distances;
  /// out = squared distance of the box from `low` to `high`, perhaps one point, to each of kPanel<T> boxes, whose least
  /// and greatest coordinates are panels.
  void (*box_distances)(const T* low, const T* high, const T* least, const T* greatest, size_t depth, T* out);
  /// Of each of kPanel<T> columns in `count` lines, `step` apart: the least number, the first line that has it, and the
  /// least of the other lines, infinity where there are none.
  void (*least_two)(const T* lines, size_t count, size_t step, T* least, T* line, T* second);
};

/// Kernels of one instruction set, which the processor must have. T is float or double.
template <typename T>
const DenseKernels<T>& dense_kernels(Isa isa = best_isa());

/// values = exp(values) of numbers from -708 to 708, within 2 units of the last place; smaller ones give 0.
void exp_all(double* values, size_t count, Isa isa = best_isa());

/// For each of `panels` times kPanel<float> numbers a bit that tells whether it is at most `bound`.
void lanes_within(const float* values, size_t panels, float bound, uint32_t* lanes, Isa isa = best_isa());

/// The squared distance of two points. The order of its sum, and so its last bits, depend on the instruction set alone.
double square_between(const double* a, const double* b, size_t depth, Isa isa = best_isa());

/// out = (centre - point) * scale, in floats; gives the squared distance of the two.
double offset_from(const double* point, const double* centre, size_t depth, double scale, float* out,
                   Isa isa = best_isa());

}  // namespace quern
