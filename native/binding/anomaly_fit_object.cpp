#include "anomaly_fit_object.hpp"

#include <optional>
#include <utility>

#include "../anomaly/limits.hpp"
#include "anomaly_model_object.hpp"
#include "arguments.hpp"
#include "arrays.hpp"
#include "objects.hpp"
#include "thread_task.hpp"

namespace quern::binding {
namespace {

using anomaly::FittedModel;
using anomaly::ModelOptions;

struct Fitted {
  std::shared_ptr<const FittedModel> model;
  size_t numbers = 0;
  std::vector<double> raw;                     ///< of the rows, as the model scores them; empty unless wanted
  std::optional<anomaly::SavedModel> state{};  ///< unless it is not wanted
};
using Pieces = std::vector<std::vector<double>>;

constexpr const char* kClass = "AnomalyFit";

ModelOptions model_options(const Napi::Object& from) {
  ModelOptions options{.backend = text(from.Get("backend"), "backend"),
                       .columns = whole(from.Get("columns"), "columns", 1, anomaly::kMostColumns),
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

std::vector<double> joined(Pieces pieces, size_t numbers, const Work& work) {
  std::vector<double> values;
  values.reserve(numbers);
  for (std::vector<double>& piece : pieces) {
    work.check();
    values.insert(values.end(), piece.begin(), piece.end());
    piece = {};
  }
  return values;
}

/// Rows as `made` makes them, once they are known to be what a fit takes. Then nothing of their source is kept.
std::vector<double> checked(AnomalyFitObject::Rows made, size_t columns, const Work& work) {
  std::vector<double> values = made(work);
  anomaly::check_rows(values, columns, 0);
  return values;
}

Fitted fit(const ModelOptions& options, std::vector<double> values, bool scored, const Work& work) {
  const size_t numbers = values.size();
  if (!scored) return {FittedModel::fit(options, std::move(values), work), numbers, {}};
  Fitted fitted{FittedModel::fit(options, values, work), numbers, std::vector<double>(numbers / options.columns)};
  fitted.model->score(values, fitted.raw, work);
  return fitted;
}

}  // namespace

void AnomalyFitObject::define(Napi::Env env, Napi::Object exports) {
  using Self = AnomalyFitObject;
  define_class<Self>(
      env, kClass,
      {InstanceMethod<&Self::add>("add"), InstanceMethod<&Self::run>("run"), InstanceMethod<&Self::cancel>("cancel")});
  define_opener(env, exports, "openAnomalyFit", kClass);
}

AnomalyFitObject::AnomalyFitObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  raising(info.Env(), [&] {
    const Napi::Object from = object(info[0], "options");
    options_ = model_options(from);
    background_ = boolean_or(from, "background", false);
    scored_ = boolean_or(from, "scored", false);
    saved_ = boolean_or(from, "saved", false);
    work_ = std::make_shared<Work>(anomaly_threads(from.Get("threads")));
  });
}

Napi::Value AnomalyFitObject::of_rows(const Napi::Value& options, size_t columns, Rows rows) {
  const Napi::Object object = make_object(options.Env(), kClass, {options});
  AnomalyFitObject& fit = *Unwrap(object);
  if (fit.options_.columns != columns)
    throw Failure("invalid", "columns is " + std::to_string(fit.options_.columns) + "; the rows of the table have " +
                                 std::to_string(columns) + " numbers.");
  fit.rows_ = std::move(rows);
  return object;
}

void AnomalyFitObject::require_fresh() const {
  if (is_run_) throw Failure("invalid", "run() was called already; open another fit.");
}

void AnomalyFitObject::add(const Napi::CallbackInfo& info) {
  raising(info.Env(), [&] {
    require_fresh();
    if (rows_) throw Failure("invalid", "This fit has the rows of a table.");
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
  return promising(info.Env(), [&]() -> Napi::Value {
    require_fresh();
    is_run_ = true;
    return ThreadTask<Fitted>::run(
        info.Env(), "quern fit",
        [made = std::move(rows_), pieces = std::move(pieces_), numbers = numbers_, work = work_, options = options_,
         scored = scored_, saved = saved_]() mutable {
          std::vector<double> values = made ? checked(std::exchange(made, nullptr), options.columns, *work)
                                            : joined(std::move(pieces), numbers, *work);
          Fitted fitted = fit(options, std::move(values), scored, *work);
          if (saved) fitted.state = fitted.model->state();
          return fitted;
        },
        [work = work_] { work->stop(); },
        [work = work_](Napi::Env env, Fitted& fitted) -> Napi::Value {
          Napi::Object answer = Napi::Object::New(env);
          const size_t bytes = fitted.numbers * sizeof(double);
          answer.Set("model", AnomalyModelObject::make(env, std::move(fitted.model), work->threads(), bytes));
          answer.Set("raw", to_array<Napi::Float64Array>(env, std::move(fitted.raw)));
          if (fitted.state) answer.Set("state", state_object(env, *fitted.state));
          return answer;
        },
        background_);
  });
}

void AnomalyFitObject::cancel(const Napi::CallbackInfo&) {
  work_->stop();
}

}  // namespace quern::binding
