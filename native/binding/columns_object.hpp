#pragma once

#include <napi.h>

#include "../columns/table.hpp"

namespace quern::binding {

/// Columns of native/contract/columns.ts. What runs on the pool has a snapshot, so the object may change or go
/// meanwhile.
class ColumnsObject : public Napi::ObjectWrap<ColumnsObject> {
 public:
  /// Adds `openColumns` to the exports.
  static void define(Napi::Env env, Napi::Object exports);
  explicit ColumnsObject(const Napi::CallbackInfo& info);

 private:
  Napi::Value append(const Napi::CallbackInfo& info);
  Napi::Value clear(const Napi::CallbackInfo& info);
  Napi::Value read(const Napi::CallbackInfo& info);
  Napi::Value open_fit(const Napi::CallbackInfo& info);
  Napi::Value latest(const Napi::CallbackInfo& info);
  Napi::Value forget_features(const Napi::CallbackInfo& info);
  Napi::Value stats(const Napi::CallbackInfo& info);

  std::unique_ptr<columns::Table> table_;
};

}  // namespace quern::binding
