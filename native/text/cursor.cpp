#include "cursor.hpp"

#include <algorithm>

namespace quern::text {
namespace {

constexpr uint32_t kAny = UINT16_MAX;

uint16_t narrow(uint32_t value) {
  return static_cast<uint16_t>(std::min(value, kAny));
}

}  // namespace

Bound bound_of(std::span<const uint32_t> tfs, std::span<const uint32_t> lengths) {
  // The first pair takes the number of occurrences that most have, so that a rare high one does not loosen it.
  uint32_t most = 0;
  uint64_t sum = 0;
  for (const uint32_t tf : tfs) {
    most = std::max(most, tf);
    sum += tf;
  }
  const auto usual = static_cast<uint32_t>(sum / std::max<size_t>(tfs.size(), 1));
  uint32_t shortest[2] = {kAny, kAny};
  for (size_t i = 0; i < tfs.size(); ++i) {
    uint32_t& least = shortest[tfs[i] > usual];
    least = std::min(least, lengths[i]);
  }
  return {{narrow(usual), narrow(most)}, {narrow(shortest[0]), narrow(shortest[1])}};
}

Cursor::Cursor(const Segment& segment, uint32_t term) {
  const TermEntry& entry = segment.entry(term);
  bound_ = entry.bound;
  df_ = entry.df;
  postings_ = segment.postings(entry.postings);
  if (blocks() > 1) {
    entries_ = reinterpret_cast<const BlockEntry*>(postings_);
    postings_ += blocks() * sizeof(BlockEntry);
  }
  load(0);
}

Cursor::Cursor(const DocList& list, std::span<const uint32_t> lengths)
    : list_(&list), df_(static_cast<uint32_t>(list.docs.size())) {
  std::array<uint32_t, kBlock> block_lengths;
  for (uint32_t begin = 0; begin < df_; begin += kBlock) {
    const uint32_t count = std::min(kBlock, df_ - begin);
    for (uint32_t i = 0; i < count; ++i) block_lengths[i] = lengths[list.docs[begin + i]];
    const std::span<const uint32_t> tfs(list.tfs.data() + begin, count);
    list_entries_.push_back({list.docs[begin + count - 1], 0, 0, bound_of(tfs, {block_lengths.data(), count})});
  }
  bound_ = {{0, 0}, {UINT16_MAX, UINT16_MAX}};
  for (const BlockEntry& entry : list_entries_)
    for (int i = 0; i < 2; ++i) {
      bound_.tf[1] = std::max(bound_.tf[1], entry.bound.tf[i]);
      bound_.length[1] = std::min(bound_.length[1], entry.bound.length[i]);
    }
  entries_ = list_entries_.data();
  load(0);
}

void Cursor::load(uint32_t block) {
  at_ = 0;
  if (block >= blocks()) {
    doc_ = kNoDoc;
    return;
  }
  loaded_ = block;
  looked_ = block;
  count_ = std::min(kBlock, df_ - block * kBlock);
  if (list_ != nullptr) {
    std::copy_n(list_->docs.data() + block * kBlock, count_, docs_.data());
    std::copy_n(list_->tfs.data() + block * kBlock, count_, tfs_.data());
  } else {
    const std::byte* read = postings_ + (entries_ == nullptr ? 0 : entries_[block].postings);
    const auto doc_width = static_cast<uint32_t>(read[0]) & 63;
    const auto tf_width = static_cast<uint32_t>(read[1]) & 63;
    read += 2;
    unpack(read, count_, doc_width, docs_.data());
    read += packed_bytes(count_, doc_width);
    unpack(read, count_, tf_width, tfs_.data());
    read += packed_bytes(count_, tf_width);
    uint32_t doc = block == 0 ? 0 : entries_[block - 1].last;
    for (uint32_t i = 0; i < count_; ++i) {
      docs_[i] = doc += docs_[i];
      ++tfs_[i];
    }
    block_positions_ = entries_ == nullptr ? read : postings_ + entries_[block].positions;
    position_at_ = 0;
    position_read_ = block_positions_;
  }
  doc_ = docs_[0];
}

uint32_t Cursor::last_of(uint32_t block) const {
  return entries_ == nullptr ? docs_[count_ - 1] : entries_[block].last;
}

void Cursor::next() {
  if (++at_ < count_)
    doc_ = docs_[at_];
  else
    load(loaded_ + 1);
}

void Cursor::advance(uint32_t target) {
  if (doc_ >= target) return;
  if (last_of(loaded_) < target) {
    uint32_t block = loaded_ + 1;
    while (block < blocks() && last_of(block) < target) ++block;
    load(block);
    if (doc_ >= target) return;
  }
  while (docs_[at_] < target) ++at_;
  doc_ = docs_[at_];
}

void Cursor::look(uint32_t target) {
  if (looked_ < loaded_) looked_ = loaded_;
  while (looked_ + 1 < blocks() && last_of(looked_) < target) ++looked_;
}

uint32_t Cursor::block_last() const {
  return last_of(looked_);
}

const Bound& Cursor::block_bound() const {
  return entries_ == nullptr ? bound_ : entries_[looked_].bound;
}

void Cursor::positions(std::vector<uint32_t>& out) {
  if (position_at_ > at_) {
    position_at_ = 0;
    position_read_ = block_positions_;
  }
  for (; position_at_ < at_; ++position_at_)
    for (uint32_t i = 0; i < tfs_[position_at_]; ++i) get_varint(position_read_);
  out.resize(tfs_[at_]);
  uint32_t position = 0;
  for (uint32_t& each : out) each = position += get_varint(position_read_);
  ++position_at_;
}

}  // namespace quern::text
