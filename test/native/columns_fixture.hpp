#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "columns/table.hpp"

namespace quern::columns {

using Values = std::vector<std::optional<double>>;

constexpr size_t kMost = size_t{1} << 24;

inline ColumnValues column(const std::string& name, const Values& values, Kind kind = Kind::kFloat) {
  ColumnValues out;
  out.name = name;
  out.kind = kind;
  out.valid.assign((values.size() + 7) / 8, 0);
  for (size_t i = 0; i < values.size(); ++i) {
    out.numbers.push_back(values[i].value_or(0.0));
    if (values[i]) out.valid[i >> 3] = static_cast<uint8_t>(out.valid[i >> 3] | 1 << (i & 7));
  }
  return out;
}

inline ColumnValues texts(const std::string& name, const std::vector<std::string>& values) {
  ColumnValues out;
  out.name = name;
  out.kind = Kind::kText;
  out.offsets.push_back(0);
  for (const std::string& value : values) {
    out.bytes += value;
    out.offsets.push_back(static_cast<int32_t>(out.bytes.size()));
  }
  return out;
}

inline void append(Table& table, const std::vector<ColumnValues>& batch, size_t rows) {
  table.append(rows, batch);
}

inline const ColumnValues& named(const Frame& frame, const std::string& name) {
  return *std::find_if(frame.columns.begin(), frame.columns.end(), [&](const auto& one) { return one.name == name; });
}

}  // namespace quern::columns
