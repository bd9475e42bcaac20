#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "features.hpp"

namespace quern::columns {

/// Rows of a read that may go on from features that are kept.
constexpr size_t kMostLiveRows = 1024;
/// Specifications whose features a table keeps, and the memory of all of them.
constexpr size_t kMostLive = 4;
constexpr size_t kMostLiveBytes = size_t{16} << 20;

/// The features of one specification for the last rows of a table, and what they are continued from: a row that comes
/// costs O(1), or O(log window) for medians. For one thread at a time, but for follow() and copy() of different
/// columns.
class LiveFeatures {
 public:
  /// `history` = rows of the table, of which features for the last `rows` are kept.
  LiveFeatures(FeatureSpec spec, size_t history, size_t rows);

  const FeatureSpec& spec() const { return spec_; }
  size_t rows() const { return rows_; }
  /// The row that is followed next.
  uint64_t next() const { return next_; }
  /// Whether it can give the rows from `from` on once it has followed those after next(), of which the table has those
  /// from `begin` on.
  bool reaches(uint64_t begin, uint64_t from) const;
  /// Memory for so many columns, at most.
  size_t bytes_for(size_t columns) const;
  /// Memory, at most.
  size_t bytes() const;
  /// Rows whose sums are made anew when so many rows are followed.
  size_t due(size_t rows) const;

  /// Forgets all; rows are followed from `begin` on, features kept from row `from` on.
  void restart(uint64_t begin, uint64_t from);
  /// There are so many columns.
  void widen(size_t columns);
  /// Takes a column's rows from next() on. A column that was not followed before had no values.
  void follow(size_t column, const Series& series);
  /// All columns have been followed up to the row.
  void followed(uint64_t until) { next_ = until; }
  /// The features of rows that reaches() promised and that were followed; `until` is not included.
  void copy(size_t column, uint64_t from, uint64_t until, const FeatureRoom& room) const;

 private:
  struct Followed {
    FeatureTracker tracker;
    std::vector<double> kept;  ///< row after row, a ring of rows_
  };

  const FeatureSpec spec_;
  const size_t history_;
  const size_t rows_;
  uint64_t since_ = 0, next_ = 0;
  std::vector<std::unique_ptr<Followed>> columns_;
};

/// Those of a table that were used last. For one thread; what is taken may be used on another.
class LiveShelf {
 public:
  /// One of the specification for at least so many rows, taken away; nothing where there is none.
  std::shared_ptr<LiveFeatures> take(const FeatureSpec& spec, size_t rows);
  /// Puts one back and lets those go that are too many.
  void put(std::shared_ptr<LiveFeatures> live);
  size_t bytes() const;

 private:
  std::vector<std::shared_ptr<LiveFeatures>> kept_;  ///< the one used last comes last
};

}  // namespace quern::columns
