#include "graph.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <thread>
#include <utility>

#include "reach.hpp"

namespace quern::vectors {
namespace {

/// Threads that make a graph: half of the processor, and at least what two cores give.
size_t building_threads() {
  constexpr size_t kMost = 16;
  const size_t cores = std::thread::hardware_concurrency();
  return std::clamp<size_t>(cores / 2, std::min<size_t>(2, std::max<size_t>(1, cores)), kMost);
}

}  // namespace

Graph::Graph(const IndexOptions& options)
    : codes_(options), links_(options.connectivity), linker_(codes_, links_, options.effort_build) {}

Graph::~Graph() = default;

size_t Graph::bytes() const {
  return size() * (codes_.bytes_per_place() + sizeof(uint32_t)) + links_.bytes();
}

size_t Graph::expected_bytes(size_t effort) const {
  // Two of three neighbours were met before.
  constexpr size_t kFresh = 3;
  return effort * links_.room(0) * codes_.bytes_per_place() / kFresh;
}

void Graph::place_rows(const Scoring& scoring, const RowBlocks& rows, std::span<const uint32_t> added) {
  std::vector<float> values(scoring.dimensions());
  codes_.reserve(size() + added.size());
  order_.reserve(size() + added.size());
  for (const uint32_t row : added) {
    scoring.values(rows, row, values.data());
    codes_.set(static_cast<uint32_t>(size()), values);
    order_.push_back(row);
  }
}

bool Graph::build(const Scoring& scoring, const RowBlocks& rows, std::span<const uint32_t> live,
                  const std::function<bool()>& given_up) {
  codes_.find_centre(scoring, rows, live);
  place_rows(scoring, rows, live);
  links_.append(live.size());
  if (live.empty()) return true;
  if (!link_all(linker_, links_, building_threads(), given_up)) return false;
  reach_all(links_);
  return true;
}

void Graph::add(const Scoring& scoring, const RowBlocks& rows, uint32_t row) {
  place_rows(scoring, rows, {&row, 1});
  links_.append(1);
  linker_.link(static_cast<uint32_t>(size() - 1), adding_);
}

std::vector<uint32_t> Graph::search(const Rows& rows, const Query& query, size_t effort, const Filter& filter,
                                    size_t& scanned) const {
  std::unique_ptr<Walker> walker;
  {
    const std::lock_guard lock(resting_mutex_);
    if (!resting_.empty()) {
      walker = std::move(resting_.back());
      resting_.pop_back();
    }
  }
  if (!walker) walker = std::make_unique<Walker>();
  walker->compared = 0;
  const CodedQuery coded = codes_.encode(query.values, walker->codes);
  Near at = near_place(codes_, coded, links_.entry());
  for (size_t above = links_.top(); above > 0; --above)
    at = descend(
        codes_, coded, at, [&](uint32_t place) { return links_.list(place, above); }, *walker);
  walker->met.begin(links_.size());
  const bool every = filter.all && rows.dead_count() == 0;
  const Level level{
      [&](uint32_t place) { return links_.list(place, 0); }, [&](uint32_t place) { links_.prefetch(place); },
      [&](uint32_t place) { return every || (!rows.dead(order_[place]) && filter.allows(rows.id(order_[place]))); }};
  walk(codes_, coded, at, effort, level, *walker);
  std::ranges::sort(walker->found);
  std::vector<uint32_t> found;
  found.reserve(walker->found.size());
  for (const Near near : walker->found) found.push_back(order_[place_of(near)]);
  scanned += walker->compared;
  const std::lock_guard lock(resting_mutex_);
  resting_.push_back(std::move(walker));
  return found;
}

void Graph::write(const Links::Sink& sink) const {
  sink(codes_.centre().data(), codes_.centre().size_bytes());
  links_.write(sink);
}

bool Graph::read(const Scoring& scoring, const RowBlocks& rows, size_t count, std::span<const std::byte> links,
                 std::span<const uint32_t> order) {
  // Rows are linked in the order in which they were appended, each once.
  if (std::ranges::adjacent_find(order, std::greater_equal<>()) != order.end()) return false;
  if (order.empty() || order.back() >= count) return false;
  std::vector<float> centre(scoring.dimensions());
  const size_t size = centre.size() * sizeof(float);
  if (links.size() < size) return false;
  std::memcpy(centre.data(), links.data(), size);
  if (!std::ranges::all_of(centre, [](float value) { return std::isfinite(value); })) return false;
  if (!links_.read(links.subspan(size), order.size())) return false;
  codes_.set_centre(centre);
  place_rows(scoring, rows, order);
  return true;
}

}  // namespace quern::vectors
