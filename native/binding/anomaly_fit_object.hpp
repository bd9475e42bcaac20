#pragma once

#include <napi.h>

#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "../anomaly/model.hpp"
#include "../inference/failure.hpp"
#include "lifetime.hpp"

namespace quern::binding {

/**
 * NativeAnomalyFit of native/contract/anomaly.ts. Keeps itself alive while its thread runs, and joins the thread before
 * the environment ends.
 */
class AnomalyFitObject : public Napi::ObjectWrap<AnomalyFitObject>, private Living {
 public:
  /// Adds `openAnomalyFit` to the exports.
  static void define(Napi::Env env, Napi::Object exports);
  explicit AnomalyFitObject(const Napi::CallbackInfo& info);
  ~AnomalyFitObject() override;
  AnomalyFitObject(const AnomalyFitObject&) = delete;
  AnomalyFitObject& operator=(const AnomalyFitObject&) = delete;

 private:
  static void on_done(Napi::Env env, Napi::Function nothing, AnomalyFitObject* self, void* none);
  using DoneCall = Napi::TypedThreadSafeFunction<AnomalyFitObject, void, &AnomalyFitObject::on_done>;

  void add(const Napi::CallbackInfo& info);
  Napi::Value run(const Napi::CallbackInfo& info);
  void cancel(const Napi::CallbackInfo& info);
  void end() override;

  /// On the thread.
  void fit() noexcept;
  /// On the JavaScript thread, after fit().
  void settle(Napi::Env env);
  /// Throws Failure('invalid') when run() was called.
  void require_fresh() const;

  anomaly::ModelOptions options_;
  std::shared_ptr<anomaly::Work> work_;
  std::vector<std::vector<double>> pieces_;  ///< as they came: one array would be copied whenever it grows
  size_t numbers_ = 0;
  std::thread thread_;
  DoneCall done_;
  std::optional<Napi::Promise::Deferred> deferred_;
  // Written by the thread, read after it was joined.
  std::shared_ptr<const anomaly::FittedModel> model_;
  std::optional<Failure> failure_;
};

}  // namespace quern::binding
