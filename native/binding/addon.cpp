#include <napi.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "../inference/backends.hpp"
#include "../inference/engine_log.hpp"
#include "arguments.hpp"
#include "embedder_object.hpp"
#include "inference_arguments.hpp"
#include "lifetime.hpp"
#include "scheduler_object.hpp"
#include "transcriber_object.hpp"

namespace quern::binding {
namespace {

/// Smallest change of the progress that is reported.
constexpr float kProgressStep = 0.01f;

/// One call of open(): a thread of its own reads the file, the rest happens on the JavaScript thread. Deletes itself.
class OpenJob : public Living {
 public:
  static Napi::Promise start(Napi::Env env, std::string path, const ModelOptions& model,
                             const SchedulerOptions& scheduler, Napi::Function on_progress, Napi::Function on_step) {
    auto* job = new OpenJob(env, std::move(path), model, scheduler, on_step);
    const Napi::Promise promise = job->deferred_.Promise();
    job->call_ = Call::New(env, on_progress, "quern open", 0, 1, job);
    watch(env, job);
    job->thread_ = std::thread([job] { job->run(); });
    return promise;
  }

 private:
  static void on_call(Napi::Env env, Napi::Function on_progress, OpenJob* job, float* fraction) {
    const std::unique_ptr<float> progress(fraction);
    if (env == nullptr) return;
    if (progress)
      on_progress.Call({Napi::Number::New(env, *progress)});
    else
      job->settle(env);
  }
  using Call = Napi::TypedThreadSafeFunction<OpenJob, float, &OpenJob::on_call>;

  OpenJob(Napi::Env env, std::string path, const ModelOptions& model, const SchedulerOptions& scheduler,
          Napi::Function on_step)
      : path_(std::move(path)),
        model_options_(model),
        scheduler_options_(scheduler),
        on_step_(Napi::Persistent(on_step)),
        deferred_(Napi::Promise::Deferred::New(env)) {}

  void end() override {
    cancel_ = true;
    if (thread_.joinable()) thread_.join();
  }

  void report(float fraction) {
    if (cancel_ || (fraction < reported_ + kProgressStep && fraction < 1.0f)) return;
    reported_ = fraction;
    auto progress = std::make_unique<float>(fraction);
    if (call_.NonBlockingCall(progress.get()) == napi_ok) progress.release();
  }

  void run() {
    try {
      auto model = std::make_shared<const Model>(
          path_, model_options_, [this](float f) { report(f); }, cancel_);
      opened_.decoder = std::make_unique<LlamaDecoder>(model, scheduler_options_);
      opened_.model = std::move(model);
    } catch (const Failure& failure) {
      failure_ = failure;
    } catch (const std::exception& error) {
      failure_.emplace("model_failed", path_ + " cannot be loaded: " + error.what());
    }
    call_.NonBlockingCall(static_cast<float*>(nullptr));
  }

  void settle(Napi::Env env) {
    const std::unique_ptr<OpenJob> self(this);
    if (thread_.joinable()) thread_.join();
    unwatch(env, this);
    call_.Release();
    if (failure_) {
      reject(env, deferred_, *failure_);
      return;
    }
    try {
      deferred_.Resolve(SchedulerObject::make(env, opened_, on_step_.Value()));
    } catch (const Napi::Error& error) {
      deferred_.Reject(error.Value());
    }
  }

  const std::string path_;
  const ModelOptions model_options_;
  const SchedulerOptions scheduler_options_;
  Napi::FunctionReference on_step_;
  Napi::Promise::Deferred deferred_;
  Call call_;
  std::atomic<bool> cancel_{false};
  float reported_ = -1;
  Opened opened_;
  std::optional<Failure> failure_;
  std::thread thread_;
};

Napi::Value load(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    const std::vector<Device> found = load_backends(texts(info[0], "folders"));
    Napi::Array devices = Napi::Array::New(info.Env(), found.size());
    for (uint32_t i = 0; i < found.size(); ++i) {
      Napi::Object device = Napi::Object::New(info.Env());
      device.Set("name", found[i].name);
      device.Set("description", found[i].description);
      device.Set("kind", found[i].kind);
      device.Set("memoryBytes", static_cast<double>(found[i].memory_bytes));
      devices.Set(i, device);
    }
    return devices;
  });
}

Napi::Value open(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value {
    if (devices().empty()) throw Failure("unavailable", "No backend is loaded; call loadBackends() before open().");
    return OpenJob::start(info.Env(), path(info[0], "path"), model_options(info[1]), scheduler_options(info[2]),
                          function(info[3], "onProgress"), function(info[4], "onStep"));
  });
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  static const bool once = [] {
    start_engine();
    return true;
  }();
  static_cast<void>(once);
  env.SetInstanceData(new AddonState());
  watch_exit(env);
  define_install(env, exports);
  SchedulerObject::define(env);
  EmbedderObject::define(env, exports);
  TranscriberObject::define(env, exports);
  exports.Set("llamaTag", QUERN_LLAMA_TAG);
  exports.Set("loadBackends", Napi::Function::New<load>(env, "loadBackends"));
  exports.Set("open", Napi::Function::New<open>(env, "open"));
  return exports;
}

}  // namespace

NODE_API_MODULE(quern_inference, init)

}  // namespace quern::binding
