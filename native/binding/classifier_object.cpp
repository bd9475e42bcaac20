#include "classifier_object.hpp"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "objects.hpp"
#include "saving.hpp"
#include "task.hpp"
#include "thread_task.hpp"

namespace quern::binding {
namespace {

using classify::Fitted;
using classify::Model;

constexpr const char* kFitClass = "ClassifierFit";
constexpr const char* kModelClass = "Classifier";
constexpr size_t kMostIterations = 1000;
constexpr size_t kMostBatch = 4096;
constexpr size_t kMostThreads = 64;

Napi::Value quality_object(Napi::Env env, const classify::Quality& quality) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("folds", quality.folds);
  object.Set("accuracy", quality.accuracy);
  object.Set("plainAccuracy", quality.plain_accuracy);
  Napi::Array labels = Napi::Array::New(env, quality.labels.size());
  for (uint32_t at = 0; at < quality.labels.size(); ++at) {
    const classify::LabelQuality& label = quality.labels[at];
    Napi::Object one = Napi::Object::New(env);
    one.Set("precision", label.precision);
    one.Set("recall", label.recall);
    one.Set("f1", label.f1);
    one.Set("support", label.support);
    Napi::Array given = Napi::Array::New(env);
    for (const auto& [other, samples] : label.given) {
      Napi::Array pair = Napi::Array::New(env, 2);
      pair.Set(0u, other);
      pair.Set(1u, samples);
      given.Set(given.Length(), pair);
    }
    one.Set("given", given);
    labels.Set(at, one);
  }
  object.Set("labels", labels);
  return object;
}

Napi::Value fitted_object(Napi::Env env, Fitted& fitted) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("quality", fitted.quality ? quality_object(env, *fitted.quality) : env.Null());
  object.Set("model", ClassifierObject::wrap(env, std::make_shared<const Model>(std::move(fitted.model))));
  return object;
}

Napi::Value load_classifier(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value {
    return Task<ClassifierObject::Shared>::run(
        info.Env(),
        [from = path(info[0], "path"), generation = unsigned_64(info[1], "generation")] {
          return std::make_shared<const Model>(Model::load(from, generation));
        },
        [](Napi::Env env, ClassifierObject::Shared& model) { return ClassifierObject::wrap(env, model); });
  });
}

}  // namespace

void ClassifierFitObject::define(Napi::Env env, Napi::Object exports) {
  using Self = ClassifierFitObject;
  define_class<Self>(
      env, kFitClass,
      {InstanceMethod<&Self::add>("add"), InstanceMethod<&Self::run>("run"), InstanceMethod<&Self::cancel>("cancel")});
  ClassifierObject::define(env);
  define_opener(env, exports, "openClassifierFit", kFitClass);
  exports.Set("loadClassifier", Napi::Function::New(env, load_classifier, "loadClassifier"));
}

ClassifierFitObject::ClassifierFitObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  raising(info.Env(), [&] {
    const Napi::Object from = object(info[0], "options");
    auto samples = std::make_shared<classify::Samples>();
    samples->dimensions = whole(from.Get("dimensions"), "dimensions", 1, classify::kMostDimensions);
    samples->classes = whole(from.Get("classes"), "classes", 1, classify::kMostClasses);
    // Growing would copy all rows again and again, on the JavaScript thread.
    samples->vectors.reserve(whole_or(from, "rows", 1, classify::kMostSamples, 1) * samples->dimensions);
    options_.iterations = static_cast<uint32_t>(whole_or(from, "iterations", 1, kMostIterations, options_.iterations));
    options_.batch_size = static_cast<uint32_t>(whole_or(from, "batchSize", 1, kMostBatch, options_.batch_size));
    options_.seed = whole_or(from, "seed", 0, UINT32_MAX, options_.seed);
    work_ = std::make_shared<Work>(whole_or(from, "threads", 1, kMostThreads, 1));
    samples_ = std::move(samples);
  });
}

Napi::Value ClassifierFitObject::add(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    if (!samples_) throw Failure("unavailable", "This fit runs already; nothing can be added to it.");
    const std::vector<float> vectors = float32_array(info[0], "vectors", kMostNumbers);
    classify::append(*samples_, vectors, uint32_array(info[1], "labels"));
    return info.Env().Undefined();
  });
}

Napi::Value ClassifierFitObject::run(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value {
    if (!samples_) throw Failure("unavailable", "This fit was run already.");
    return ThreadTask<Fitted>::run(
        info.Env(), "quern classifier fit",
        [samples = std::exchange(samples_, nullptr), work = work_, options = options_] {
          return classify::fit(*samples, options, *work);
        },
        [work = work_] { work->stop(); }, fitted_object);
  });
}

Napi::Value ClassifierFitObject::cancel(const Napi::CallbackInfo& info) {
  work_->stop();
  return info.Env().Undefined();
}

void ClassifierObject::define(Napi::Env env) {
  using Self = ClassifierObject;
  define_class<Self>(env, kModelClass,
                     {InstanceMethod<&Self::predict>("predict"), InstanceMethod<&Self::save>("save")});
}

Napi::Value ClassifierObject::wrap(Napi::Env env, Shared model) {
  const auto held = Napi::External<Shared>::New(env, &model);
  return make_object(env, kModelClass, {held});
}

ClassifierObject::ClassifierObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  if (!info[0].IsExternal()) throw to_error(info.Env(), "internal", "A classifier is made by a fit or a load only.");
  model_ = *info[0].As<Napi::External<Shared>>().Data();
  Napi::Object self = info.This().As<Napi::Object>();
  self.Set("dimensions", static_cast<double>(model_->dimensions()));
  self.Set("classes", static_cast<double>(model_->classes()));
  self.Set("projected", model_->projected());
}

Napi::Value ClassifierObject::predict(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value {
    return Task<std::vector<float>>::run(
        info.Env(),
        [model = model_, vectors = float32_array(info[0], "vectors", kMostNumbers)] {
          std::vector<float> probabilities(vectors.size() / model->dimensions() * model->classes());
          model->predict(vectors, probabilities);
          return probabilities;
        },
        [](Napi::Env env, std::vector<float>& probabilities) -> Napi::Value {
          auto array = Napi::Float32Array::New(env, probabilities.size());
          if (!probabilities.empty())
            std::memcpy(array.Data(), probabilities.data(), probabilities.size() * sizeof(float));
          return array;
        });
  });
}

Napi::Value ClassifierObject::save(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value { return save_to_file(info, model_); });
}

}  // namespace quern::binding
