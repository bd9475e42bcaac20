#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "cursor.hpp"
#include "segment_writer.hpp"

namespace quern::text {
namespace {

/// One word of one document.
struct Occurrence {
  uint32_t doc;
  uint32_t position;
};

/// The terms of a batch, numbered as they come.
class Vocabulary {
 public:
  uint32_t number(std::string_view term) {
    key_.assign(term);
    const auto [found, fresh] = numbers_.try_emplace(key_, static_cast<uint32_t>(numbers_.size()));
    if (fresh) terms_.push_back(found->first);
    return found->second;
  }
  /// The numbers in the order of the terms' bytes.
  std::vector<uint32_t> sorted() const {
    std::vector<uint32_t> order(terms_.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) { return terms_[a] < terms_[b]; });
    return order;
  }
  std::string_view term(uint32_t number) const { return terms_[number]; }
  size_t size() const { return terms_.size(); }

 private:
  std::string key_;
  std::unordered_map<std::string, uint32_t> numbers_;
  std::vector<std::string_view> terms_;
};

bool gone(std::span<const uint64_t> dead, uint32_t doc) {
  return !dead.empty() && (dead[doc / 64] >> (doc % 64) & 1) != 0;
}

}  // namespace

std::shared_ptr<const Segment> build_segment(std::span<const Document> documents, Analyzer& analyzer) {
  Vocabulary vocabulary;
  std::vector<uint32_t> numbers;
  std::vector<Occurrence> occurrences;
  std::vector<uint32_t> ids, lengths;
  for (const Document& document : documents) {
    const auto doc = static_cast<uint32_t>(ids.size());
    ids.push_back(document.id);
    lengths.push_back(analyzer.analyze(document.text, false, [&](const Token& token) {
      numbers.push_back(vocabulary.number(token.term));
      occurrences.push_back({doc, token.position});
    }));
  }
  // Counted out by term; within one the order stays that of documents and positions.
  std::vector<uint64_t> starts(vocabulary.size() + 1);
  for (const uint32_t number : numbers) ++starts[number + 1];
  for (size_t i = 0; i < vocabulary.size(); ++i) starts[i + 1] += starts[i];
  std::vector<Occurrence> grouped(occurrences.size());
  std::vector<uint64_t> fill = starts;
  for (size_t i = 0; i < numbers.size(); ++i) grouped[fill[numbers[i]]++] = occurrences[i];
  occurrences = {};
  SegmentWriter writer(std::move(ids), std::move(lengths));
  std::vector<Posting> postings;
  std::vector<uint32_t> pool;
  for (const uint32_t number : vocabulary.sorted()) {
    postings.clear();
    pool.clear();
    for (uint64_t i = starts[number]; i < starts[number + 1]; ++i) {
      if (postings.empty() || postings.back().doc != grouped[i].doc)
        postings.push_back({grouped[i].doc, 0, pool.size()});
      ++postings.back().tf;
      pool.push_back(grouped[i].position);
    }
    writer.add(vocabulary.term(number), postings, pool);
  }
  return writer.finish();
}

std::shared_ptr<const Segment> merge_segments(std::span<const MergePart> parts) {
  struct Row {
    uint32_t id, part, doc;
  };
  std::vector<Row> rows;
  for (uint32_t part = 0; part < parts.size(); ++part)
    for (uint32_t doc = 0; doc < parts[part].segment->docs(); ++doc)
      if (!gone(parts[part].dead, doc)) rows.push_back({parts[part].segment->ids()[doc], part, doc});
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.id < b.id; });
  std::vector<std::vector<uint32_t>> renumbered(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) renumbered[i].assign(parts[i].segment->docs(), kNoDoc);
  std::vector<uint32_t> ids, lengths;
  for (const Row& row : rows) {
    renumbered[row.part][row.doc] = static_cast<uint32_t>(ids.size());
    ids.push_back(row.id);
    lengths.push_back(parts[row.part].segment->lengths()[row.doc]);
  }
  SegmentWriter writer(std::move(ids), std::move(lengths));
  std::vector<uint32_t> heads(parts.size());
  std::vector<Posting> postings;
  std::vector<uint32_t> pool, positions;
  while (true) {
    const std::string_view* least = nullptr;
    std::string_view term, candidate;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (heads[i] == parts[i].segment->terms()) continue;
      candidate = parts[i].segment->term(heads[i]);
      if (least != nullptr && candidate >= term) continue;
      term = candidate;
      least = &term;
    }
    if (least == nullptr) break;
    postings.clear();
    pool.clear();
    for (size_t i = 0; i < parts.size(); ++i) {
      const Segment& segment = *parts[i].segment;
      if (heads[i] == segment.terms() || segment.term(heads[i]) != term) continue;
      for (Cursor cursor(segment, heads[i]++); cursor.doc() != kNoDoc; cursor.next()) {
        const uint32_t doc = renumbered[i][cursor.doc()];
        if (doc == kNoDoc) continue;
        cursor.positions(positions);
        postings.push_back({doc, cursor.tf(), pool.size()});
        pool.insert(pool.end(), positions.begin(), positions.end());
      }
    }
    if (postings.empty()) continue;
    const auto order = [](const Posting& a, const Posting& b) { return a.doc < b.doc; };
    if (!std::is_sorted(postings.begin(), postings.end(), order)) std::sort(postings.begin(), postings.end(), order);
    writer.add(term, postings, pool);
  }
  return writer.finish();
}

}  // namespace quern::text
