#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../kernels/distance.hpp"
#include "options.hpp"
#include "scoring.hpp"
#include "slabs.hpp"

namespace quern::vectors {

/// A vector as the graph compares it: a code of 8 bits per dimension, padded to whole lines of the cache.
struct CodedQuery {
  const int8_t* codes;
  CodeFacts facts;
};

/**
 * The rows of a graph as codes, by place. A search is limited by the memory that it reads, and codes are a quarter of
 * it; the real rows give the few that were found their scores. For cosine and l2 codes count from the centre of the
 * rows, which keeps the distances and makes the codes finer.
 */
class Codes {
 public:
  explicit Codes(const IndexOptions& options);

  /// What codes count from; zero until it is set, and then for good.
  std::span<const float> centre() const { return centre_; }
  void set_centre(std::span<const float> centre) { centre_.assign(centre.begin(), centre.end()); }
  /// The centre of some of these rows, where the metric allows one.
  void find_centre(const Scoring& scoring, const RowBlocks& rows, std::span<const uint32_t> some);

  void reserve(size_t places);
  size_t bytes_per_place() const { return records_.record_bytes() + sizeof(CodeFacts); }
  /// Sets what a place holds; places may be set by several threads.
  void set(uint32_t place, std::span<const float> row);
  CodedQuery at(uint32_t place) const { return {codes(place), facts_[place]}; }
  /// Codes of a query, into `room`.
  CodedQuery encode(std::span<const float> query, std::vector<int8_t>& room) const;

  /// Distances of many places; smaller is nearer.
  void compare(const CodedQuery& query, const uint32_t* places, size_t count, float* distances) const;

 private:
  int8_t* codes(uint32_t place) const { return reinterpret_cast<int8_t*>(records_.at(place)); }
  CodeFacts encode(std::span<const float> row, int8_t* codes) const;

  const DistanceKernels& kernels_;
  const bool product_;  ///< by inner product, which has no centre
  std::vector<float> centre_;
  Slabs records_;
  std::vector<CodeFacts> facts_;
};

}  // namespace quern::vectors
