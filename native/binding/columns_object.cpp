#include "columns_object.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "../threads/work.hpp"
#include "anomaly_fit_object.hpp"
#include "arguments.hpp"
#include "objects.hpp"
#include "task.hpp"

namespace quern::binding {
namespace {

using columns::ColumnValues;
using columns::FeatureSpec;
using columns::Frame;
using columns::Kind;
using columns::Snapshot;
using columns::Wanted;

constexpr const char* kClass = "Columns";
/// Cells of an append, which is synchronous: about 0.1 ms.
constexpr size_t kMostAppended = size_t{1} << 14;
/// Cells of a read that is answered in the call.
constexpr size_t kReadAtOnce = size_t{1} << 12;
/// Cells of an answer, or of the rows of a fit: 128 MiB of numbers.
constexpr size_t kMostCells = size_t{1} << 24;
/// Arrays up to this are copied; larger ones keep the memory in which they were made.
constexpr size_t kCopiedBytes = 4096;

Napi::Array array(const Napi::Value& value, const std::string& name, size_t most) {
  if (!value.IsArray()) throw Failure("invalid", name + " must be an array.");
  Napi::Array items = value.As<Napi::Array>();
  if (items.Length() > most)
    throw Failure("invalid", name + " has " + std::to_string(items.Length()) + " items; at most " +
                                 std::to_string(most) + " are allowed.");
  return items;
}

std::vector<size_t> sizes(const Napi::Object& from, const char* name) {
  const Napi::Value value = from.Get(name);
  if (value.IsUndefined()) return {};
  const Napi::Array items = array(value, name, columns::kMostListed);
  std::vector<size_t> all;
  for (uint32_t i = 0; i < items.Length(); ++i) {
    const std::string item = std::string(name) + "[" + std::to_string(i) + "]";
    const size_t size = whole(items.Get(i), item, 1, columns::kMostWindow);
    if (std::find(all.begin(), all.end(), size) == all.end()) all.push_back(size);
  }
  return all;
}

FeatureSpec feature_spec(const Napi::Value& value) {
  const Napi::Object from = object(value, "features");
  FeatureSpec spec{.windows = sizes(from, "windows"),
                   .statistics = {},
                   .lags = sizes(from, "lags"),
                   .rates = sizes(from, "rates"),
                   .spans = sizes(from, "spans")};
  const Napi::Value statistics = from.Get("statistics");
  if (statistics.IsUndefined()) {
    spec.statistics = {columns::Statistic::kMean, columns::Statistic::kStd, columns::Statistic::kMin,
                       columns::Statistic::kMax};
    return spec;
  }
  const Napi::Array items = array(statistics, "statistics", columns::kMostListed);
  for (uint32_t i = 0; i < items.Length(); ++i) {
    const auto one = columns::statistic_of(text(items.Get(i), "statistics[" + std::to_string(i) + "]"));
    if (!spec.wants(one)) spec.statistics.push_back(one);
  }
  std::sort(spec.statistics.begin(), spec.statistics.end());
  return spec;
}

template <typename Item>
std::vector<Item> copied(const Napi::Object& from, const char* name, napi_typedarray_type type) {
  const Napi::Value value = from.Get(name);
  if (value.IsUndefined()) return {};
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type)
    throw Failure("invalid", std::string(name) + " of a column is an array of another type.");
  const auto items = value.As<Napi::TypedArrayOf<Item>>();
  const size_t count = items.ElementLength();
  return count == 0 ? std::vector<Item>() : std::vector<Item>(items.Data(), items.Data() + count);
}

ColumnValues column_values(const Napi::Value& value) {
  const Napi::Object from = object(value, "column");
  ColumnValues values;
  values.name = text(from.Get("name"), "name");
  values.kind = columns::kind_of(text(from.Get("kind"), "kind"));
  values.valid = copied<uint8_t>(from, "valid", napi_uint8_array);
  values.numbers = copied<double>(from, "numbers", napi_float64_array);
  values.offsets = copied<int32_t>(from, "offsets", napi_int32_array);
  const std::vector<uint8_t> bytes = copied<uint8_t>(from, "bytes", napi_uint8_array);
  values.bytes.assign(bytes.begin(), bytes.end());
  return values;
}

Wanted wanted(const Napi::Value& value, uint64_t next) {
  Wanted wanted;
  if (value.IsUndefined()) return wanted;
  const Napi::Object from = object(value, "options");
  if (const Napi::Value tail = from.Get("tail"); !tail.IsUndefined()) {
    const uint64_t rows = whole(tail, "tail", 0, static_cast<uint64_t>(columns::kLargestInt));
    wanted.from = rows > next ? 0 : next - rows;
  }
  if (const Napi::Value first = from.Get("from"); !first.IsUndefined())
    wanted.from = whole(first, "from", 0, static_cast<uint64_t>(columns::kLargestInt));
  if (const Napi::Value until = from.Get("until"); !until.IsUndefined())
    wanted.until = whole(until, "until", 0, static_cast<uint64_t>(columns::kLargestInt));
  if (const Napi::Value features = from.Get("features"); !features.IsUndefined())
    wanted.features = feature_spec(features);
  return wanted;
}

/// The memory of a vector or string becomes that of an array.
template <typename Array, typename Items>
Array array_of(Napi::Env env, Items&& items) {
  const size_t bytes = items.size() * sizeof(items[0]);
  if (bytes <= kCopiedBytes) {
    Array array = Array::New(env, items.size());
    if (bytes > 0) std::memcpy(array.Data(), items.data(), bytes);
    return array;
  }
  using Kept = std::remove_cvref_t<Items>;
  auto* kept = new Kept(std::move(items));
  const auto size = static_cast<int64_t>(bytes);
  Napi::MemoryManagement::AdjustExternalMemory(env, size);
  const auto buffer = Napi::ArrayBuffer::New(
      env, kept->data(), bytes,
      [size](Napi::Env env, void*, Kept* kept) {
        Napi::MemoryManagement::AdjustExternalMemory(env, -size);
        delete kept;
      },
      kept);
  return Array::New(env, kept->size(), buffer, 0);
}

/**
 * One array for the numbers of all columns where they are few: making an array costs as much as a few hundred numbers.
 * Where they are many, each column keeps its own.
 */
class NumberArrays {
 public:
  NumberArrays(Napi::Env env, const Frame& frame) {
    for (const ColumnValues& values : frame.columns) numbers_ += values.numbers.size();
    shared_ = numbers_ * sizeof(double) <= kSharedBytes;
    if (!shared_) return;
    all_ = Napi::Float64Array::New(env, numbers_);
  }

  bool shared() const { return shared_; }
  const Napi::Float64Array& all() const { return all_; }
  /// The numbers of the next column.
  void put(const std::vector<double>& numbers) {
    if (!numbers.empty()) std::memcpy(all_.Data() + used_, numbers.data(), numbers.size() * sizeof(double));
    used_ += numbers.size();
  }

 private:
  static constexpr size_t kSharedBytes = size_t{1} << 16;

  Napi::Float64Array all_;
  size_t numbers_ = 0;
  size_t used_ = 0;
  bool shared_ = false;
};

/// What native/columns.ts makes a ColumnFrame of: lists of names and kinds, the numbers, and the rest by column.
Napi::Value frame_object(Napi::Env env, Frame& frame) {
  const size_t count = frame.columns.size();
  Napi::Array list = Napi::Array::New(env, count);
  Napi::Uint8Array kinds = Napi::Uint8Array::New(env, count);
  Napi::Object rest = Napi::Object::New(env);
  NumberArrays numbers(env, frame);
  for (uint32_t i = 0; i < count; ++i) {
    ColumnValues& values = frame.columns[i];
    list.Set(i, values.name);
    kinds[i] = static_cast<uint8_t>(values.kind);
    const bool own = !numbers.shared() && !values.numbers.empty();
    if (numbers.shared()) numbers.put(values.numbers);
    if (values.valid.empty() && values.kind != Kind::kText && !own) continue;
    Napi::Object column = Napi::Object::New(env);
    if (!values.valid.empty()) column.Set("valid", array_of<Napi::Uint8Array>(env, std::move(values.valid)));
    if (values.kind == Kind::kText) {
      column.Set("offsets", array_of<Napi::Int32Array>(env, std::move(values.offsets)));
      column.Set("bytes", array_of<Napi::Uint8Array>(env, std::move(values.bytes)));
    }
    if (own) column.Set("numbers", array_of<Napi::Float64Array>(env, std::move(values.numbers)));
    rest.Set(i, column);
  }
  Napi::Object object = Napi::Object::New(env);
  object.Set("first", static_cast<double>(frame.first));
  object.Set("rows", static_cast<double>(frame.rows));
  object.Set("names", list);
  object.Set("kinds", kinds);
  object.Set("rest", rest);
  if (numbers.shared()) object.Set("numbers", numbers.all());
  return object;
}

std::vector<std::string> names(const Napi::Value& value) {
  const Napi::Array items = array(value, "columns", columns::kMostColumns);
  std::vector<std::string> all;
  for (uint32_t i = 0; i < items.Length(); ++i) all.push_back(text(items.Get(i), "columns[" + std::to_string(i) + "]"));
  return all;
}

}  // namespace

void ColumnsObject::define(Napi::Env env, Napi::Object exports) {
  using Self = ColumnsObject;
  define_class<Self>(env, kClass,
                     {InstanceMethod<&Self::append>("append"), InstanceMethod<&Self::clear>("clear"),
                      InstanceMethod<&Self::read>("read"), InstanceMethod<&Self::open_fit>("openFit"),
                      InstanceMethod<&Self::latest>("latest"), InstanceMethod<&Self::stats>("stats"),
                      InstanceMethod<&Self::forget_features>("forgetFeatures")});
  define_opener(env, exports, "openColumns", kClass);
}

ColumnsObject::ColumnsObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  raising(info.Env(), [&] {
    const Napi::Object options = object(info[0], "options");
    const size_t capacity = whole(options.Get("capacity"), "capacity", 1, columns::kMostRows);
    const Napi::Value live = options.Get("live");
    table_ = std::make_unique<columns::Table>(capacity,
                                              live.IsUndefined() ? std::nullopt : std::optional(feature_spec(live)));
  });
}

Napi::Value ColumnsObject::append(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    const Napi::Array list = array(info[1], "columns", columns::kMostColumns);
    const size_t rows = whole(info[0], "rows", 0, kMostAppended);
    if (rows * list.Length() > kMostAppended)
      throw Failure("too_large", std::to_string(rows) + " rows of " + std::to_string(list.Length()) +
                                     " columns are too many for one append; at most " + std::to_string(kMostAppended) +
                                     " cells are allowed.");
    std::vector<ColumnValues> batch;
    for (uint32_t i = 0; i < list.Length(); ++i) batch.push_back(column_values(list.Get(i)));
    table_->append(rows, batch);
    return info.Env().Undefined();
  });
}

Napi::Value ColumnsObject::clear(const Napi::CallbackInfo& info) {
  table_->clear();
  return info.Env().Undefined();
}

Napi::Value ColumnsObject::forget_features(const Napi::CallbackInfo& info) {
  table_->forget_live();
  return info.Env().Undefined();
}

Napi::Value ColumnsObject::read(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value {
    Wanted asked = wanted(info[0], table_->next());
    Snapshot snapshot = table_->snapshot();
    // Until it is put back nobody else has it; a read that failed leaves none.
    const auto live = table_->take_live(asked);
    const auto answer = [live, shelf = table_->shelf()](Napi::Env env, Frame& frame) {
      if (live) shelf->put(live);
      return frame_object(env, frame);
    };
    if (snapshot.work(asked, live.get()) <= kReadAtOnce) {
      Frame frame = snapshot.frame(asked, kMostCells, live.get());
      return resolved(info.Env(), answer(info.Env(), frame));
    }
    return Task<Frame>::run(
        info.Env(),
        [snapshot = std::move(snapshot), asked = std::move(asked), live] {
          return snapshot.frame(asked, kMostCells, live.get());
        },
        answer);
  });
}

Napi::Value ColumnsObject::open_fit(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    const std::vector<std::string> columns = names(info[1]);
    const FeatureSpec spec = feature_spec(info[2]);
    return AnomalyFitObject::of_rows(info[0], columns.size() * (1 + spec.width()),
                                     [snapshot = table_->snapshot(), columns, spec](const Work& work) {
                                       return snapshot.matrix(columns, spec, kMostCells, work);
                                     });
  });
}

Napi::Value ColumnsObject::latest(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    return array_of<Napi::Float64Array>(info.Env(), table_->latest(names(info[0])));
  });
}

Napi::Value ColumnsObject::stats(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    const auto stats = table_->stats();
    Napi::Array list = Napi::Array::New(info.Env(), stats.columns.size());
    for (uint32_t i = 0; i < stats.columns.size(); ++i) {
      Napi::Object column = Napi::Object::New(info.Env());
      column.Set("name", stats.columns[i].first);
      column.Set("kind", columns::name_of(stats.columns[i].second));
      list.Set(i, column);
    }
    Napi::Object object = Napi::Object::New(info.Env());
    object.Set("first", static_cast<double>(stats.first));
    object.Set("next", static_cast<double>(stats.next));
    object.Set("bytes", static_cast<double>(stats.bytes));
    object.Set("liveBytes", static_cast<double>(stats.live_bytes));
    object.Set("columns", list);
    return object;
  });
}

}  // namespace quern::binding
