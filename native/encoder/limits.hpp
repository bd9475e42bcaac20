#pragma once

#include <cstddef>

namespace quern::encoder {

constexpr size_t kMostWidth = 8192;
constexpr size_t kMostLayers = 128;
/// Inputs and outputs of a product. Sums of as many products of bytes fit 32 bits.
constexpr size_t kMostInner = 16384;
constexpr size_t kMostVocabulary = size_t{1} << 21;
constexpr size_t kMostPositions = size_t{1} << 17;
constexpr size_t kMostTypes = 256;
/// Those of a graph, and one that pools.
constexpr size_t kMostHeadSteps = 17;
constexpr size_t kMostThreads = 64;

/// Of one run.
constexpr size_t kMostTokens = size_t{1} << 16;
constexpr size_t kMostResults = size_t{1} << 26;

/// Tokens that go through the layers together, unless one text is longer: enough that the weights are read seldom.
constexpr size_t kSliceTokens = 256;
/// Room of a pass that is kept for the next one.
constexpr size_t kKeptBytes = size_t{32} << 20;

}  // namespace quern::encoder
