#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "options.hpp"

namespace quern::vectors {

constexpr uint32_t kNoRow = UINT32_MAX;
constexpr size_t kRowsPerBlock = 1024;

/// Numbers beside a code of 8 bits: the step between two codes, and the squared length of the row.
struct CodeFacts {
  float step;
  float squared_length;
};

/// Bytes that a row takes in each of the three arrays of a block.
struct RowShape {
  size_t codes;  ///< what is searched: f32, f16 or i8
  size_t exact;  ///< the f32 row beside an i8 code, else 0
  size_t facts;  ///< CodeFacts of an i8 code, else 0
};
RowShape row_shape(const IndexOptions& options);

/// Some rows; they never change once written, so that whoever holds the block may read them without a lock.
struct Block {
  std::byte* codes = nullptr;
  std::byte* exact = nullptr;
  std::byte* facts = nullptr;
  std::shared_ptr<const void> owner;  ///< of the memory: a heap array, or a mapped file
};

/// Where rows lie, without their ids: enough for a score.
class RowBlocks {
 public:
  explicit RowBlocks(const IndexOptions& options) : shape_(row_shape(options)) {}
  const RowShape& shape() const { return shape_; }
  const std::byte* codes(uint32_t row) const { return at(row).codes + offset(row) * shape_.codes; }
  const float* exact(uint32_t row) const {
    return reinterpret_cast<const float*>(at(row).exact + offset(row) * shape_.exact);
  }
  const CodeFacts& facts(uint32_t row) const { return reinterpret_cast<const CodeFacts*>(at(row).facts)[offset(row)]; }

 protected:
  static size_t offset(uint32_t row) { return row % kRowsPerBlock; }
  const Block& at(uint32_t row) const { return blocks_[row / kRowsPerBlock]; }

  RowShape shape_;
  std::vector<Block> blocks_;
};

/// Row of each id: pages of a table that grows with the largest id, so ids should be dense.
class IdTable {
 public:
  uint32_t find(uint32_t id) const;
  void set(uint32_t id, uint32_t row);
  size_t bytes() const;

 private:
  static constexpr size_t kIdsPerPage = 1024;
  std::vector<std::unique_ptr<uint32_t[]>> pages_;
  size_t used_ = 0;
};

/// One row in the form in which it is kept.
struct EncodedRow {
  const void* codes;
  const float* exact;
  CodeFacts facts;
};

/// The vectors of an index with their ids. Rows are appended only; one that was replaced or removed stays as a dead
/// row.
class Rows : public RowBlocks {
 public:
  explicit Rows(const IndexOptions& options) : RowBlocks(options) {}

  size_t count() const { return ids_.size(); }
  size_t dead_count() const { return dead_count_; }
  size_t live_count() const { return count() - dead_count_; }
  uint32_t id(uint32_t row) const { return ids_[row]; }
  bool dead(uint32_t row) const { return (dead_[row / 64] >> (row % 64) & 1) != 0; }
  /// kNoRow when there is no such id.
  uint32_t find(uint32_t id) const { return table_.find(id); }
  size_t bytes() const;

  /// Replaces what the id held.
  uint32_t append(uint32_t id, const EncodedRow& row);
  /// Appends a row of other rows of the same shape.
  uint32_t append(const Rows& from, uint32_t row);
  void kill(uint32_t row);
  /// Whether the id was there.
  bool remove(uint32_t id);

  std::span<const uint32_t> ids() const { return ids_; }
  std::span<const uint64_t> dead_bits() const { return dead_; }
  /// Takes rows from memory that `owner` keeps; the last, incomplete block is copied. False when ids repeat.
  bool adopt(std::span<const std::byte> codes, std::span<const std::byte> exact, std::span<const std::byte> facts,
             std::span<const uint32_t> ids, std::span<const uint64_t> dead, std::shared_ptr<const void> owner);

 private:
  Block make_block() const;

  std::vector<uint32_t> ids_;
  std::vector<uint64_t> dead_;
  size_t dead_count_ = 0;
  IdTable table_;
};

}  // namespace quern::vectors
