#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "segment.hpp"

namespace quern::text {

/// Documents with a number of occurrences that a query has worked out, in order: those of a phrase or of a beginning.
struct DocList {
  std::vector<uint32_t> docs;
  std::vector<uint32_t> tfs;
};

/// Walks the documents of one term, or of one list, in order; decodes only the blocks that it stops in.
class Cursor {
 public:
  Cursor(const Segment& segment, uint32_t term);
  /// `list` must outlive it; `lengths` are those of the segment.
  Cursor(const DocList& list, std::span<const uint32_t> lengths);
  Cursor(Cursor&&) = default;
  Cursor(const Cursor&) = delete;  // entries_ may point into itself

  /// kNoDoc at the end.
  uint32_t doc() const { return doc_; }
  uint32_t tf() const { return tfs_[at_]; }
  uint32_t df() const { return df_; }
  void next();
  /// To the first document that is not before `target`.
  void advance(uint32_t target);

  /// Bound over the whole term.
  const Bound& bound() const { return bound_; }
  /// Makes block_last() and block_bound() those of the block that would hold `target`, without decoding it.
  void look(uint32_t target);
  uint32_t block_last() const;
  const Bound& block_bound() const;

  /// Where the word stands in the current document. Not for lists.
  void positions(std::vector<uint32_t>& out);

 private:
  void load(uint32_t block);
  uint32_t blocks() const { return (df_ + kBlock - 1) / kBlock; }
  uint32_t last_of(uint32_t block) const;

  const BlockEntry* entries_ = nullptr;  ///< none when there is but one block
  const std::byte* postings_ = nullptr;
  const std::byte* block_positions_ = nullptr;
  const DocList* list_ = nullptr;
  std::vector<BlockEntry> list_entries_;
  Bound bound_{};
  uint32_t df_ = 0;
  uint32_t loaded_ = 0;  ///< block in docs_
  uint32_t looked_ = 0;  ///< block of look()
  uint32_t count_ = 0;
  uint32_t at_ = 0;
  uint32_t doc_ = 0;
  uint32_t position_at_ = 0;  ///< posting before which position_read_ stands
  const std::byte* position_read_ = nullptr;
  std::array<uint32_t, kBlock> docs_;
  std::array<uint32_t, kBlock> tfs_;
};

/// The tightest Bound of postings; `tfs` and the lengths of their documents go in parallel.
Bound bound_of(std::span<const uint32_t> tfs, std::span<const uint32_t> lengths);

}  // namespace quern::text
