#include "anomaly_model_object.hpp"

#include <chrono>
#include <utility>

#include "arguments.hpp"
#include "arrays.hpp"
#include "objects.hpp"
#include "task.hpp"

namespace quern::binding {
namespace {

using anomaly::FittedModel;

constexpr const char* kClass = "AnomalyModel";
constexpr int kMostThreads = 64;
/// What a call may keep the event loop waiting.
constexpr std::chrono::microseconds kBrief(200);

struct Scored {
  std::vector<double> raw;
  std::vector<double> scores;
};

Scored scored(const FittedModel& model, std::vector<double>& rows, const Work& work) {
  anomaly::check_rows(rows, model.columns(), 0);
  Scored answer;
  answer.raw.resize(rows.size() / model.columns());
  model.score(rows, answer.raw, work);
  answer.scores.reserve(answer.raw.size());
  for (const double raw : answer.raw) answer.scores.push_back(model.normalizer().score(raw));
  return answer;
}

Napi::Value plain_value(Napi::Env env, anomaly::Plain& plain) {
  if (const double* number = std::get_if<double>(&plain)) return Napi::Number::New(env, *number);
  if (auto* numbers = std::get_if<std::vector<double>>(&plain))
    return to_array<Napi::Float64Array>(env, std::move(*numbers));
  return to_array<Napi::Int32Array>(env, std::move(std::get<std::vector<int32_t>>(plain)));
}

}  // namespace

std::vector<double> anomaly_rows(const Napi::Value& value, const std::string& name, size_t columns) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_float64_array)
    throw Failure("invalid", name + " must be a Float64Array.");
  const auto array = value.As<Napi::Float64Array>();
  const size_t count = array.ElementLength();
  if (count > kMostAnomalyNumbers)
    throw Failure("too_large", name + " has " + std::to_string(count) + " numbers; allowed are at most " +
                                   std::to_string(kMostAnomalyNumbers) + " a call.");
  if (count % columns != 0)
    throw Failure("invalid", name + " has " + std::to_string(count) + " numbers, which are no whole rows of " +
                                 std::to_string(columns) + " columns.");
  const double* const from = count == 0 ? nullptr : array.Data();
  return from == nullptr ? std::vector<double>() : std::vector<double>(from, from + count);
}

Napi::Object state_object(Napi::Env env, anomaly::SavedModel& saved) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("backend", saved.backend);
  object.Set("normalization", saved.normalization);
  for (auto& [name, plain] : saved.entries) object.Set(name, plain_value(env, plain));
  return object;
}

size_t anomaly_threads(const Napi::Value& value) {
  if (value.IsUndefined()) return 1;
  const int32_t threads = integer(value, "threads");
  if (threads < 1 || threads > kMostThreads)
    throw Failure("invalid",
                  "threads is " + std::to_string(threads) + "; allowed is 1 to " + std::to_string(kMostThreads) + ".");
  return static_cast<size_t>(threads);
}

void AnomalyModelObject::define(Napi::Env env) {
  using Self = AnomalyModelObject;
  define_class<Self>(env, kClass,
                     {InstanceMethod<&Self::score>("score"), InstanceMethod<&Self::score_row>("scoreRow"),
                      InstanceMethod<&Self::explain>("explain"), InstanceMethod<&Self::state>("state"),
                      InstanceMethod<&Self::release>("release")});
}

Napi::Value AnomalyModelObject::make(Napi::Env env, std::shared_ptr<const FittedModel> model, size_t threads,
                                     size_t bytes) {
  Made made{std::move(model), threads, bytes};
  return make_object(env, kClass, {Napi::External<Made>::New(env, &made)});
}

AnomalyModelObject::AnomalyModelObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsExternal()) throw to_error(env, "internal", "A model is made by a fit or a restore only.");
  const Made& made = *info[0].As<Napi::External<Made>>().Data();
  model_ = made.model;
  work_ = std::make_shared<Work>(made.threads);
  Napi::Object self = info.This().As<Napi::Object>();
  self.Set("backend", model_->backend());
  self.Set("columns", static_cast<double>(model_->columns()));
  self.Set("normalization", std::string(name_of(model_->normalizer().normalization())));
  self.Set("threshold", model_->normalizer().threshold());
  bytes_ = static_cast<int64_t>(made.bytes);
  Napi::MemoryManagement::AdjustExternalMemory(env, bytes_);
  watch(env, this);
  watched_ = true;
}

AnomalyModelObject::~AnomalyModelObject() {
  if (watched_) unwatch(Env(), this);
  Napi::MemoryManagement::AdjustExternalMemory(Env(), -bytes_);
}

void AnomalyModelObject::end() {
  watched_ = false;
  work_->stop();
}

void AnomalyModelObject::release(const Napi::CallbackInfo& info) {
  model_.reset();
  Napi::MemoryManagement::AdjustExternalMemory(info.Env(), -bytes_);
  bytes_ = 0;
}

const std::shared_ptr<const FittedModel>& AnomalyModelObject::model() const {
  if (!model_) throw Failure("invalid", "The model was released.");
  return model_;
}

Napi::Value AnomalyModelObject::score(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value {
    return Task<Scored>::run(
        info.Env(),
        [model = model(), work = work_, rows = anomaly_rows(info[0], "rows", model()->columns())]() mutable {
          return scored(*model, rows, *work);
        },
        [](Napi::Env env, Scored& answer) -> Napi::Value {
          Napi::Object object = Napi::Object::New(env);
          object.Set("raw", to_array<Napi::Float64Array>(env, std::move(answer.raw)));
          object.Set("scores", to_array<Napi::Float64Array>(env, std::move(answer.scores)));
          return object;
        });
  });
}

Napi::Value AnomalyModelObject::score_row(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    if (model()->row_time() > kBrief)
      throw Failure("too_large",
                    "A row of this " + model()->backend() + " model takes too long for the event loop; use score().");
    std::vector<double> row = anomaly_rows(info[0], "row", model()->columns());
    if (row.size() != model()->columns()) throw Failure("invalid", "row must be one row.");
    const Scored answer = scored(*model(), row, Work(1));
    Napi::Object object = Napi::Object::New(info.Env());
    object.Set("raw", answer.raw[0]);
    object.Set("score", answer.scores[0]);
    return object;
  });
}

Napi::Value AnomalyModelObject::explain(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value {
    return Task<std::vector<double>>::run(
        info.Env(),
        [model = model(), work = work_, rows = anomaly_rows(info[0], "rows", model()->columns())]() mutable {
          anomaly::check_rows(rows, model->columns(), 0);
          return model->explain(rows, *work);
        },
        [](Napi::Env env, std::vector<double>& shares) -> Napi::Value {
          return to_array<Napi::Float64Array>(env, std::move(shares));
        });
  });
}

Napi::Value AnomalyModelObject::state(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value {
    return Task<anomaly::SavedModel>::run(
        info.Env(), [model = model()] { return model->state(); },
        [](Napi::Env env, anomaly::SavedModel& saved) -> Napi::Value { return state_object(env, saved); });
  });
}

}  // namespace quern::binding
