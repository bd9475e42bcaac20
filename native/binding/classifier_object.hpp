#pragma once

#include <napi.h>

#include <memory>

#include "../classify/fit.hpp"

namespace quern::binding {

/// NativeClassifierFit of native/contract/classify.ts. The fit itself shares the samples, so this object may be
/// collected meanwhile.
class ClassifierFitObject : public Napi::ObjectWrap<ClassifierFitObject> {
 public:
  /// Adds `openClassifierFit` and `loadClassifier` to the exports.
  static void define(Napi::Env env, Napi::Object exports);
  explicit ClassifierFitObject(const Napi::CallbackInfo& info);

 private:
  Napi::Value add(const Napi::CallbackInfo& info);
  Napi::Value run(const Napi::CallbackInfo& info);
  Napi::Value cancel(const Napi::CallbackInfo& info);

  std::shared_ptr<classify::Samples> samples_;  ///< empty once run() was called
  std::shared_ptr<Work> work_;
  classify::PairOptions options_;
};

/// NativeClassifier of the same file. What runs on the pool shares the model.
class ClassifierObject : public Napi::ObjectWrap<ClassifierObject> {
 public:
  using Shared = std::shared_ptr<const classify::Model>;

  static void define(Napi::Env env);
  static Napi::Value wrap(Napi::Env env, Shared model);
  /// Argument: External<Shared>.
  explicit ClassifierObject(const Napi::CallbackInfo& info);

 private:
  Napi::Value predict(const Napi::CallbackInfo& info);
  Napi::Value save(const Napi::CallbackInfo& info);

  Shared model_;
};

}  // namespace quern::binding
