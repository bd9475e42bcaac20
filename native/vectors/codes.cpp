#include "codes.hpp"

#include <algorithm>
#include <cstring>

namespace quern::vectors {
namespace {

constexpr size_t kLine = 64;
/// Rows whose mean is the centre.
constexpr size_t kSampled = 4096;
/// Places that are compared per call of the kernel.
constexpr size_t kBatch = 64;

size_t padded(size_t dimensions) {
  return (dimensions + kLine - 1) / kLine * kLine;
}

}  // namespace

Codes::Codes(const IndexOptions& options)
    : kernels_(distance_kernels()),
      product_(options.metric == Metric::kInnerProduct),
      centre_(options.dimensions),
      records_(padded(options.dimensions)) {}

void Codes::find_centre(const Scoring& scoring, const RowBlocks& rows, std::span<const uint32_t> some) {
  if (product_ || some.empty()) return;
  std::vector<double> sum(centre_.size());
  std::vector<float> row(centre_.size());
  const size_t step = (some.size() + kSampled - 1) / kSampled;
  size_t count = 0;
  for (size_t at = 0; at < some.size(); at += step, ++count) {
    scoring.values(rows, some[at], row.data());
    for (size_t i = 0; i < row.size(); ++i) sum[i] += row[i];
  }
  for (size_t i = 0; i < row.size(); ++i) centre_[i] = static_cast<float>(sum[i] / static_cast<double>(count));
}

void Codes::reserve(size_t places) {
  records_.reserve(places);
  if (facts_.size() < places) facts_.resize(places);
}

CodeFacts Codes::encode(std::span<const float> row, int8_t* codes) const {
  thread_local std::vector<float> moved;
  moved.resize(row.size());
  float squared = 0;
  for (size_t i = 0; i < row.size(); ++i) moved[i] = row[i] - centre_[i];
  for (const float value : moved) squared += value * value;
  std::memset(codes + row.size(), 0, records_.record_bytes() - row.size());
  const float step = quantise(moved, codes);
  return {step, product_ ? 0 : squared};
}

void Codes::set(uint32_t place, std::span<const float> row) {
  facts_[place] = encode(row, codes(place));
}

CodedQuery Codes::encode(std::span<const float> query, std::vector<int8_t>& room) const {
  room.resize(records_.record_bytes());
  const CodeFacts facts = encode(query, room.data());
  return {room.data(), facts};
}

void Codes::compare(const CodedQuery& query, const uint32_t* places, size_t count, float* distances) const {
  const int8_t* rows[kBatch];
  int32_t sums[kBatch];
  const float share = product_ ? -query.facts.step : -2 * query.facts.step;
  for (size_t first = 0; first < count; first += kBatch) {
    const size_t some = std::min(kBatch, count - first);
    for (size_t i = 0; i < some; ++i) rows[i] = codes(places[first + i]);
    kernels_.dot_many_codes(query.codes, rows, some, records_.record_bytes(), sums);
    for (size_t i = 0; i < some; ++i) {
      const CodeFacts& facts = facts_[places[first + i]];
      distances[first + i] =
          query.facts.squared_length + facts.squared_length + share * facts.step * static_cast<float>(sums[i]);
    }
  }
}

}  // namespace quern::vectors
