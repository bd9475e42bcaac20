#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "bits.hpp"

namespace quern::text {

/// Postings per block: what is packed with one width, and skipped by one bound.
constexpr uint32_t kBlock = 128;
constexpr uint32_t kNoDoc = UINT32_MAX;

/**
 * What bounds the score of a run of postings whatever the statistics are: up to `tf[0]` occurrences come with at least
 * `length[0]` words, up to `tf[1]` with at least `length[1]`. 65535 occurrences mean any number.
 */
struct Bound {
  uint16_t tf[2];
  uint16_t length[2];
};

/// One entry of the dictionary, sorted by bytes.
struct TermEntry {
  uint64_t postings;  ///< offset
  uint32_t text;      ///< offset; the term ends where the next one begins
  uint32_t df;        ///< documents with it
  Bound bound;
};

/// One block of a term that has several; they stand before its postings.
struct BlockEntry {
  uint32_t last;       ///< document
  uint32_t postings;   ///< offset behind the block entries
  uint32_t positions;  ///< the same
  Bound bound;
};

/// The beginning of a segment. Offsets count from it, and each table ends where the next one begins.
struct SegmentHeader {
  uint64_t bytes;
  uint64_t words;  ///< lengths of all documents together
  uint32_t docs;
  uint32_t terms;
  uint64_t ids;            ///< uint32 per document, ascending
  uint64_t lengths;        ///< uint32 per document
  uint64_t forward_index;  ///< uint64 per document and one more: offsets in `forward`
  uint64_t forward;        ///< per document the numbers of its terms: count, then differences, as varints
  uint64_t entries;        ///< TermEntry per term and one more
  uint64_t text;
  uint64_t postings;
};

/// A part of the index that never changes. Lies in memory or in a mapped file, which it keeps alive. Any thread.
class Segment {
 public:
  /// Of bytes that SegmentWriter made, starting at a multiple of 8; empty when they contradict themselves.
  static std::shared_ptr<const Segment> view(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  std::span<const std::byte> bytes() const { return {base_, header_->bytes}; }
  uint32_t docs() const { return header_->docs; }
  uint32_t terms() const { return header_->terms; }
  uint64_t words() const { return header_->words; }
  std::span<const uint32_t> ids() const { return {at<uint32_t>(header_->ids), header_->docs}; }
  std::span<const uint32_t> lengths() const { return {at<uint32_t>(header_->lengths), header_->docs}; }
  const TermEntry& entry(uint32_t term) const { return at<TermEntry>(header_->entries)[term]; }
  std::string_view term(uint32_t term) const;
  /// The first term that is not before `text`.
  uint32_t lower_bound(std::string_view text) const;
  std::optional<uint32_t> find(std::string_view text) const;
  /// The document with this id, if it was ever here.
  std::optional<uint32_t> find_id(uint32_t id) const;
  const std::byte* postings(uint64_t offset) const { return base_ + header_->postings + offset; }

  /// Calls with the number of each term of a document.
  template <typename Function>
  void for_terms(uint32_t doc, Function&& function) const {
    const std::byte* read = base_ + header_->forward + at<uint64_t>(header_->forward_index)[doc];
    uint32_t term = 0;
    for (uint32_t count = get_varint(read); count > 0; --count) function(term += get_varint(read));
  }

 private:
  Segment(const std::byte* base, std::shared_ptr<const void> owner)
      : base_(base), header_(reinterpret_cast<const SegmentHeader*>(base)), owner_(std::move(owner)) {}
  bool sound(size_t size) const;
  template <typename T>
  const T* at(uint64_t offset) const {
    return reinterpret_cast<const T*>(base_ + offset);
  }

  const std::byte* base_;
  const SegmentHeader* header_;
  std::shared_ptr<const void> owner_;
};

}  // namespace quern::text
