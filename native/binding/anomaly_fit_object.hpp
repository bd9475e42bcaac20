#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <vector>

#include "../anomaly/model.hpp"

namespace quern::binding {

/// NativeAnomalyFit of native/contract/anomaly.ts. Rows are gathered here, or made on the thread that the fit has of
/// its own.
class AnomalyFitObject : public Napi::ObjectWrap<AnomalyFitObject> {
 public:
  /// Adds `openAnomalyFit` to the exports.
  static void define(Napi::Env env, Napi::Object exports);
  explicit AnomalyFitObject(const Napi::CallbackInfo& info);
  AnomalyFitObject(const AnomalyFitObject&) = delete;
  AnomalyFitObject& operator=(const AnomalyFitObject&) = delete;

  /// Makes whole rows; it owns all that it reads.
  using Rows = std::function<std::vector<double>(const Work& work)>;
  /// An AnomalyFit with these options (AnomalyFitOptions of native/contract/anomaly.ts) whose thread makes its rows.
  /// Throws Failure('invalid') for options of another width than theirs.
  static Napi::Value of_rows(const Napi::Value& options, size_t columns, Rows rows);

 private:
  void add(const Napi::CallbackInfo& info);
  Napi::Value run(const Napi::CallbackInfo& info);
  void cancel(const Napi::CallbackInfo& info);
  /// Throws Failure('invalid') when run() was called.
  void require_fresh() const;

  anomaly::ModelOptions options_;
  std::shared_ptr<Work> work_;
  std::vector<std::vector<double>> pieces_;  ///< as they came: one array would be copied whenever it grows
  Rows rows_;                                ///< of a table; empty where rows are added
  size_t numbers_ = 0;
  bool background_ = false;
  bool scored_ = false;
  bool saved_ = false;
  bool is_run_ = false;
};

}  // namespace quern::binding
