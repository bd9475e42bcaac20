#include "anomaly_fit_object.hpp"

#include <cmath>
#include <new>
#include <system_error>
#include <utility>

#include "../anomaly/limits.hpp"
#include "anomaly_model_object.hpp"
#include "arguments.hpp"

namespace quern::binding {
namespace {

using anomaly::FittedModel;
using anomaly::ModelOptions;

constexpr const char* kClass = "AnomalyFit";

uint64_t whole(const Napi::Object& from, const char* name, uint64_t least, uint64_t most) {
  const double given = number(from.Get(name), name);
  if (given != std::floor(given) || given < static_cast<double>(least) || given > static_cast<double>(most))
    throw Failure("invalid", std::string(name) + " must be an integer from " + std::to_string(least) + " to " +
                                 std::to_string(most) + ".");
  return static_cast<uint64_t>(given);
}

uint64_t whole_or(const Napi::Object& from, const char* name, uint64_t least, uint64_t most, uint64_t missing) {
  return from.Get(name).IsUndefined() ? missing : whole(from, name, least, most);
}

ModelOptions model_options(const Napi::Object& from) {
  ModelOptions options{.backend = text(from.Get("backend"), "backend"),
                       .columns = whole(from, "columns", 1, anomaly::kMostColumns),
                       .normalization = anomaly::normalization_of(text(from.Get("normalization"), "normalization")),
                       .scaled = boolean(from.Get("scaled"), "scaled"),
                       .fit = {}};
  options.fit.contamination = number(from.Get("contamination"), "contamination");
  options.fit.epochs = static_cast<uint32_t>(whole_or(from, "epochs", 1, 100'000, options.fit.epochs));
  options.fit.batch_size = static_cast<uint32_t>(whole_or(from, "batchSize", 1, 65'536, options.fit.batch_size));
  options.fit.seed = whole_or(from, "seed", 0, uint64_t{1} << 53, options.fit.seed);
  anomaly::check_options(options);
  return options;
}

}  // namespace

void AnomalyFitObject::define(Napi::Env env, Napi::Object exports) {
  using Self = AnomalyFitObject;
  AddonState::of(env).classes[kClass] = Napi::Persistent(DefineClass(
      env, kClass,
      {InstanceMethod<&Self::add>("add"), InstanceMethod<&Self::run>("run"), InstanceMethod<&Self::cancel>("cancel")}));
  exports.Set("openAnomalyFit", Napi::Function::New(
                                    env,
                                    [](const Napi::CallbackInfo& info) -> Napi::Value {
                                      return AddonState::of(info.Env()).classes[kClass].New({info[0]});
                                    },
                                    "openAnomalyFit"));
}

AnomalyFitObject::AnomalyFitObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  raising(info.Env(), [&] {
    const Napi::Object from = object(info[0], "options");
    options_ = model_options(from);
    work_ = std::make_shared<anomaly::Work>(anomaly_threads(from.Get("threads")));
  });
}

AnomalyFitObject::~AnomalyFitObject() {
  // The thread keeps this object, unless the environment ended.
  if (thread_.joinable()) end();
}

void AnomalyFitObject::require_fresh() const {
  if (deferred_) throw Failure("invalid", "run() was called already; open another fit.");
}

void AnomalyFitObject::add(const Napi::CallbackInfo& info) {
  raising(info.Env(), [&] {
    require_fresh();
    std::vector<double> rows = anomaly_rows(info[0], "rows", options_.columns);
    if (numbers_ + rows.size() > anomaly::kMostNumbers)
      throw Failure("too_large", "A fit takes at most " + std::to_string(anomaly::kMostNumbers / options_.columns) +
                                     " rows of " + std::to_string(options_.columns) + " columns.");
    anomaly::check_rows(rows, options_.columns, numbers_ / options_.columns);
    numbers_ += rows.size();
    pieces_.push_back(std::move(rows));
  });
}

Napi::Value AnomalyFitObject::run(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return raising(env, [&]() -> Napi::Value {
    require_fresh();
    deferred_ = Napi::Promise::Deferred::New(env);
    done_ = DoneCall::New(env, "quern fit", 0, 1, this);
    try {
      thread_ = std::thread([this] { fit(); });
    } catch (const std::system_error&) {
      done_.Release();
      throw Failure("busy", "There is no thread left for this fit.");
    }
    watch(env, this);
    Ref();
    return deferred_->Promise();
  });
}

void AnomalyFitObject::cancel(const Napi::CallbackInfo&) {
  work_->stop();
}

void AnomalyFitObject::end() {
  // The call of done_ frees itself with the environment.
  work_->stop();
  if (thread_.joinable()) thread_.join();
}

void AnomalyFitObject::fit() noexcept {
  try {
    std::vector<double> values;
    values.reserve(numbers_);
    for (std::vector<double>& piece : pieces_) {
      work_->check();
      values.insert(values.end(), piece.begin(), piece.end());
      piece = {};
    }
    model_ = FittedModel::fit(options_, std::move(values), *work_);
  } catch (const Failure& failure) {
    failure_ = failure;
  } catch (const std::bad_alloc&) {
    failure_.emplace("busy", "There is not enough memory for this fit.");
  } catch (const std::exception& error) {
    failure_.emplace("internal", error.what());
  }
  pieces_ = {};
  done_.NonBlockingCall();
}

void AnomalyFitObject::on_done(Napi::Env env, Napi::Function, AnomalyFitObject* self, void*) {
  // Without an environment, or after end(), nobody waits.
  if (env == nullptr || self == nullptr || !self->thread_.joinable()) return;
  self->settle(env);
}

void AnomalyFitObject::settle(Napi::Env env) {
  thread_.join();
  unwatch(env, this);
  done_.Release();
  const Napi::ObjectReference keep = Napi::Persistent(Value());
  Unref();
  try {
    if (failure_)
      deferred_->Reject(to_error(env, failure_->kind(), failure_->what()).Value());
    else
      deferred_->Resolve(AnomalyModelObject::make(env, std::move(model_), work_->threads(), numbers_ * sizeof(double)));
  } catch (const Napi::Error& error) {
    deferred_->Reject(error.Value());
  }
}

}  // namespace quern::binding
