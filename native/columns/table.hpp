#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../threads/work.hpp"
#include "block.hpp"
#include "features.hpp"
#include "live.hpp"

namespace quern::columns {

constexpr size_t kMostRows = 1'000'000;
constexpr size_t kMostColumns = 1000;
/// Numbers beyond this are refused: their squares, and sums of these, would overflow.
constexpr double kLargest = 1e150;
/// Integers beyond this are no longer exact in a double, which is how they come in.
constexpr double kLargestInt = 9007199254740992.0;

/// The values of one column for some rows, as they come in and go out. The layout is Arrow's, but for bools.
struct ColumnValues {
  std::string name;
  Kind kind = Kind::kEmpty;
  std::vector<uint8_t> valid;    ///< bit `i & 7` of byte `i >> 3` is row i; empty = no null
  std::vector<double> numbers;   ///< kInt, kFloat, and kBool as 0 or 1; what a null has is not read
  std::vector<int32_t> offsets;  ///< kText: one more than rows
  std::string bytes;             ///< kText: UTF-8, one after the other

  bool is_valid(size_t row) const { return valid.empty() || (valid[row >> 3] >> (row & 7) & 1) != 0; }
};

/// Rows by column.
struct Frame {
  uint64_t first = 0;  ///< number of the first row, counted from the first that was ever appended
  size_t rows = 0;
  std::vector<ColumnValues> columns;
};

/// Which rows, and what is made of them. Rows that are gone, or not there yet, are left out.
struct Wanted {
  uint64_t from = 0;
  uint64_t until = UINT64_MAX;
  std::optional<FeatureSpec> features;
};

/// The rows of a table at a moment; stays as it is while rows are appended. For any thread.
class Snapshot {
 public:
  /// Columns in the order in which they came, each numeric one's features after all of them.
  /// Goes on from `live`, which Table::take_live gave for the same rows. Throws Failure('too_large') for more than
  /// `most_cells` cells.
  Frame frame(const Wanted& wanted, size_t most_cells, LiveFeatures* live = nullptr) const;
  /// All rows, one after the other: the numbers of `columns` (bools are 0 or 1, nulls and missing columns 0), then the
  /// features of each. Throws Failure('too_large'), and what `work` throws once it is stopped.
  std::vector<double> matrix(std::span<const std::string> columns, const FeatureSpec& spec, size_t most_cells,
                             const Work& work) const;
  /// Cells that frame() reads and makes, about.
  size_t work(const Wanted& wanted, const LiveFeatures* live = nullptr) const;

 private:
  friend class Table;
  struct Column {
    std::string name;
    Kind kind;
    std::vector<std::shared_ptr<const Block>> blocks;
  };

  void copy(const Column& column, uint64_t from, uint64_t until, ColumnValues& to) const;
  Series series(const Column& column, uint64_t from, uint64_t until) const;
  void check_names(const FeatureSpec& spec) const;
  /// A numeric column, and where its features go.
  struct ColumnRoom {
    const Column* column;
    FeatureRoom room;
  };
  /// The first row that features of the rows from `from` on look at.
  uint64_t reached(const FeatureSpec& spec, uint64_t from) const;
  void make_features(const FeatureSpec& spec, uint64_t from, uint64_t until, std::span<const ColumnRoom> columns,
                     const Work& work) const;
  void go_on(LiveFeatures& live, uint64_t from, uint64_t until, std::span<const ColumnRoom> columns,
             const Work& work) const;

  std::vector<Column> columns_;
  uint64_t first_ = 0, next_ = 0, first_block_ = 0;
  size_t block_rows_ = 1;
};

/// The newest `capacity` rows of named columns. For one thread.
class Table {
 public:
  /// With `live`, latest() follows every append.
  explicit Table(size_t capacity, std::optional<FeatureSpec> live = std::nullopt);

  /**
   * Adds rows; a column that is not in `batch` gets nulls. Adds nothing and throws Failure('invalid') for columns that
   * do not mix, differ in length, or hold NaN, an infinity or too large a number, ('too_large') for too many columns.
   */
  void append(size_t rows, std::span<const ColumnValues> batch);
  /// Forgets rows and columns; rows are counted from 0 again.
  void clear();

  Snapshot snapshot() const;
  /**
   * What a read of the last rows goes on from: give it to Snapshot::frame and put it back on the shelf afterwards.
   * Nothing where features have to be made from the rows alone: for many rows, for rows whose windows began with rows
   * that are gone, and where too much would have to be kept.
   */
  std::shared_ptr<LiveFeatures> take_live(const Wanted& wanted);
  /// Another one once the table was cleared, or its features forgotten.
  const std::shared_ptr<LiveShelf>& shelf() const { return shelf_; }
  /// Lets go of what reads go on from.
  void forget_live() { shelf_ = std::make_shared<LiveShelf>(); }
  /// The last row as Snapshot::matrix gives it. Needs `live`.
  std::vector<double> latest(std::span<const std::string> columns) const;

  struct Stats {
    uint64_t first, next;  ///< rows that are kept: first <= row < next
    size_t bytes;
    size_t live_bytes;  ///< of features that reads go on from
    std::vector<std::pair<std::string, Kind>> columns;
  };
  Stats stats() const;
  /// The number that the next row gets.
  uint64_t next() const { return next_; }

 private:
  struct Column {
    std::string name;
    Kind kind = Kind::kEmpty;
    std::deque<std::shared_ptr<Block>> blocks;
    std::unique_ptr<FeatureTracker> live;
  };

  void check(size_t rows, std::span<const ColumnValues> batch) const;
  Column& column(const std::string& name);
  void make_room(Column& column, Kind kind, uint64_t until);
  void write(Column& column, const ColumnValues* values, size_t rows);
  void evict();
  size_t block_of(uint64_t row) const { return static_cast<size_t>(row / block_rows_ - first_block_); }

  const size_t capacity_;
  const size_t block_rows_;
  const std::optional<FeatureSpec> live_;
  std::vector<std::unique_ptr<Column>> columns_;
  std::unordered_map<std::string, size_t> places_;
  uint64_t first_ = 0, next_ = 0, first_block_ = 0;
  std::shared_ptr<LiveShelf> shelf_ = std::make_shared<LiveShelf>();
};

}  // namespace quern::columns
