#include "live.hpp"

#include <algorithm>
#include <span>

namespace quern::columns {

LiveFeatures::LiveFeatures(FeatureSpec spec, size_t history, size_t rows)
    : spec_(std::move(spec)), history_(history), rows_(rows) {}

bool LiveFeatures::reaches(uint64_t begin, uint64_t from) const {
  return next_ >= begin && from >= since_ && from + rows_ >= next_;
}

size_t LiveFeatures::bytes_for(size_t columns) const {
  return columns * (FeatureTracker::bytes(spec_, history_) + rows_ * spec_.width() * sizeof(double));
}

size_t LiveFeatures::bytes() const {
  return bytes_for(static_cast<size_t>(
      std::count_if(columns_.begin(), columns_.end(), [](const auto& one) { return one != nullptr; })));
}

size_t LiveFeatures::due(size_t rows) const {
  size_t due = 0;
  for (const auto& one : columns_)
    if (one) due += one->tracker.due(rows);
  return due;
}

void LiveFeatures::restart(uint64_t begin, uint64_t from) {
  columns_.clear();
  since_ = from;
  next_ = begin;
}

void LiveFeatures::widen(size_t columns) {
  columns_.resize(columns);
}

void LiveFeatures::follow(size_t column, const Series& series) {
  std::unique_ptr<Followed>& one = columns_[column];
  const size_t width = spec_.width();
  if (!one) one = std::make_unique<Followed>(Followed{{spec_, history_}, std::vector<double>(rows_ * width)});
  const uint64_t until = next_ + series.values.size();
  const uint64_t kept = std::max(since_, until - std::min<uint64_t>(until, rows_));
  for (size_t i = 0; i < series.values.size(); ++i) {
    one->tracker.push(series.at(i));
    const uint64_t row = next_ + i;
    if (row >= kept) one->tracker.write(std::span(one->kept).subspan(row % rows_ * width, width));
  }
}

void LiveFeatures::copy(size_t column, uint64_t from, uint64_t until, const FeatureRoom& room) const {
  const size_t width = spec_.width();
  for (uint64_t row = from; row < until; ++row) {
    const double* const kept = columns_[column]->kept.data() + row % rows_ * width;
    for (size_t k = 0; k < width; ++k) room.starts[k][(row - from) * room.row_step] = kept[k];
  }
}

std::shared_ptr<LiveFeatures> LiveShelf::take(const FeatureSpec& spec, size_t rows) {
  const auto found = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const auto& one) { return one->spec() == spec && one->rows() >= rows; });
  if (found == kept_.end()) return nullptr;
  const std::shared_ptr<LiveFeatures> live = *found;
  kept_.erase(found);
  return live;
}

void LiveShelf::put(std::shared_ptr<LiveFeatures> live) {
  std::erase_if(kept_, [&](const auto& one) { return one->spec() == live->spec(); });
  kept_.push_back(std::move(live));
  while (kept_.size() > kMostLive || bytes() > kMostLiveBytes) kept_.erase(kept_.begin());
}

size_t LiveShelf::bytes() const {
  size_t bytes = 0;
  for (const auto& one : kept_) bytes += one->bytes();
  return bytes;
}

}  // namespace quern::columns
