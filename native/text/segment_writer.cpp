#include "segment_writer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "../base/failure.hpp"
#include "cursor.hpp"

namespace quern::text {
namespace {

template <typename T>
std::span<const std::byte> raw(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

}  // namespace

SegmentWriter::SegmentWriter(std::vector<uint32_t> ids, std::vector<uint32_t> lengths)
    : ids_(std::move(ids)), lengths_(std::move(lengths)) {}

void SegmentWriter::block(std::span<const Posting> postings, uint32_t before) {
  docs_.clear();
  tfs_.clear();
  for (const Posting& posting : postings) {
    docs_.push_back(posting.doc - before);
    before = posting.doc;
    tfs_.push_back(posting.tf - 1);
  }
  const uint32_t doc_width = width_of(docs_);
  const uint32_t tf_width = width_of(tfs_);
  postings_.push_back(static_cast<std::byte>(doc_width));
  postings_.push_back(static_cast<std::byte>(tf_width));
  pack(postings_, docs_, doc_width);
  pack(postings_, tfs_, tf_width);
}

void SegmentWriter::add(std::string_view term, const std::vector<Posting>& postings,
                        const std::vector<uint32_t>& pool) {
  const auto ordinal = static_cast<uint32_t>(entries_.size());
  const std::span<const Posting> all(postings);
  const size_t blocks = (all.size() + kBlock - 1) / kBlock;
  if (text_.size() + term.size() > UINT32_MAX) throw Failure("too_large", "The index has too many different words.");
  // The entries of blocks are read in place.
  if (blocks > 1) postings_.resize((postings_.size() + 3) / 4 * 4);
  TermEntry entry{postings_.size(), static_cast<uint32_t>(text_.size()), static_cast<uint32_t>(all.size()), {}};
  text_ += term;
  tfs_.clear();
  doc_lengths_.clear();
  for (const Posting& posting : all) {
    tfs_.push_back(posting.tf);
    doc_lengths_.push_back(lengths_[posting.doc]);
    forward_.push_back(posting.doc);
    forward_.push_back(ordinal);
  }
  entry.bound = bound_of(tfs_, doc_lengths_);
  entries_.push_back(entry);
  std::vector<BlockEntry> block_entries;
  for (size_t i = 0; blocks > 1 && i < blocks; ++i) {
    const size_t begin = i * kBlock;
    const size_t count = std::min<size_t>(kBlock, all.size() - begin);
    block_entries.push_back({all[begin + count - 1].doc, 0, 0,
                             bound_of({tfs_.data() + begin, count}, {doc_lengths_.data() + begin, count})});
  }
  const size_t entry_bytes = block_entries.size() * sizeof(BlockEntry);
  postings_.resize(postings_.size() + entry_bytes);
  const size_t start = postings_.size();
  for (size_t i = 0; i < blocks; ++i) {
    if (blocks > 1) block_entries[i].postings = static_cast<uint32_t>(postings_.size() - start);
    const size_t begin = i * kBlock;
    block(all.subspan(begin, std::min<size_t>(kBlock, all.size() - begin)), i == 0 ? 0 : all[begin - 1].doc);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (blocks > 1 && i % kBlock == 0)
      block_entries[i / kBlock].positions = static_cast<uint32_t>(postings_.size() - start);
    uint32_t before = 0;
    for (uint32_t j = 0; j < all[i].tf; ++j) {
      const uint32_t position = pool[all[i].positions + j];
      put_varint(postings_, position - before);
      before = position;
    }
  }
  if (postings_.size() - start > UINT32_MAX) throw Failure("too_large", "A word occurs too often for one segment.");
  if (entry_bytes > 0) std::memcpy(postings_.data() + start - entry_bytes, block_entries.data(), entry_bytes);
}

std::shared_ptr<const Segment> SegmentWriter::finish() {
  const size_t docs = ids_.size();
  entries_.push_back({postings_.size(), static_cast<uint32_t>(text_.size()), 0, {}});
  postings_.resize(postings_.size() + kReadAhead);
  // Terms came in order, so that counting them out by document keeps the order in each.
  std::vector<uint64_t> index(docs + 1);
  std::vector<uint64_t> starts(docs + 1);
  for (size_t i = 0; i < forward_.size(); i += 2) ++starts[forward_[i] + 1];
  for (size_t i = 0; i < docs; ++i) starts[i + 1] += starts[i];
  std::vector<uint32_t> terms(forward_.size() / 2);
  std::vector<uint64_t> fill = starts;
  for (size_t i = 0; i < forward_.size(); i += 2) terms[fill[forward_[i]]++] = forward_[i + 1];
  forward_ = {};
  Bytes forward;
  for (size_t doc = 0; doc < docs; ++doc) {
    index[doc] = forward.size();
    put_varint(forward, static_cast<uint32_t>(starts[doc + 1] - starts[doc]));
    uint32_t before = 0;
    for (uint64_t i = starts[doc]; i < starts[doc + 1]; ++i) {
      put_varint(forward, terms[i] - before);
      before = terms[i];
    }
  }
  index[docs] = forward.size();

  SegmentHeader header{};
  header.docs = static_cast<uint32_t>(docs);
  header.terms = static_cast<uint32_t>(entries_.size() - 1);
  for (const uint32_t length : lengths_) header.words += length;
  uint64_t size = sizeof(header);
  const auto place = [&size](uint64_t bytes) {
    const uint64_t at = (size + 7) / 8 * 8;
    size = at + bytes;
    return at;
  };
  header.ids = place(docs * 4);
  header.lengths = place(docs * 4);
  header.forward_index = place(index.size() * 8);
  header.forward = place(forward.size());
  header.entries = place(entries_.size() * sizeof(TermEntry));
  header.text = place(text_.size());
  header.postings = place(postings_.size());
  header.bytes = (size + 7) / 8 * 8;
  // new gives a multiple of 16; zeroed, so that equal indexes are equal files.
  auto owner = std::make_shared<Bytes>(header.bytes);
  const auto copy = [&owner](uint64_t at, std::span<const std::byte> bytes) {
    if (!bytes.empty()) std::memcpy(owner->data() + at, bytes.data(), bytes.size());
  };
  copy(0, std::as_bytes(std::span(&header, 1)));
  copy(header.ids, raw(ids_));
  copy(header.lengths, raw(lengths_));
  copy(header.forward_index, raw(index));
  copy(header.forward, forward);
  copy(header.entries, raw(entries_));
  copy(header.text, std::as_bytes(std::span(text_)));
  copy(header.postings, postings_);
  return Segment::view(*owner, owner);
}

}  // namespace quern::text
