#include "snapshot.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace quern::vectors {
namespace {

constexpr FileKind kKind{{'Q', 'U', 'E', 'R', 'N', 'V', 'E', 'C'}, 1};

/// Sections of the file, in this order.
enum Part : size_t { kCodes, kExact, kFacts, kIds, kDead, kLinks, kOrder, kParts };

/// The header's own part.
struct Facts {
  uint64_t dimensions;
  uint64_t rows;
  uint64_t linked;
  uint32_t metric;
  uint32_t storage;
  uint32_t connectivity;
  uint32_t graph_layout;
};

Facts facts_of(const IndexOptions& options, size_t rows, size_t linked) {
  return {.dimensions = options.dimensions,
          .rows = rows,
          .linked = linked,
          .metric = static_cast<uint32_t>(options.metric),
          .storage = static_cast<uint32_t>(options.storage),
          .connectivity = static_cast<uint32_t>(options.connectivity),
          .graph_layout = Graph::kLayout};
}

template <typename Item>
std::span<const Item> items(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const Item*>(bytes.data()), bytes.size() / sizeof(Item)};
}

LoadOutcome corrupt(const std::string& path, const char* reason) {
  return {LoadState::kCorrupt, path + " " + reason};
}

}  // namespace

Snapshot::Snapshot(const IndexOptions& index_options, const State& state)
    : options(index_options),
      blocks(state.rows),
      ids(state.rows.ids().begin(), state.rows.ids().end()),
      dead(state.rows.dead_bits().begin(), state.rows.dead_bits().end()),
      linked(state.linked) {
  if (!state.graph) return;
  order.assign(state.graph->order().begin(), state.graph->order().end());
  state.graph->write([this](const void* bytes, size_t size) {
    const auto* from = static_cast<const std::byte*>(bytes);
    links.insert(links.end(), from, from + size);
  });
}

void Snapshot::write(const std::string& path, uint64_t generation) const {
  const RowShape& shape = blocks.shape();
  const auto rows = static_cast<uint32_t>(ids.size());
  CheckedWriter file(path, kKind, generation);
  // A block at a time: its rows lie one after the other.
  const auto each_block = [&](auto&& write) {
    for (uint32_t row = 0; row < rows; row += kRowsPerBlock) write(row, std::min<size_t>(kRowsPerBlock, rows - row));
  };
  file.section();
  each_block([&](uint32_t row, size_t count) { file.write(blocks.codes(row), count * shape.codes); });
  file.section();
  if (shape.exact > 0)
    each_block([&](uint32_t row, size_t count) { file.write(blocks.exact(row), count * shape.exact); });
  file.section();
  if (shape.facts > 0)
    each_block([&](uint32_t row, size_t count) { file.write(&blocks.facts(row), count * shape.facts); });
  file.section();
  file.write(ids.data(), ids.size() * sizeof(uint32_t));
  file.section();
  file.write(dead.data(), dead.size() * sizeof(uint64_t));
  file.section();
  file.write(links.data(), links.size());
  file.section();
  file.write(order.data(), order.size() * sizeof(uint32_t));
  const Facts facts = facts_of(options, rows, linked);
  file.finish(std::as_bytes(std::span(&facts, 1)));
}

LoadOutcome read_snapshot(const std::string& path, uint64_t generation, const IndexOptions& options,
                          std::shared_ptr<State>& state) {
  std::shared_ptr<const CheckedFile> file;
  LoadOutcome outcome = CheckedFile::open(path, kKind, generation, file);
  if (outcome.state != LoadState::kLoaded) return outcome;
  if (file->facts().size() != sizeof(Facts) || file->sections() != kParts)
    return corrupt(path, "holds no vector index.");
  Facts facts;
  std::memcpy(&facts, file->facts().data(), sizeof(facts));
  const Facts wanted = facts_of(options, facts.rows, facts.linked);
  if (std::memcmp(&facts, &wanted, sizeof(facts)) != 0)
    return {LoadState::kStale, path + " was made with other settings."};
  const RowShape shape = row_shape(options);
  const auto part = [&](Part index) { return file->section(index); };
  const auto holds = [&](Part index, size_t item) { return part(index).size() == item * facts.rows; };
  if (facts.rows >= kNoRow || facts.linked > facts.rows || !holds(kCodes, shape.codes) || !holds(kExact, shape.exact) ||
      !holds(kFacts, shape.facts) || !holds(kIds, sizeof(uint32_t)) ||
      part(kDead).size() != (facts.rows + 63) / 64 * sizeof(uint64_t))
    return corrupt(path, "has sections that do not fit together.");
  auto read = std::make_shared<State>(options);
  if (!read->rows.adopt(part(kCodes), part(kExact), part(kFacts), items<uint32_t>(part(kIds)),
                        items<uint64_t>(part(kDead)), file))
    return corrupt(path, "holds an id twice.");
  if (!part(kLinks).empty()) {
    read->graph = std::make_shared<Graph>(options);
    read->linked = facts.linked;
    if (!read->graph->read(Scoring(options), read->rows, facts.linked, part(kLinks), items<uint32_t>(part(kOrder))))
      return corrupt(path, "holds a graph that contradicts itself.");
  }
  state = std::move(read);
  return outcome;
}

}  // namespace quern::vectors
