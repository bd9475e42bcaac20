#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer.hpp"
#include "segment.hpp"

namespace quern::text {

/// One document of a term on the way into a segment.
struct Posting {
  uint32_t doc;
  uint32_t tf;
  uint64_t positions;  ///< index of the first in the pool given with it
};

/// Puts a segment together: documents first, then terms in the order of their bytes.
class SegmentWriter {
 public:
  /// Ids ascending, with their lengths.
  SegmentWriter(std::vector<uint32_t> ids, std::vector<uint32_t> lengths);
  /// `postings` in the order of documents.
  void add(std::string_view term, const std::vector<Posting>& postings, const std::vector<uint32_t>& pool);
  std::shared_ptr<const Segment> finish();

 private:
  void block(std::span<const Posting> postings, uint32_t before);

  std::vector<uint32_t> ids_;
  std::vector<uint32_t> lengths_;
  std::vector<TermEntry> entries_;
  std::vector<uint32_t> forward_;  ///< document and term in turn
  std::string text_;
  Bytes postings_;
  std::vector<uint32_t> docs_, tfs_, doc_lengths_;
};

/// A document to be indexed.
struct Document {
  uint32_t id;
  std::string_view text;
};

/// A segment of documents whose ids ascend.
std::shared_ptr<const Segment> build_segment(std::span<const Document> documents, Analyzer& analyzer);

/// A part of a merge: a segment and the bits of its documents that are gone (empty = none).
struct MergePart {
  const Segment* segment;
  std::span<const uint64_t> dead;
};

/// One segment of the living documents of several.
std::shared_ptr<const Segment> merge_segments(std::span<const MergePart> parts);

}  // namespace quern::text
