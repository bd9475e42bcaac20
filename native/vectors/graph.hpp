#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "codes.hpp"
#include "linker.hpp"
#include "links.hpp"
#include "rows.hpp"
#include "scan.hpp"
#include "scoring.hpp"
#include "walk.hpp"

namespace quern::vectors {

/**
 * A navigable graph over rows, which it knows by codes of its own. Searches may run together, everything that changes
 * it must run alone.
 */
class Graph {
 public:
  /// Number of what write() gives: what another one wrote is not read.
  static constexpr uint32_t kLayout = 1;

  explicit Graph(const IndexOptions& options);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  size_t size() const { return order_.size(); }
  /// About as much memory as it takes.
  size_t bytes() const;
  /// About as many bytes as a search reads.
  size_t expected_bytes(size_t effort) const;
  /// Links rows into an empty graph, by several threads that give way to others. False when `given_up` said so.
  bool build(const Scoring& scoring, const RowBlocks& rows, std::span<const uint32_t> live,
             const std::function<bool()>& given_up);
  /// Links one more row. Throws std::bad_alloc.
  void add(const Scoring& scoring, const RowBlocks& rows, uint32_t row);
  /// Up to `effort` live, allowed rows near the query, the nearest by their codes first.
  std::vector<uint32_t> search(const Rows& rows, const Query& query, size_t effort, const Filter& filter,
                               size_t& scanned) const;

  /// All that read() needs beside the rows and the order.
  void write(const Links::Sink& sink) const;
  /// The row of each place in the links.
  std::span<const uint32_t> order() const { return order_; }
  /// Takes what write() and order() gave for the first `count` rows, into an empty graph. False when they contradict
  /// each other.
  bool read(const Scoring& scoring, const RowBlocks& rows, size_t count, std::span<const std::byte> links,
            std::span<const uint32_t> order);

 private:
  void place_rows(const Scoring& scoring, const RowBlocks& rows, std::span<const uint32_t> added);

  Codes codes_;
  Links links_;
  Linker linker_;
  std::vector<uint32_t> order_;
  Walker adding_;
  mutable std::mutex resting_mutex_;
  mutable std::vector<std::unique_ptr<Walker>> resting_;  ///< of searches that are over
};

}  // namespace quern::vectors
