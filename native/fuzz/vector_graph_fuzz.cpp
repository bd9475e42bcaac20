// Reads arbitrary bytes as the links of a graph, behind the checksums that usually keep them out.
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "../vectors/graph.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace quern::vectors;
  constexpr uint32_t kRows = 32;
  static const IndexOptions options{.dimensions = 2, .storage = Storage::kF32, .connectivity = 4, .scan_below = 1};
  static const Scoring scoring(options);
  static const Rows rows = [] {
    Rows made(options);
    std::vector<quern::Half> half;
    for (uint32_t row = 0; row < kRows; ++row)
      made.append(row, scoring.encode(scoring.query(std::vector<float>{1.0f, static_cast<float>(row)}, "row"), half));
    return made;
  }();
  const uint32_t places = size == 0 ? 0 : bytes[0] % (kRows + 1);
  std::vector<uint32_t> order(places);
  std::iota(order.begin(), order.end(), 0);
  Graph graph(options);
  if (size == 0 || !graph.read(scoring, rows, kRows, std::as_bytes(std::span(bytes + 1, size - 1)), order)) return 0;
  size_t scanned = 0;
  const Query query = scoring.query(std::vector<float>{1, 1}, "query");
  for (const uint32_t row : graph.search(rows, query, 10, {}, scanned))
    if (row >= kRows) std::abort();
  return 0;
}
