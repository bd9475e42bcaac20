#include "index.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "../base/failure.hpp"
#include "search.hpp"

namespace quern::text {
namespace {

/// Segments of one tier that become one, which is then of the next tier.
constexpr size_t kFanIn = 8;
/// Documents and bytes of text for which one segment is built; a larger batch gives several.
constexpr size_t kBuildDocuments = 32768;
constexpr size_t kBuildBytes = 32u << 20;

int tier(const Part& part) {
  return std::bit_width(part.words() / 512) / std::bit_width(kFanIn - 1);
}

/// Marks these ids as gone; returns how many were there.
uint64_t bury(Snapshot& snapshot, std::span<const uint32_t> ids) {
  uint64_t found = 0;
  for (Part& part : snapshot.parts) {
    const Segment& segment = *part.segment;
    std::shared_ptr<Tombs> tombs;
    for (const uint32_t id : ids) {
      const auto doc = segment.find_id(id);
      if (!doc || (tombs ? (tombs->dead[*doc / 64] >> (*doc % 64) & 1) != 0 : part.is_dead(*doc))) continue;
      if (!tombs) {
        tombs = part.tombs ? std::make_shared<Tombs>(*part.tombs) : std::make_shared<Tombs>();
        tombs->dead.resize((segment.docs() + 63) / 64);
        tombs->dead_df.resize(segment.terms());
      }
      tombs->dead[*doc / 64] |= uint64_t{1} << (*doc % 64);
      segment.for_terms(*doc, [&](uint32_t term) { ++tombs->dead_df[term]; });
      ++tombs->count;
      tombs->words += segment.lengths()[*doc];
      ++found;
    }
    if (tombs) part.tombs = std::move(tombs);
  }
  return found;
}

/// Ids ascending, of equal ones the last.
std::vector<Document> in_order(std::span<const Document> documents) {
  std::vector<Document> all(documents.begin(), documents.end());
  std::stable_sort(all.begin(), all.end(), [](const Document& a, const Document& b) { return a.id < b.id; });
  size_t kept = 0;
  for (size_t i = 0; i < all.size(); ++i)
    if (i + 1 == all.size() || all[i + 1].id != all[i].id) all[kept++] = all[i];
  all.resize(kept);
  return all;
}

void check_batch(std::span<const Document> documents) {
  size_t bytes = 0;
  for (const Document& document : documents) {
    bytes += document.text.size();
    if (document.text.size() > kMaxTextBytes)
      throw Failure("too_large", "The text of id " + std::to_string(document.id) + " has " +
                                     std::to_string(document.text.size()) + " bytes; allowed are " +
                                     std::to_string(kMaxTextBytes) + ". Split it.");
    if (document.id == kNoDoc) throw Failure("invalid", "ids holds 4294967295, which stands for none.");
  }
  if (documents.size() > kMaxBatch || bytes > kMaxBatchBytes)
    throw Failure("too_large", "The batch has " + std::to_string(documents.size()) + " texts of " +
                                   std::to_string(bytes) + " bytes; allowed are " + std::to_string(kMaxBatch) +
                                   " and " + std::to_string(kMaxBatchBytes) + ". Add them in several calls.");
}

}  // namespace

void check(const IndexOptions& options) {
  if (!std::isfinite(options.k1) || options.k1 < 0 || options.k1 > 1000)
    throw Failure("invalid", "k1 is " + std::to_string(options.k1) + "; allowed is 0 to 1000.");
  if (!std::isfinite(options.b) || options.b < 0 || options.b > 1)
    throw Failure("invalid", "b is " + std::to_string(options.b) + "; allowed is 0 to 1.");
}

TextIndex::TextIndex(const IndexOptions& options) : options_(options), current_(std::make_shared<Snapshot>()) {
  check(options);
}

std::shared_ptr<const Snapshot> TextIndex::snapshot() const {
  const std::lock_guard lock(pointer_);
  return current_;
}

void TextIndex::publish(Snapshot next) {
  next.count();
  std::shared_ptr<const Snapshot> ready = std::make_shared<Snapshot>(std::move(next));
  const std::lock_guard lock(pointer_);
  current_.swap(ready);
}

void TextIndex::add(std::span<const Document> documents) {
  check_batch(documents);
  if (documents.empty()) return;
  const std::vector<Document> all = in_order(documents);
  // Made before the turn to write, so that several batches are analyzed at once.
  std::vector<Part> fresh;
  std::vector<uint32_t> ids;
  Analyzer analyzer(options_.language);
  for (size_t begin = 0; begin < all.size();) {
    size_t end = begin;
    for (size_t bytes = 0; end < all.size() && end - begin < kBuildDocuments && bytes < kBuildBytes; ++end) {
      bytes += all[end].text.size();
      ids.push_back(all[end].id);
    }
    fresh.push_back({build_segment({all.data() + begin, end - begin}, analyzer), nullptr});
    begin = end;
  }
  const std::lock_guard turn(writing_);
  Snapshot next = *snapshot();
  bury(next, ids);
  next.parts.insert(next.parts.end(), fresh.begin(), fresh.end());
  publish(std::move(next));
  merge();
}

uint64_t TextIndex::remove(std::span<const uint32_t> ids) {
  const std::lock_guard turn(writing_);
  Snapshot next = *snapshot();
  const uint64_t found = bury(next, ids);
  if (found == 0) return 0;
  publish(std::move(next));
  merge();
  return found;
}

void TextIndex::merge() {
  while (true) {
    Snapshot next = *snapshot();
    std::map<int, std::vector<size_t>> tiers;
    std::vector<size_t> chosen;
    for (size_t i = 0; i < next.parts.size(); ++i) {
      const Part& part = next.parts[i];
      if ((part.segment->docs() - part.live()) * uint64_t{3} > part.segment->docs()) chosen = {i};
      if (part.words() < kMaxSegmentWords / kFanIn) tiers[tier(part)].push_back(i);
    }
    for (const auto& [size, members] : tiers)
      if (chosen.empty() && members.size() >= kFanIn) chosen = members;
    if (chosen.empty()) return;
    std::vector<MergePart> parts;
    std::vector<Part> left;
    uint32_t living = 0;
    for (size_t i = 0; i < next.parts.size(); ++i) {
      const Part& part = next.parts[i];
      if (!std::binary_search(chosen.begin(), chosen.end(), i)) {
        left.push_back(part);
        continue;
      }
      living += part.live();
      parts.push_back(
          {part.segment.get(), part.tombs ? std::span<const uint64_t>(part.tombs->dead) : std::span<const uint64_t>()});
    }
    if (living > 0) left.push_back({merge_segments(parts), nullptr});
    next.parts = std::move(left);
    publish(std::move(next));
  }
}

Hits TextIndex::search(std::string_view query, const SearchOptions& options) const {
  if (options.k > kMaxHits)
    throw Failure("invalid",
                  "k is " + std::to_string(options.k) + "; allowed is 0 to " + std::to_string(kMaxHits) + ".");
  return text::search(*snapshot(), options_, query, options);
}

IndexStats TextIndex::stats() const {
  const auto now = snapshot();
  IndexStats stats{now->docs, now->words, 0, now->parts.size(), 0, 0};
  for (const Part& part : now->parts) {
    stats.terms += part.segment->terms();
    stats.dead += part.segment->docs() - part.live();
    stats.bytes += part.segment->bytes().size();
    if (part.tombs) stats.bytes += part.tombs->dead.size() * 8 + part.tombs->dead_df.size() * 4;
  }
  return stats;
}

void TextIndex::save(const std::string& path, uint64_t generation) const {
  write_snapshot(*snapshot(), options_, path, generation);
}

LoadOutcome TextIndex::load(const std::string& path, uint64_t generation) {
  std::shared_ptr<const Snapshot> read;
  const std::lock_guard turn(writing_);
  LoadOutcome outcome = read_snapshot(path, generation, options_, read);
  if (!read) return outcome;
  const std::lock_guard lock(pointer_);
  current_ = std::move(read);
  return outcome;
}

}  // namespace quern::text
