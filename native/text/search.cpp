#include "search.hpp"

#include <algorithm>
#include <deque>
#include <limits>

#include "sources.hpp"

namespace quern::text {
namespace {

/// Sums of bounds are added in another order than scores; this covers what rounding may make of it.
constexpr double kRounding = 1 + 1e-12;

struct Hit {
  double score;
  uint32_t id;
  /// Whether it stands before the other in the answer.
  bool operator<(const Hit& other) const { return score != other.score ? score > other.score : id < other.id; }
};

/// The best k so far, the worst of them on top.
class Best {
 public:
  explicit Best(uint32_t k) : k_(k) {}
  bool full() const { return heap_.size() == k_; }
  /// Whether a document may get in with at most this score. Holds for those with larger ids too when it is false.
  bool reach(double bound, uint32_t id) const { return !full() || Hit{bound, id} < heap_.front(); }
  void offer(const Hit& hit) {
    if (full()) {
      if (!(hit < heap_.front())) return;
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.back() = hit;
    } else {
      heap_.push_back(hit);
    }
    std::push_heap(heap_.begin(), heap_.end());
  }
  std::vector<Hit> sorted() {
    std::sort(heap_.begin(), heap_.end());
    return std::move(heap_);
  }

 private:
  const uint32_t k_;
  std::vector<Hit> heap_;
};

/// One part under one query.
class PartSearch {
 public:
  PartSearch(const Snapshot& snapshot, size_t index, const std::vector<Source>& sources, const IndexOptions& bm25,
             const SearchOptions& options, Best& best)
      : part_(snapshot.parts[index]), options_(options), best_(best) {
    const double mean =
        snapshot.words == 0 ? 1 : static_cast<double>(snapshot.words) / static_cast<double>(snapshot.docs);
    base_ = bm25.k1 * (1 - bm25.b);
    slope_ = bm25.k1 * bm25.b / mean;
    for (const Source& source : sources) {
      const auto& [term, list] = source.parts[index];
      const bool absent = !term && (!list || list->docs.empty());
      if (absent && source.occur == Occur::kMust) impossible_ = true;
      if (absent) continue;
      Walk& walk = walks_.emplace_back(
          Walk{list ? Cursor(*list, part_.segment->lengths()) : Cursor(*part_.segment, *term), source.weight, 0});
      walk.most = most(walk.weight, walk.cursor.bound());
      if (source.occur == Occur::kNot) {
        excluded_.push_back(&walk);
        continue;
      }
      scored_.push_back(&walk);
      (source.occur == Occur::kMust ? required_ : wished_).push_back(&walk);
    }
  }

  /// Returns how many documents matched.
  uint64_t run() {
    if (impossible_ || scored_.empty()) return 0;
    if (required_.empty())
      run_any();
    else
      run_all();
    return matched_;
  }

 private:
  struct Walk {
    Cursor cursor;
    double weight;
    double most;
  };

  double score(double weight, uint32_t tf, uint32_t length) const {
    return weight * (tf / (tf + (base_ + slope_ * length)));
  }
  double most(double weight, const Bound& bound) const {
    double highest = 0;
    for (int i = 0; i < 2; ++i) {
      if (bound.tf[i] == UINT16_MAX) return weight;
      if (bound.tf[i] > 0) highest = std::max(highest, score(weight, bound.tf[i], bound.length[i]));
    }
    return highest;
  }
  /// Whether documents from this one on may get in with at most this score.
  bool reach(double bound, uint32_t doc, size_t terms) const {
    if (options_.exhaustive) return true;
    return best_.reach(terms > 1 ? bound * kRounding : bound, part_.segment->ids()[doc]);
  }

  bool allowed(uint32_t doc) {
    if (options_.filtered) {
      const uint32_t id = part_.segment->ids()[doc];
      if (id / 8 >= options_.filter.size() || (options_.filter[id / 8] >> (id % 8) & 1) == 0) return false;
    }
    if (part_.is_dead(doc)) return false;
    for (Walk* walk : excluded_) {
      walk->cursor.advance(doc);
      if (walk->cursor.doc() == doc) return false;
    }
    return true;
  }

  /// All cursors that have it must stand on it. Adds in the order of the query, so that equal documents score equally.
  void take(uint32_t doc) {
    if (!allowed(doc)) return;
    ++matched_;
    const uint32_t length = part_.segment->lengths()[doc];
    double sum = 0;
    for (const Walk* walk : scored_)
      if (walk->cursor.doc() == doc) sum += score(walk->weight, walk->cursor.tf(), length);
    best_.offer({sum, part_.segment->ids()[doc]});
  }

  void run_any() {
    std::vector<Walk*> order = wished_;
    while (true) {
      for (size_t i = 1; i < order.size(); ++i)
        for (size_t j = i; j > 0 && order[j]->cursor.doc() < order[j - 1]->cursor.doc(); --j)
          std::swap(order[j], order[j - 1]);
      while (!order.empty() && order.back()->cursor.doc() == kNoDoc) order.pop_back();
      if (order.empty()) return;
      // The pivot is the first document that the walks up to it may bring in together.
      double sum = 0;
      size_t pivot = 0;
      for (; pivot < order.size(); ++pivot) {
        sum += order[pivot]->most;
        if (reach(sum, order[pivot]->cursor.doc(), pivot + 1)) break;
      }
      if (pivot == order.size()) return;
      const uint32_t doc = order[pivot]->cursor.doc();
      while (pivot + 1 < order.size() && order[pivot + 1]->cursor.doc() == doc) ++pivot;
      double in_block = 0;
      for (size_t i = 0; i <= pivot; ++i) {
        order[i]->cursor.look(doc);
        in_block += most(order[i]->weight, order[i]->cursor.block_bound());
      }
      if (reach(in_block, doc, pivot + 1)) {
        if (order[0]->cursor.doc() == doc) {
          take(doc);
          for (size_t i = 0; i <= pivot; ++i) order[i]->cursor.next();
        } else {
          for (size_t i = 0; order[i]->cursor.doc() < doc; ++i) order[i]->cursor.advance(doc);
        }
        continue;
      }
      skip(order, pivot, doc);
    }
  }

  /// No document in reach of these blocks gets in: goes on behind the first that ends, or where another walk joins.
  void skip(std::vector<Walk*>& order, size_t pivot, uint32_t doc) {
    uint32_t next = pivot + 1 < order.size() ? order[pivot + 1]->cursor.doc() : kNoDoc;
    for (size_t i = 0; i <= pivot; ++i) {
      const uint32_t last = order[i]->cursor.block_last();
      // A walk whose last block ends before the document has nothing more to add.
      if (last >= doc) next = std::min(next, last + 1);
    }
    next = std::max(next, doc + 1);
    Walk* rarest = order[0];
    for (size_t i = 1; i <= pivot; ++i)
      if (order[i]->most > rarest->most) rarest = order[i];
    rarest->cursor.advance(next);
  }

  void run_all() {
    std::sort(required_.begin(), required_.end(),
              [](const Walk* a, const Walk* b) { return a->cursor.df() < b->cursor.df(); });
    double wishes = 0;
    for (const Walk* walk : wished_) wishes += walk->most;
    Cursor& lead = required_[0]->cursor;
    while (lead.doc() != kNoDoc) {
      const uint32_t doc = lead.doc();
      double bound = wishes;
      uint32_t last = kNoDoc - 1;
      for (Walk* walk : required_) {
        walk->cursor.look(doc);
        bound += most(walk->weight, walk->cursor.block_bound());
        if (walk->cursor.block_last() >= doc) last = std::min(last, walk->cursor.block_last());
      }
      if (!reach(bound, doc, scored_.size())) {
        lead.advance(last + 1);
        continue;
      }
      uint32_t wanted = doc;
      for (size_t i = 1; i < required_.size() && wanted == doc; ++i) {
        required_[i]->cursor.advance(doc);
        wanted = required_[i]->cursor.doc();
      }
      if (wanted == kNoDoc) return;
      if (wanted != doc) {
        lead.advance(wanted);
        continue;
      }
      for (Walk* walk : wished_) walk->cursor.advance(doc);
      take(doc);
      lead.next();
    }
  }

  const Part& part_;
  const SearchOptions& options_;
  Best& best_;
  double base_ = 0;
  double slope_ = 0;
  bool impossible_ = false;
  uint64_t matched_ = 0;
  std::deque<Walk> walks_;
  std::vector<Walk*> scored_, required_, wished_, excluded_;
};

}  // namespace

Hits search(const Snapshot& snapshot, const IndexOptions& index, std::string_view query, const SearchOptions& options) {
  std::vector<Source> sources;
  for (const Clause& clause : parse_query(query, options.all_words, options.prefix, index.language))
    sources.push_back(find_source(snapshot, clause));
  Hits hits;
  if (options.k == 0) return hits;
  Best best(options.k);
  for (size_t i = 0; i < snapshot.parts.size(); ++i)
    hits.matched += PartSearch(snapshot, i, sources, index, options, best).run();
  for (const Hit& hit : best.sorted()) {
    hits.ids.push_back(hit.id);
    hits.scores.push_back(static_cast<float>(hit.score));
  }
  return hits;
}

}  // namespace quern::text
