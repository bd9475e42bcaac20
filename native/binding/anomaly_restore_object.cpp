#include "anomaly_restore_object.hpp"

#include <utility>

#include "anomaly_model_object.hpp"
#include "arguments.hpp"
#include "objects.hpp"
#include "task.hpp"

namespace quern::binding {
namespace {

constexpr const char* kClass = "AnomalyRestore";
constexpr size_t kMostEntries = 1024;
constexpr size_t kMostNameBytes = 256;
/// Of all arrays: what the largest fit keeps, and a little.
constexpr size_t kMostBytes = size_t{9} << 28;

using Restored = std::shared_ptr<const anomaly::FittedModel>;

void require_piece(const Napi::TypedArray& array, const std::string& name) {
  if (array.ElementLength() > kMostAnomalyNumbers)
    throw Failure("too_large", "Entry '" + name + "' has " + std::to_string(array.ElementLength()) +
                                   " items; allowed are at most " + std::to_string(kMostAnomalyNumbers) + " a call.");
}

/// The text of an entry, which is taken out.
template <typename Entries>
std::string take_text(Entries& entries, const std::string& name) {
  const auto found = entries.find(name);
  if (found == entries.end() || !std::holds_alternative<std::string>(found->second))
    anomaly::refuse_entry(name, "must be a text");
  std::string text = std::move(std::get<std::string>(found->second));
  entries.erase(found);
  return text;
}

template <typename Item>
std::vector<Item> join(std::vector<std::vector<Item>>& pieces) {
  if (pieces.size() == 1) return std::move(pieces.front());
  size_t count = 0;
  for (const auto& piece : pieces) count += piece.size();
  std::vector<Item> whole;
  whole.reserve(count);
  for (auto& piece : pieces) {
    whole.insert(whole.end(), piece.begin(), piece.end());
    piece = {};
  }
  return whole;
}

}  // namespace

void AnomalyRestoreObject::define(Napi::Env env, Napi::Object exports) {
  using Self = AnomalyRestoreObject;
  define_class<Self>(env, kClass, {InstanceMethod<&Self::add>("add"), InstanceMethod<&Self::run>("run")});
  define_opener(env, exports, "openAnomalyRestore", kClass);
}

AnomalyRestoreObject::AnomalyRestoreObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  raising(info.Env(), [&] { threads_ = anomaly_threads(info[0]); });
}

void AnomalyRestoreObject::require_fresh() const {
  if (!entries_) throw Failure("invalid", "run() was called already; open another restore.");
}

template <typename Item>
void AnomalyRestoreObject::append(const std::string& name, std::vector<Item> items) {
  bytes_ += items.size() * sizeof(Item);
  if (bytes_ > kMostBytes)
    throw Failure("too_large", "A state may have at most " + std::to_string(kMostBytes) + " bytes of arrays.");
  Entry& entry = entries_->try_emplace(name, Pieces<Item>()).first->second;
  auto* const pieces = std::get_if<Pieces<Item>>(&entry);
  if (pieces == nullptr) anomaly::refuse_entry(name, "was given before, as something else");
  pieces->push_back(std::move(items));
}

void AnomalyRestoreObject::add(const Napi::CallbackInfo& info) {
  raising(info.Env(), [&] {
    require_fresh();
    const std::string name = text(info[0], "name");
    const Napi::Value value = info[1];
    if (name.size() > kMostNameBytes || (entries_->size() >= kMostEntries && !entries_->contains(name)))
      throw Failure("invalid", "A state has at most " + std::to_string(kMostEntries) +
                                   " entries, with names of at most " + std::to_string(kMostNameBytes) + " bytes.");
    if (value.IsNumber()) {
      entries_->insert_or_assign(name, value.As<Napi::Number>().DoubleValue());
    } else if (value.IsString()) {
      // The two texts of a state are names.
      std::string given = value.As<Napi::String>().Utf8Value();
      if (given.size() > kMostNameBytes) anomaly::refuse_entry(name, "is too long a text");
      entries_->insert_or_assign(name, std::move(given));
    } else if (value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == napi_float64_array) {
      require_piece(value.As<Napi::TypedArray>(), name);
      append(name, anomaly_rows(value, name, 1));
    } else if (value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == napi_int32_array) {
      require_piece(value.As<Napi::TypedArray>(), name);
      append(name, int32_array(value, name));
    } else {
      anomaly::refuse_entry(name, "must be a number, a string, a Float64Array or an Int32Array");
    }
  });
}

anomaly::SavedModel AnomalyRestoreObject::joined(Entries& entries) {
  anomaly::SavedModel saved;
  saved.backend = take_text(entries, "backend");
  saved.normalization = take_text(entries, "normalization");
  for (auto& [name, entry] : entries) {
    if (const double* number = std::get_if<double>(&entry))
      saved.entries[name] = *number;
    else if (auto* numbers = std::get_if<Pieces<double>>(&entry))
      saved.entries[name] = join(*numbers);
    else if (auto* integers = std::get_if<Pieces<int32_t>>(&entry))
      saved.entries[name] = join(*integers);
    else
      anomaly::refuse_entry(name, "must be a number or an array");
    entry = 0.0;
  }
  return saved;
}

Napi::Value AnomalyRestoreObject::run(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value {
    require_fresh();
    return Task<Restored>::run(
        info.Env(),
        [entries = std::exchange(entries_, nullptr)] {
          const anomaly::SavedModel saved = joined(*entries);
          return anomaly::FittedModel::restore(saved);
        },
        [threads = threads_, bytes = bytes_](Napi::Env env, Restored& model) {
          return AnomalyModelObject::make(env, std::move(model), threads, bytes);
        });
  });
}

}  // namespace quern::binding
