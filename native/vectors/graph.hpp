#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "rows.hpp"
#include "scan.hpp"
#include "scoring.hpp"

namespace quern::vectors {

/**
 * A navigable graph over rows (HNSW, the template of usearch; the vectors stay in Rows). Searches may run together,
 * everything that changes it must run alone.
 */
class Graph {
 public:
  /// Number of usearch's own version: what another one wrote is not read.
  static uint32_t layout();

  explicit Graph(const IndexOptions& options);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  size_t size() const;
  /// About as much memory as it takes.
  size_t bytes() const;
  /// No room is left for add().
  bool full() const;
  /// Room for `rows` rows altogether. Throws std::bad_alloc.
  void reserve(size_t rows);
  /// Links a row into the reserved room.
  void add(const Scoring& scoring, const RowBlocks& rows, uint32_t row);
  /// Up to `wanted` live, allowed rows near the query, with rough scores, in no special order. Waits while too many
  /// search.
  std::vector<Hit> search(const Scoring& scoring, const Rows& rows, const Query& query, size_t wanted, size_t effort,
                          const Filter& filter, size_t& scanned) const;

  using Sink = std::function<void(const void*, size_t)>;
  /// The links.
  void write(const Sink& sink) const;
  /// The row of each place in the links.
  std::span<const uint32_t> order() const;
  /// Takes what write() and order() gave for so many rows, into an empty graph. False when they contradict each other.
  bool read(std::span<const std::byte> links, std::span<const uint32_t> order, size_t rows);

 private:
  struct Native;
  std::unique_ptr<Native> native_;
};

}  // namespace quern::vectors
