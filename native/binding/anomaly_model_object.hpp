#pragma once

#include <napi.h>

#include <memory>
#include <string>
#include <vector>

#include "../anomaly/model.hpp"
#include "lifetime.hpp"

namespace quern::binding {

/// Numbers that are copied in one call, on the JavaScript thread: 4 MiB take about 1 ms.
inline constexpr size_t kMostAnomalyNumbers = size_t{1} << 19;

/// Copies whole rows. Throws Failure('too_large') for more than a call may copy, ('invalid') for what is no
/// Float64Array of them.
std::vector<double> anomaly_rows(const Napi::Value& value, const std::string& name, size_t columns);
/// AnomalyState of native/contract/anomaly.ts; empties the entries.
Napi::Object state_object(Napi::Env env, anomaly::SavedModel& saved);
/// 1 to 64, or 1 when missing.
size_t anomaly_threads(const Napi::Value& value);

/**
 * NativeAnomalyModel of native/contract/anomaly.ts. What runs on the pool shares model and work, so collection may come
 * first; the work is stopped when the environment ends.
 */
class AnomalyModelObject : public Napi::ObjectWrap<AnomalyModelObject>, private Living {
 public:
  static void define(Napi::Env env);
  /// `bytes` is about what the model keeps, for the collector of garbage.
  static Napi::Value make(Napi::Env env, std::shared_ptr<const anomaly::FittedModel> model, size_t threads,
                          size_t bytes);
  /// Arguments: External<Made>.
  explicit AnomalyModelObject(const Napi::CallbackInfo& info);
  ~AnomalyModelObject() override;
  AnomalyModelObject(const AnomalyModelObject&) = delete;
  AnomalyModelObject& operator=(const AnomalyModelObject&) = delete;

 private:
  struct Made {
    std::shared_ptr<const anomaly::FittedModel> model;
    size_t threads;
    size_t bytes;
  };

  Napi::Value score(const Napi::CallbackInfo& info);
  Napi::Value score_row(const Napi::CallbackInfo& info);
  Napi::Value explain(const Napi::CallbackInfo& info);
  Napi::Value state(const Napi::CallbackInfo& info);
  void release(const Napi::CallbackInfo& info);
  /// Throws Failure('invalid') for a model that was released.
  const std::shared_ptr<const anomaly::FittedModel>& model() const;
  void end() override;

  std::shared_ptr<const anomaly::FittedModel> model_;
  std::shared_ptr<Work> work_;
  int64_t bytes_ = 0;
  bool watched_ = false;
};

}  // namespace quern::binding
