#include "graph.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <usearch/index.hpp>

#include "../inference/failure.hpp"

namespace quern::vectors {
namespace {

namespace us = unum::usearch;

/// What an allocation takes beyond its size.
constexpr size_t kAllocationBytes = 16;
/// Searches of one graph at the same time; each keeps its own heaps and visited set.
constexpr size_t kSearchers = 16;

/// Gives a null pointer when there is no memory: usearch asks inside of functions that must not throw.
template <typename Item>
struct Memory {
  using value_type = Item;
  static constexpr std::align_val_t kAlignment{alignof(Item) > 16 ? alignof(Item) : 16};

  Memory() = default;
  template <typename Other>
  Memory(const Memory<Other>& /*other*/) {}
  Item* allocate(size_t count) {
    return static_cast<Item*>(::operator new(count * sizeof(Item), kAlignment, std::nothrow));
  }
  void deallocate(Item* items, size_t /*count*/) { ::operator delete(items, kAlignment); }
  bool operator==(const Memory& /*other*/) const { return true; }
};

using Index = us::index_gt<float, uint32_t, uint32_t, Memory<us::byte_t>>;

/// Places that no search holds at the moment.
class Places {
 public:
  Places() {
    for (size_t i = 0; i < kSearchers; ++i) free_.push_back(i);
  }
  size_t take() {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [this] { return !free_.empty(); });
    const size_t place = free_.back();
    free_.pop_back();
    return place;
  }
  void give(size_t place) {
    {
      const std::lock_guard lock(mutex_);
      free_.push_back(place);
    }
    freed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<size_t> free_;
};

/// Distances for usearch, which wants the smallest: minus the score.
struct Distance {
  const Scoring& scoring;
  const RowBlocks& rows;
  const std::vector<uint32_t>& order;

  template <typename Entry>
  float operator()(const Query& query, const Entry& entry) const {
    return -scoring.rough(query, rows, order[get_slot(entry)]);
  }
  template <typename Entry, typename Other>
  float operator()(const Entry& a, const Other& b) const {
    return -scoring.between(rows, order[get_slot(a)], order[get_slot(b)]);
  }
};

/// Fetches the rows that are compared next.
struct Prefetch {
  const RowBlocks& rows;
  const std::vector<uint32_t>& order;

  template <typename Iterator>
  void operator()(Iterator begin, Iterator end) const {
#if defined(__GNUC__)
    const size_t bytes = rows.shape().codes;
    for (; begin.operator!=(end); ++begin) {  // usearch's operator is not const, which clang minds
      const std::byte* row = rows.codes(order[get_slot(begin)]);
      for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch(row + i);
    }
#endif
  }
};

[[noreturn]] void failed(const char* action, const char* reason) {
  throw Failure("internal", std::string("The vector graph could not be ") + action + ": " + reason + ".");
}

template <typename Number>
Number number_at(std::span<const std::byte> bytes, size_t at) {
  Number number;
  std::memcpy(&number, bytes.data() + at, sizeof(number));
  return number;
}

/**
 * Whether usearch can read `links` without leaving its memory: it checks nothing itself, and a short stream ends in a
 * null pointer. Layout: header, the level of each place, then per place key (4), level (2), and per level a count (4)
 * with as many neighbours (4 each) as the level has room for.
 */
bool sound(std::span<const std::byte> links, size_t places, const us::index_config_t& config) {
  constexpr size_t kCount = sizeof(uint32_t);
  constexpr size_t kHead = sizeof(uint32_t) + sizeof(int16_t);
  constexpr int16_t kMostLevels = 64;
  if (links.size() < sizeof(us::index_serialized_header_t) + places * sizeof(int16_t)) return false;
  const auto header = number_at<us::index_serialized_header_t>(links, 0);
  if (header.size != places || header.connectivity != config.connectivity ||
      header.connectivity_base != config.connectivity_base || places == 0 || header.entry_slot >= places)
    return false;
  const auto level_of = [&](size_t place) {
    return number_at<int16_t>(links, sizeof(header) + place * sizeof(int16_t));
  };
  if (header.max_level != static_cast<uint64_t>(level_of(header.entry_slot))) return false;
  size_t at = sizeof(header) + places * sizeof(int16_t);
  for (size_t place = 0; place < places; ++place) {
    const int16_t levels = level_of(place);
    if (levels < 0 || levels > kMostLevels || levels > static_cast<int64_t>(header.max_level)) return false;
    const size_t size = kHead + kCount * (1 + config.connectivity_base) +
                        static_cast<size_t>(levels) * kCount * (1 + config.connectivity);
    if (links.size() - at < size || number_at<int16_t>(links, at + sizeof(uint32_t)) != levels) return false;
    at += kHead;
    for (int16_t level = 0; level <= levels; ++level) {
      const size_t room = level == 0 ? config.connectivity_base : config.connectivity;
      const auto count = number_at<uint32_t>(links, at);
      if (count > room) return false;
      for (size_t i = 1; i <= count; ++i) {
        const auto neighbour = number_at<uint32_t>(links, at + i * kCount);
        if (neighbour >= places || level_of(neighbour) < level) return false;
      }
      at += kCount * (1 + room);
    }
  }
  return at == links.size();
}

}  // namespace

struct Graph::Native {
  explicit Native(const IndexOptions& options) {
    us::index_config_t config;
    config.connectivity = options.connectivity;
    config.connectivity_base = options.connectivity * 2;
    auto made = Index::make(config);
    if (!made) failed("made", made.error.release());
    index = std::move(made.index);
    update.expansion = options.effort_build;
  }

  Index index;
  std::vector<uint32_t> order;
  us::index_update_config_t update;
  Places places;
};

uint32_t Graph::layout() {
  return USEARCH_VERSION_MAJOR * 1'000'000 + USEARCH_VERSION_MINOR * 1'000 + USEARCH_VERSION_PATCH;
}

Graph::Graph(const IndexOptions& options) : native_(std::make_unique<Native>(options)) {}

Graph::~Graph() = default;

size_t Graph::size() const {
  return native_->index.size();
}

size_t Graph::bytes() const {
  const us::index_config_t& config = native_->index.config();
  // Every connectivity-th place is on the next level as well.
  const size_t place = sizeof(uint32_t) * (3 + config.connectivity_base) + sizeof(uint32_t) * 2 + sizeof(void*);
  return size() * (place + kAllocationBytes) + native_->order.capacity() * sizeof(uint32_t);
}

bool Graph::full() const {
  return native_->index.size() >= native_->index.capacity();
}

void Graph::reserve(size_t rows) {
  native_->order.resize(std::max(rows, native_->order.size()));
  us::index_limits_t limits(std::max(rows, native_->index.capacity()), kSearchers);
  limits.threads_add = 1;
  if (!native_->index.try_reserve(limits)) throw std::bad_alloc();
}

void Graph::add(const Scoring& scoring, const RowBlocks& rows, uint32_t row) {
  const Query query = scoring.query(rows, row);
  auto& order = native_->order;
  const auto placed = [&order, row](const Index::member_ref_t& member) { order[member.slot] = row; };
  auto added =
      native_->index.add(row, query, Distance{scoring, rows, order}, native_->update, placed, Prefetch{rows, order});
  if (!added) failed("extended", added.error.release());
}

std::vector<Hit> Graph::search(const Scoring& scoring, const Rows& rows, const Query& query, size_t wanted,
                               size_t effort, const Filter& filter, size_t& scanned) const {
  const Native& native = *native_;
  us::index_search_config_t search;
  search.expansion = effort;
  search.thread = native_->places.take();
  struct Held {
    Places& places;
    size_t place;
    ~Held() { places.give(place); }
  } const held{native_->places, search.thread};
  const auto allowed = [&](const Index::member_cref_t& member) {
    const uint32_t row = native.order[member.slot];
    return !rows.dead(row) && filter.allows(rows.id(row));
  };
  auto found = native.index.search(query, wanted, Distance{scoring, rows, native.order}, search, allowed,
                                   Prefetch{rows, native.order});
  if (!found) failed("searched", found.error.release());
  scanned += found.computed_distances;
  std::vector<Hit> hits;
  hits.reserve(found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const auto match = found[i];
    const uint32_t row = native.order[match.member.slot];
    hits.push_back({-match.distance, rows.id(row), row});
  }
  return hits;
}

void Graph::write(const Sink& sink) const {
  // usearch lets no exception through.
  std::exception_ptr thrown;
  auto written = native_->index.save_to_stream([&](const void* bytes, size_t size) {
    try {
      sink(bytes, size);
      return true;
    } catch (...) {
      thrown = std::current_exception();
      return false;
    }
  });
  const char* reason = written.error.release();
  if (thrown) std::rethrow_exception(thrown);
  if (reason != nullptr) failed("written", reason);
}

std::span<const uint32_t> Graph::order() const {
  return {native_->order.data(), native_->index.size()};
}

bool Graph::read(std::span<const std::byte> links, std::span<const uint32_t> order, size_t rows) {
  // Rows are linked in the order in which they were appended, each once.
  if (std::adjacent_find(order.begin(), order.end(), std::greater_equal<>()) != order.end()) return false;
  if (order.empty() || order.back() >= rows) return false;
  if (!sound(links, order.size(), native_->index.config())) return false;
  reserve(1);
  size_t at = 0;
  auto loaded = native_->index.load_from_stream([&](void* bytes, size_t size) {
    std::memcpy(bytes, links.data() + at, size);
    at += size;
    return true;
  });
  if (const char* reason = loaded.error.release()) failed("read", reason);
  native_->order.assign(order.begin(), order.end());
  return true;
}

}  // namespace quern::vectors
