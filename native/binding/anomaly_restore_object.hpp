#pragma once

#include <napi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "../anomaly/model.hpp"

namespace quern::binding {

/// NativeAnomalyRestore of native/contract/anomaly.ts.
class AnomalyRestoreObject : public Napi::ObjectWrap<AnomalyRestoreObject> {
 public:
  /// Adds `openAnomalyRestore` to the exports.
  static void define(Napi::Env env, Napi::Object exports);
  explicit AnomalyRestoreObject(const Napi::CallbackInfo& info);

 private:
  template <typename Item>
  using Pieces = std::vector<std::vector<Item>>;  ///< as they came: one array would be copied whenever it grows
  using Entry = std::variant<double, std::string, Pieces<double>, Pieces<int32_t>>;
  using Entries = std::map<std::string, Entry>;

  void add(const Napi::CallbackInfo& info);
  Napi::Value run(const Napi::CallbackInfo& info);

  /// Empties the entries. Throws Failure('invalid') for texts that no state has.
  static anomaly::SavedModel joined(Entries& entries);
  template <typename Item>
  void append(const std::string& name, std::vector<Item> items);
  /// Throws Failure('invalid') when run() was called.
  void require_fresh() const;

  std::shared_ptr<Entries> entries_ = std::make_shared<Entries>();  ///< empty once run() was called
  size_t threads_ = 1;
  size_t bytes_ = 0;
};

}  // namespace quern::binding
