#include <napi.h>

#include <string>
#include <string_view>

#include "../anomaly/registry.hpp"
#include "../kernels/cpu.hpp"
#include "anomaly_fit_object.hpp"
#include "anomaly_model_object.hpp"
#include "anomaly_restore_object.hpp"
#include "classifier_object.hpp"
#include "columns_object.hpp"
#include "encoder_object.hpp"
#include "lifetime.hpp"
#include "text_index_object.hpp"
#include "vector_index_object.hpp"

namespace quern::binding {
namespace {

Napi::Value anomaly_backends(const Napi::CallbackInfo& info) {
  Napi::Array names = Napi::Array::New(info.Env());
  for (const std::string_view name : anomaly::backends()) names.Set(names.Length(), std::string(name));
  return names;
}

Napi::Value instruction_set(const Napi::CallbackInfo& info) {
  const Isa isa = best_isa();
  return Napi::String::New(info.Env(), isa == Isa::kAvx512 ? "avx512" : isa == Isa::kAvx2 ? "avx2" : "portable");
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new AddonState());
  watch_exit(env);
  exports.Set("instructionSet", Napi::Function::New(env, instruction_set, "instructionSet"));
  exports.Set("anomalyBackends", Napi::Function::New(env, anomaly_backends, "anomalyBackends"));
  AnomalyFitObject::define(env, exports);
  AnomalyModelObject::define(env);
  AnomalyRestoreObject::define(env, exports);
  ClassifierFitObject::define(env, exports);
  ColumnsObject::define(env, exports);
  EncoderObject::define(env, exports);
  TextIndexObject::define(env, exports);
  VectorIndexObject::define(env, exports);
  return exports;
}

}  // namespace

NODE_API_MODULE(quern_core, init)

}  // namespace quern::binding
