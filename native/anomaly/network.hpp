#pragma once

#include <cstdint>
#include <vector>

#include "detector.hpp"

namespace quern::anomaly {

/// A fitted layer: out = max(0, (in * weights) * scale + shift), without the maximum in the last one.
struct Layer {
  size_t inputs;
  size_t outputs;
  std::vector<float> weights;  ///< `inputs` lines, each padded<float>(outputs) long
  std::vector<float> scale;    ///< padded<float>(outputs)
  std::vector<float> shift;
};

/// Widths from input to output of an autoencoder of so many columns.
std::vector<size_t> network_widths(size_t columns);

/// What its layers answer for `rows` rows of padded<float>(inputs) numbers: rows of padded<float>(outputs).
std::vector<float> network_answer(const std::vector<Layer>& layers, std::vector<float> rows, size_t count);

/// How a network is trained.
struct Training {
  size_t epochs;
  size_t batch;
  uint64_t seed;
};

/**
 * Trains a network to give back its input: hidden layers of 64, 32 and 64 units, each with batch normalisation (Ioffe
 * and Szegedy 2015), a cut below 0 and a dropout of 0.2; mean squared error; Adam with rate 1e-3 and decay 1e-5. `rows`
 * are `count` rows of padded<float>(columns) numbers. A last batch that is not full is left out, in each epoch another
 * one.
 */
std::vector<Layer> train_network(const std::vector<float>& rows, size_t count, size_t columns, const Training& training,
                                 const Work& work);

}  // namespace quern::anomaly
