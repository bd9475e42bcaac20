#include "rows.hpp"

#include <algorithm>
#include <cstring>

#include "../base/failure.hpp"
#include "../base/half.hpp"

namespace quern::vectors {

RowShape row_shape(const IndexOptions& options) {
  const size_t n = options.dimensions;
  switch (options.storage) {
    case Storage::kF32:
      return {n * sizeof(float), 0, 0};
    case Storage::kF16:
      return {n * sizeof(Half), 0, 0};
    default:
      return {n, n * sizeof(float), sizeof(CodeFacts)};
  }
}

uint32_t IdTable::find(uint32_t id) const {
  const size_t page = id / kIdsPerPage;
  return page < pages_.size() && pages_[page] ? pages_[page][id % kIdsPerPage] : kNoRow;
}

void IdTable::set(uint32_t id, uint32_t row) {
  const size_t page = id / kIdsPerPage;
  if (page >= pages_.size()) pages_.resize(std::max(page + 1, std::min(pages_.size() * 2, size_t{1} << 22)));
  if (!pages_[page]) {
    pages_[page] = std::make_unique_for_overwrite<uint32_t[]>(kIdsPerPage);
    std::fill_n(pages_[page].get(), kIdsPerPage, kNoRow);
    ++used_;
  }
  pages_[page][id % kIdsPerPage] = row;
}

size_t IdTable::bytes() const {
  return used_ * kIdsPerPage * sizeof(uint32_t) + pages_.size() * sizeof(void*);
}

Block Rows::make_block() const {
  // One piece of memory; every part starts on a line of the cache.
  constexpr size_t kLine = 64;
  const auto round = [](size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; };
  const size_t codes = round(shape_.codes * kRowsPerBlock);
  const size_t exact = round(shape_.exact * kRowsPerBlock);
  const size_t facts = round(shape_.facts * kRowsPerBlock);
  auto* memory = static_cast<std::byte*>(::operator new (codes + exact + facts, std::align_val_t{kLine}));
  std::shared_ptr<const void> owner(memory, [](void* block) { ::operator delete (block, std::align_val_t{kLine}); });
  return {memory, memory + codes, memory + codes + exact, std::move(owner)};
}

size_t Rows::bytes() const {
  const size_t row = shape_.codes + shape_.exact + shape_.facts;
  return blocks_.size() * kRowsPerBlock * row + ids_.size() * sizeof(uint32_t) + dead_.size() * sizeof(uint64_t) +
         table_.bytes();
}

uint32_t Rows::append(uint32_t id, const EncodedRow& row) {
  const size_t next = ids_.size();
  if (next >= kNoRow - 1) throw Failure("too_large", "A vector index holds at most 2^32 - 2 rows.");
  if (next == blocks_.size() * kRowsPerBlock) blocks_.push_back(make_block());
  if (next % 64 == 0 && dead_.size() == next / 64) dead_.push_back(0);
  ids_.push_back(id);
  const auto added = static_cast<uint32_t>(next);
  const Block& block = at(added);
  std::memcpy(block.codes + offset(added) * shape_.codes, row.codes, shape_.codes);
  if (shape_.exact > 0) std::memcpy(block.exact + offset(added) * shape_.exact, row.exact, shape_.exact);
  if (shape_.facts > 0) std::memcpy(block.facts + offset(added) * shape_.facts, &row.facts, shape_.facts);
  const uint32_t before = table_.find(id);
  table_.set(id, added);
  if (before != kNoRow) kill(before);
  return added;
}

uint32_t Rows::append(const Rows& from, uint32_t row) {
  const bool coded = shape_.facts > 0;
  return append(from.id(row),
                {from.codes(row), coded ? from.exact(row) : nullptr, coded ? from.facts(row) : CodeFacts{}});
}

void Rows::kill(uint32_t row) {
  if (dead(row)) return;
  dead_[row / 64] |= uint64_t{1} << (row % 64);
  ++dead_count_;
  if (table_.find(ids_[row]) == row) table_.set(ids_[row], kNoRow);
}

bool Rows::remove(uint32_t id) {
  const uint32_t row = table_.find(id);
  if (row != kNoRow) kill(row);
  return row != kNoRow;
}

bool Rows::adopt(std::span<const std::byte> codes, std::span<const std::byte> exact, std::span<const std::byte> facts,
                 std::span<const uint32_t> ids, std::span<const uint64_t> dead, std::shared_ptr<const void> owner) {
  ids_.assign(ids.begin(), ids.end());
  dead_.assign(dead.begin(), dead.end());
  // Rows that are still to come are alive.
  if (ids.size() % 64 != 0) dead_.back() &= (uint64_t{1} << (ids.size() % 64)) - 1;
  for (size_t first = 0; first < ids.size(); first += kRowsPerBlock) {
    const auto part = [first](std::span<const std::byte> all, size_t row_bytes) {
      // Never written: only an incomplete block is, and that is copied.
      return row_bytes == 0 ? nullptr : const_cast<std::byte*>(all.data() + first * row_bytes);
    };
    Block mapped{part(codes, shape_.codes), part(exact, shape_.exact), part(facts, shape_.facts), owner};
    const size_t rows = std::min(kRowsPerBlock, ids.size() - first);
    if (rows == kRowsPerBlock) {
      blocks_.push_back(std::move(mapped));
      continue;
    }
    Block copy = make_block();
    std::memcpy(copy.codes, mapped.codes, rows * shape_.codes);
    if (shape_.exact > 0) std::memcpy(copy.exact, mapped.exact, rows * shape_.exact);
    if (shape_.facts > 0) std::memcpy(copy.facts, mapped.facts, rows * shape_.facts);
    blocks_.push_back(std::move(copy));
  }
  for (uint32_t row = 0; row < ids_.size(); ++row) {
    if (this->dead(row)) {
      ++dead_count_;
      continue;
    }
    if (table_.find(ids_[row]) != kNoRow) return false;
    table_.set(ids_[row], row);
  }
  return true;
}

}  // namespace quern::vectors
