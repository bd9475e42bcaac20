#include "table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "../base/failure.hpp"

namespace quern::columns {
namespace {

/// A table of few rows has small blocks: a block goes when its last row has gone, so about one stays too many.
size_t block_rows_for(size_t capacity) {
  return std::clamp<size_t>(std::bit_ceil(std::max<size_t>(1, capacity / 16)), 16, 4096);
}

void check_numbers(const ColumnValues& values, size_t rows) {
  for (size_t row = 0; row < rows; ++row) {
    if (!values.is_valid(row)) continue;
    const double value = values.numbers[row];
    // Written so that NaN fails too.
    const bool fits = values.kind == Kind::kInt    ? std::abs(value) <= kLargestInt && value == std::floor(value)
                      : values.kind == Kind::kBool ? value == 0 || value == 1
                                                   : std::abs(value) <= kLargest;
    if (!fits)
      throw Failure("invalid", "Column '" + values.name + "' holds " + std::to_string(value) + " in row " +
                                   std::to_string(row) + ", which is no " + name_of(values.kind) +
                                   " that it may hold.");
  }
}

void check_texts(const ColumnValues& values, size_t rows) {
  bool sound = values.offsets.size() == rows + 1 && values.offsets[0] == 0 &&
               static_cast<size_t>(values.offsets[rows]) == values.bytes.size();
  for (size_t row = 0; sound && row < rows; ++row) sound = values.offsets[row] <= values.offsets[row + 1];
  if (!sound) throw Failure("invalid", "The offsets of column '" + values.name + "' do not fit its texts.");
}

}  // namespace

Table::Table(size_t capacity, std::optional<FeatureSpec> live)
    : capacity_(capacity), block_rows_(block_rows_for(capacity)), live_(std::move(live)) {
  if (capacity == 0 || capacity > kMostRows)
    throw Failure("invalid",
                  "capacity is " + std::to_string(capacity) + "; allowed is 1 to " + std::to_string(kMostRows) + ".");
}

void Table::check(size_t rows, std::span<const ColumnValues> batch) const {
  size_t added = 0;
  std::unordered_map<std::string_view, bool> seen;
  for (const ColumnValues& values : batch) {
    if (!seen.emplace(values.name, true).second)
      throw Failure("invalid", "Column '" + values.name + "' comes twice in one batch.");
    if (!values.valid.empty() && values.valid.size() < (rows + 7) / 8)
      throw Failure("invalid", "Column '" + values.name + "' has too few validity bits.");
    if (values.kind == Kind::kText)
      check_texts(values, rows);
    else if (values.kind != Kind::kEmpty && values.numbers.size() != rows)
      throw Failure("invalid", "Column '" + values.name + "' has " + std::to_string(values.numbers.size()) +
                                   " values for " + std::to_string(rows) + " rows.");
    if (values.kind != Kind::kText && values.kind != Kind::kEmpty) check_numbers(values, rows);
    const auto place = places_.find(values.name);
    if (place == places_.end()) {
      ++added;
      continue;
    }
    const Kind had = columns_[place->second]->kind;
    if (!joined(had, values.kind))
      throw Failure("invalid", "Column '" + values.name + "' is " + name_of(had) + " and cannot take " +
                                   name_of(values.kind) + " values.");
  }
  if (columns_.size() + added > kMostColumns)
    throw Failure("too_large", "There would be " + std::to_string(columns_.size() + added) + " columns; at most " +
                                   std::to_string(kMostColumns) + " are allowed.");
}

Table::Column& Table::column(const std::string& name) {
  const auto [place, is_new] = places_.try_emplace(name, columns_.size());
  if (is_new) {
    columns_.push_back(std::make_unique<Column>());
    columns_.back()->name = name;
  }
  return *columns_[place->second];
}

/// Blocks up to the row, and a last one that can hold the kind.
void Table::make_room(Column& column, Kind kind, uint64_t until) {
  if (kind != column.kind) {
    // Only the block that is being filled takes values of the new kind too, and what a failed append left after it.
    for (size_t i = block_of(next_); i < column.blocks.size(); ++i) {
      auto& block = column.blocks[i];
      const bool filling = i == block_of(next_);
      block = block->kind() == Kind::kEmpty ? std::make_shared<Block>(kind, block_rows_)
                                            : block->widened(filling ? next_ % block_rows_ : 0);
    }
    column.kind = kind;
  }
  const size_t needed = block_of(until - 1) + 1;
  while (column.blocks.size() < needed) {
    // Rows before the column's first have no values.
    const bool past = (first_block_ + column.blocks.size() + 1) * block_rows_ <= next_;
    column.blocks.push_back(std::make_shared<Block>(past ? Kind::kEmpty : kind, past ? 0 : block_rows_));
  }
}

void Table::write(Column& column, const ColumnValues* values, size_t rows) {
  for (size_t row = 0; row < rows; ++row) {
    const uint64_t at = next_ + row;
    Block& block = *column.blocks[block_of(at)];
    const size_t slot = at % block_rows_;
    const bool valid = values != nullptr && values->kind != Kind::kEmpty && values->is_valid(row);
    if (!valid) {
      block.set_null(slot);
    } else if (values->kind == Kind::kText) {
      const size_t from = static_cast<size_t>(values->offsets[row]),
                   until = static_cast<size_t>(values->offsets[row + 1]);
      block.set_text(slot, std::string_view(values->bytes).substr(from, until - from));
    } else {
      block.set_number(slot, values->numbers[row]);
    }
    if (!live_ || column.kind == Kind::kText) continue;
    if (!column.live) column.live = std::make_unique<FeatureTracker>(*live_, capacity_);
    column.live->push(valid ? std::optional(values->numbers[row]) : std::nullopt);
  }
}

void Table::append(size_t rows, std::span<const ColumnValues> batch) {
  check(rows, batch);
  if (rows == 0) return;
  std::unordered_map<const Column*, const ColumnValues*> given;
  for (const ColumnValues& values : batch) given.emplace(&column(values.name), &values);
  // All memory is taken before the first value is written.
  for (const auto& one : columns_) {
    const auto found = given.find(one.get());
    const Kind kind = found == given.end() ? one->kind : *joined(one->kind, found->second->kind);
    make_room(*one, kind, next_ + rows);
  }
  for (const auto& one : columns_) {
    const auto found = given.find(one.get());
    write(*one, found == given.end() ? nullptr : found->second, rows);
  }
  next_ += rows;
  evict();
}

void Table::evict() {
  if (next_ - first_ > capacity_) first_ = next_ - capacity_;
  while ((first_block_ + 1) * block_rows_ <= first_) {
    for (const auto& one : columns_) one->blocks.pop_front();
    ++first_block_;
  }
}

void Table::clear() {
  columns_.clear();
  places_.clear();
  forget_live();
  first_ = next_ = first_block_ = 0;
}

Snapshot Table::snapshot() const {
  Snapshot snapshot;
  snapshot.first_ = first_;
  snapshot.next_ = next_;
  snapshot.first_block_ = first_block_;
  snapshot.block_rows_ = block_rows_;
  for (const auto& one : columns_)
    snapshot.columns_.push_back({one->name, one->kind, {one->blocks.begin(), one->blocks.end()}});
  return snapshot;
}

std::shared_ptr<LiveFeatures> Table::take_live(const Wanted& wanted) {
  const uint64_t from = std::clamp(wanted.from, first_, next_);
  const uint64_t rows = next_ - from;
  if (!wanted.features || wanted.until < next_ || rows == 0 || rows > kMostLiveRows) return nullptr;
  // Once rows have gone, only the window of the last row begins where that of its features began.
  if (first_ > 0 && rows > 1 && from - first_ < wanted.features->reach()) return nullptr;
  std::shared_ptr<LiveFeatures> live = shelf_->take(*wanted.features, static_cast<size_t>(rows));
  if (!live)
    live = std::make_shared<LiveFeatures>(*wanted.features, capacity_, std::bit_ceil(static_cast<size_t>(rows)));
  const auto numeric =
      std::count_if(columns_.begin(), columns_.end(), [](const auto& one) { return is_numeric(one->kind); });
  return live->bytes_for(static_cast<size_t>(numeric)) <= kMostLiveBytes ? live : nullptr;
}

std::vector<double> Table::latest(std::span<const std::string> columns) const {
  if (!live_ || next_ == first_) throw Failure("invalid", "This table has no live features, or no rows.");
  const size_t width = live_->width();
  std::vector<double> row(columns.size() * (1 + width));
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto place = places_.find(columns[i]);
    if (place == places_.end()) continue;
    const Column& one = *columns_[place->second];
    if (one.kind == Kind::kText || one.kind == Kind::kEmpty) continue;
    const Block& block = *one.blocks[block_of(next_ - 1)];
    const size_t slot = (next_ - 1) % block_rows_;
    row[i] = block.valid(slot) ? block.number(slot) : 0.0;
    one.live->write(std::span(row).subspan(columns.size() + i * width, width));
  }
  return row;
}

Table::Stats Table::stats() const {
  Stats stats{.first = first_, .next = next_, .bytes = 0, .live_bytes = shelf_->bytes(), .columns = {}};
  for (const auto& one : columns_) {
    for (const auto& block : one->blocks) stats.bytes += block->bytes();
    stats.columns.emplace_back(one->name, one->kind);
  }
  return stats;
}

}  // namespace quern::columns
