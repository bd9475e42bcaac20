#include "segment.hpp"

#include <algorithm>
#include <utility>

namespace quern::text {

std::shared_ptr<const Segment> Segment::view(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  if (bytes.size() < sizeof(SegmentHeader) || reinterpret_cast<uintptr_t>(bytes.data()) % 8 != 0) return nullptr;
  std::shared_ptr<const Segment> segment(new Segment(bytes.data(), std::move(owner)));
  return segment->sound(bytes.size()) ? segment : nullptr;
}

bool Segment::sound(size_t size) const {
  const SegmentHeader& h = *header_;
  const auto holds = [](uint64_t begin, uint64_t end, uint64_t need) { return begin <= end && end - begin >= need; };
  const uint64_t docs = h.docs;
  const bool tables = h.bytes <= size && h.ids >= sizeof(h) && h.postings <= h.bytes &&
                      holds(h.ids, h.lengths, docs * 4) && holds(h.lengths, h.forward_index, docs * 4) &&
                      holds(h.forward_index, h.forward, docs * 8 + 8) && holds(h.forward, h.entries, 0) &&
                      holds(h.entries, h.text, (uint64_t{h.terms} + 1) * sizeof(TermEntry)) &&
                      holds(h.text, h.postings, 0) && holds(h.postings, h.bytes, kReadAhead) &&
                      (h.ids | h.lengths) % 4 == 0 && (h.forward_index | h.entries) % 8 == 0;
  if (!tables) return false;
  const uint64_t text_bytes = h.postings - h.text;
  const uint64_t posting_bytes = h.bytes - h.postings;
  for (uint32_t i = 0; i <= h.terms; ++i) {
    const TermEntry& now = entry(i);
    if (now.text > text_bytes || now.postings > posting_bytes || now.df > docs) return false;
    if (i > 0 && (now.text < entry(i - 1).text || now.postings < entry(i - 1).postings)) return false;
  }
  const auto* forward = at<uint64_t>(h.forward_index);
  for (uint32_t i = 0; i < h.docs; ++i)
    if (forward[i] > forward[i + 1] || (i > 0 && ids()[i] <= ids()[i - 1])) return false;
  return forward[h.docs] <= h.entries - h.forward;
}

std::string_view Segment::term(uint32_t term) const {
  const auto* entries = at<TermEntry>(header_->entries);
  return {at<char>(header_->text) + entries[term].text, entries[term + 1].text - entries[term].text};
}

uint32_t Segment::lower_bound(std::string_view text) const {
  uint32_t low = 0;
  for (uint32_t high = terms(); low < high;) {
    const uint32_t middle = low + (high - low) / 2;
    if (term(middle) < text)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

std::optional<uint32_t> Segment::find(std::string_view text) const {
  const uint32_t at = lower_bound(text);
  if (at == terms() || term(at) != text) return std::nullopt;
  return at;
}

std::optional<uint32_t> Segment::find_id(uint32_t id) const {
  const auto all = ids();
  const auto found = std::lower_bound(all.begin(), all.end(), id);
  if (found == all.end() || *found != id) return std::nullopt;
  return static_cast<uint32_t>(found - all.begin());
}

}  // namespace quern::text
