#include "block.hpp"

#include <array>

#include "../base/failure.hpp"

namespace quern::columns {
namespace {

/// In the order of Kind.
constexpr std::array<const char*, 5> kNames{"null", "i64", "f64", "bool", "string"};
constexpr std::array<size_t, 5> kWidths{0, sizeof(int64_t), sizeof(double), sizeof(uint8_t), sizeof(std::string)};

}  // namespace

Kind kind_of(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i)
    if (name == kNames[i]) return static_cast<Kind>(i);
  throw Failure("invalid", "There is no kind of column '" + std::string(name) + "'.");
}

const char* name_of(Kind kind) {
  return kNames[static_cast<size_t>(kind)];
}

std::optional<Kind> joined(Kind a, Kind b) {
  if (a == b || b == Kind::kEmpty) return a;
  if (a == Kind::kEmpty) return b;
  if (is_numeric(a) && is_numeric(b)) return Kind::kFloat;
  return std::nullopt;
}

Block::Block(Kind kind, size_t rows)
    : kind_(kind), valid_(rows), bytes_(rows * (1 + kWidths[static_cast<size_t>(kind)])) {
  switch (kind) {
    case Kind::kEmpty:
      break;
    case Kind::kInt:
      values_.emplace<Ints>(rows);
      break;
    case Kind::kFloat:
      values_.emplace<Floats>(rows);
      break;
    case Kind::kBool:
      values_.emplace<Bools>(rows);
      break;
    case Kind::kText:
      values_.emplace<Texts>(rows);
      break;
  }
}

double Block::number(size_t row) const {
  if (kind_ == Kind::kInt) return static_cast<double>(std::get<Ints>(values_)[row]);
  if (kind_ == Kind::kBool) return std::get<Bools>(values_)[row];
  return std::get<Floats>(values_)[row];
}

void Block::set_number(size_t row, double value) {
  if (kind_ == Kind::kInt)
    std::get<Ints>(values_)[row] = static_cast<int64_t>(value);
  else if (kind_ == Kind::kBool)
    std::get<Bools>(values_)[row] = value != 0;
  else
    std::get<Floats>(values_)[row] = value;
  valid_[row] = 1;
}

void Block::set_text(size_t row, std::string_view value) {
  std::string& text = std::get<Texts>(values_)[row];
  text = value;
  // Short texts lie within the object.
  if (text.capacity() > std::string().capacity()) bytes_ += text.capacity() + 1;
  valid_[row] = 1;
}

std::shared_ptr<Block> Block::widened(size_t rows) const {
  auto block = std::make_shared<Block>(Kind::kFloat, valid_.size());
  for (size_t row = 0; row < rows; ++row)
    if (valid(row)) block->set_number(row, number(row));
  return block;
}

}  // namespace quern::columns
