#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace quern::columns {

/// What a column holds. A column of nulls alone is kEmpty until its first value; kInt becomes kFloat with the first
/// value that needs it; nothing else changes.
enum class Kind : uint8_t { kEmpty, kInt, kFloat, kBool, kText };

/// Throws Failure('invalid').
Kind kind_of(std::string_view name);
const char* name_of(Kind kind);
/// What holds both; nothing when the two do not mix.
std::optional<Kind> joined(Kind a, Kind b);
inline bool is_numeric(Kind kind) {
  return kind == Kind::kInt || kind == Kind::kFloat;
}

/**
 * A run of rows of one column. Rows are written once, by one thread; any thread may read those that were there when it
 * got the block, for nothing in it ever moves.
 */
class Block {
 public:
  Block(Kind kind, size_t rows);

  /// As it was made: a block of integers may lie in a column that is kFloat by now.
  Kind kind() const { return kind_; }
  bool valid(size_t row) const { return valid_[row] != 0; }
  /// Of a number or a bool.
  double number(size_t row) const;
  const std::string& text(size_t row) const { return std::get<Texts>(values_)[row]; }

  void set_null(size_t row) { valid_[row] = 0; }
  /// For kInt, `value` is an integer within 2^53; for kBool 0 or 1.
  void set_number(size_t row, double value);
  void set_text(size_t row, std::string_view value);
  /// The same rows where integers are floats; the first `rows` of them are written.
  std::shared_ptr<Block> widened(size_t rows) const;
  size_t bytes() const { return bytes_; }

 private:
  using Ints = std::vector<int64_t>;
  using Floats = std::vector<double>;
  using Bools = std::vector<uint8_t>;
  using Texts = std::vector<std::string>;

  Kind kind_;
  std::vector<uint8_t> valid_;  ///< a byte a row: writers and readers of neighbours must not meet in one
  std::variant<std::monostate, Ints, Floats, Bools, Texts> values_;
  size_t bytes_;
};

}  // namespace quern::columns
