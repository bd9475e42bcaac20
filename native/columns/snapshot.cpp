#include <algorithm>
#include <thread>

#include "../base/failure.hpp"
#include "table.hpp"

namespace quern::columns {
namespace {

/// Features that are worth threads, and threads at most: another request should find a core too.
constexpr size_t kWorthThreads = 1 << 16;
constexpr size_t kMostThreads = 4;

size_t saturated(uint64_t rows, size_t width) {
  return width != 0 && rows > SIZE_MAX / width ? SIZE_MAX : static_cast<size_t>(rows) * width;
}

void check_cells(uint64_t rows, size_t width, size_t most) {
  if (saturated(rows, width) > most)
    throw Failure("too_large", std::to_string(rows) + " rows of " + std::to_string(width) + " columns are " +
                                   std::to_string(saturated(rows, width)) + " cells; at most " + std::to_string(most) +
                                   " fit one answer. Ask for fewer rows (tail) or features.");
}

}  // namespace

Series Snapshot::series(const Column& column, uint64_t from, uint64_t until) const {
  const size_t rows = static_cast<size_t>(until - from);
  Series series{std::vector<double>(rows), std::vector<uint8_t>(rows)};
  for (size_t i = 0; i < rows; ++i) {
    const uint64_t row = from + i;
    const Block& block = *column.blocks[static_cast<size_t>(row / block_rows_ - first_block_)];
    const size_t slot = row % block_rows_;
    if (block.kind() == Kind::kEmpty || !block.valid(slot)) continue;
    series.known[i] = 1;
    series.values[i] = block.number(slot);
  }
  return series;
}

void Snapshot::copy(const Column& column, uint64_t from, uint64_t until, ColumnValues& to) const {
  const size_t rows = static_cast<size_t>(until - from);
  to.name = column.name;
  to.kind = column.kind;
  std::vector<uint8_t> valid((rows + 7) / 8);
  size_t nulls = 0;
  if (column.kind == Kind::kText)
    to.offsets.assign(rows + 1, 0);
  else if (column.kind != Kind::kEmpty)
    to.numbers.assign(rows, 0.0);
  for (size_t i = 0; i < rows; ++i) {
    const uint64_t row = from + i;
    const Block& block = *column.blocks[static_cast<size_t>(row / block_rows_ - first_block_)];
    const size_t slot = row % block_rows_;
    const bool is_valid = block.kind() != Kind::kEmpty && block.valid(slot);
    if (!is_valid)
      ++nulls;
    else
      valid[i >> 3] = static_cast<uint8_t>(valid[i >> 3] | 1 << (i & 7));
    if (column.kind == Kind::kText) {
      if (is_valid) to.bytes += block.text(slot);
      if (to.bytes.size() > INT32_MAX)
        throw Failure("too_large",
                      "The texts of column '" + column.name + "' do not fit one answer; ask for fewer rows.");
      to.offsets[i + 1] = static_cast<int32_t>(to.bytes.size());
    } else if (is_valid) {
      to.numbers[i] = block.number(slot);
    }
  }
  if (nulls > 0) to.valid = std::move(valid);
}

uint64_t Snapshot::reached(const FeatureSpec& spec, uint64_t from) const {
  return from - std::min<uint64_t>(from - first_, spec.reach());
}

void Snapshot::make_features(const FeatureSpec& spec, uint64_t from, uint64_t until,
                             std::span<const ColumnRoom> columns, const Work& work) const {
  const uint64_t begin = reached(spec, from);
  const size_t parts = spec.windows.size() + 1;
  std::vector<Series> all(columns.size());
  work.parallel(columns.size(), 1, [&](size_t i, size_t) { all[i] = series(*columns[i].column, begin, until); });
  work.parallel(columns.size() * parts, 1, [&](size_t i, size_t) {
    write_features(spec, i % parts, all[i / parts], static_cast<size_t>(from - begin), columns[i / parts].room);
  });
}

/// Two columns of one name would be one in most formats.
void Snapshot::check_names(const FeatureSpec& spec) const {
  std::unordered_map<std::string, const std::string*> made;
  for (const Column& column : columns_)
    if (is_numeric(column.kind))
      for (std::string& name : feature_names(spec, column.name)) made.emplace(std::move(name), &column.name);
  for (const Column& column : columns_)
    if (const auto found = made.find(column.name); found != made.end())
      throw Failure("invalid", "Column '" + column.name + "' has the name of a feature of column '" + *found->second +
                                   "'; leave that feature out.");
}

void Snapshot::go_on(LiveFeatures& live, uint64_t from, uint64_t until, std::span<const ColumnRoom> columns,
                     const Work& work) const {
  const uint64_t begin = reached(live.spec(), from);
  if (!live.reaches(begin, from)) live.restart(begin, from);
  live.widen(columns_.size());
  work.parallel(columns.size(), 1, [&](size_t i, size_t) {
    const auto place = static_cast<size_t>(columns[i].column - columns_.data());
    live.follow(place, series(*columns[i].column, live.next(), until));
    live.copy(place, from, until, columns[i].room);
  });
  live.followed(until);
}

Frame Snapshot::frame(const Wanted& wanted, size_t most_cells, LiveFeatures* live) const {
  const uint64_t from = std::clamp(wanted.from, first_, next_);
  const uint64_t until = std::clamp(wanted.until, from, next_);
  size_t width = columns_.size();
  if (wanted.features) {
    for (const Column& column : columns_)
      if (is_numeric(column.kind)) width += wanted.features->width();
    check_names(*wanted.features);
  }
  check_cells(until - from, width, most_cells);
  Frame frame{.first = from, .rows = static_cast<size_t>(until - from), .columns = {}};
  for (const Column& column : columns_) copy(column, from, until, frame.columns.emplace_back());
  if (!wanted.features) return frame;
  frame.columns.reserve(width);
  std::vector<ColumnRoom> rooms;
  for (const Column& column : columns_) {
    if (!is_numeric(column.kind)) continue;
    ColumnRoom& room = rooms.emplace_back(ColumnRoom{&column, {}});
    for (std::string& name : feature_names(*wanted.features, column.name)) {
      ColumnValues& feature = frame.columns.emplace_back();
      feature.name = std::move(name);
      feature.kind = Kind::kFloat;
      feature.numbers.resize(frame.rows);
      room.room.starts.push_back(feature.numbers.data());
    }
  }
  const bool large = work(wanted, live) >= kWorthThreads;
  const Work leave(large ? std::min<size_t>(kMostThreads, std::thread::hardware_concurrency()) : 1);
  if (live != nullptr)
    go_on(*live, from, until, rooms, leave);
  else
    make_features(*wanted.features, from, until, rooms, leave);
  return frame;
}

std::vector<double> Snapshot::matrix(std::span<const std::string> columns, const FeatureSpec& spec, size_t most_cells,
                                     const Work& work) const {
  const size_t rows = static_cast<size_t>(next_ - first_);
  const size_t width = columns.size() * (1 + spec.width());
  check_cells(rows, width, most_cells);
  std::vector<double> matrix(rows * width);
  std::vector<ColumnRoom> rooms;
  for (size_t i = 0; i < columns.size(); ++i) {
    work.check();
    const auto found =
        std::find_if(columns_.begin(), columns_.end(), [&](const Column& column) { return column.name == columns[i]; });
    if (found == columns_.end() || found->kind == Kind::kText || found->kind == Kind::kEmpty) continue;
    const Series values = series(*found, first_, next_);
    for (size_t row = 0; row < rows; ++row) matrix[row * width + i] = values.values[row];
    ColumnRoom& room = rooms.emplace_back(ColumnRoom{&*found, {}});
    room.room.row_step = width;
    for (size_t k = 0; k < spec.width(); ++k)
      room.room.starts.push_back(matrix.data() + columns.size() + i * spec.width() + k);
  }
  make_features(spec, first_, next_, rooms, work);
  return matrix;
}

size_t Snapshot::work(const Wanted& wanted, const LiveFeatures* live) const {
  const uint64_t from = std::clamp(wanted.from, first_, next_);
  const uint64_t until = std::clamp(wanted.until, from, next_);
  if (!wanted.features) return saturated(until - from, columns_.size());
  const size_t width = columns_.size() * (1 + wanted.features->width());
  const uint64_t begin = reached(*wanted.features, from);
  if (live == nullptr || !live->reaches(begin, from)) return saturated(until - begin, width);
  const auto added = static_cast<size_t>(until - live->next());
  return saturated(until - from + added, width) + live->due(added);
}

}  // namespace quern::columns
