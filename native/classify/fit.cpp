#include "fit.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "../base/failure.hpp"
#include "validation.hpp"

namespace quern::classify {
namespace {

/// The plain head comes first.
constexpr Candidate kCandidates[] = {{false, 1}, {true, 1}};
constexpr size_t kPlain = 0;
/// Standard errors by which another candidate must win: chance does that once in forty times.
constexpr double kAdvantage = 2;

/// The plain head, unless another is right more often by more than chance explains.
size_t choice_of(const std::vector<HeldOut>& held_out, const Samples& samples) {
  size_t best = kPlain;
  double most = kAdvantage;
  for (size_t i = 0; i < held_out.size(); ++i) {
    const double advantage = advantage_of(held_out[i], held_out[kPlain], samples);
    if (advantage < most) continue;
    most = advantage;
    best = i;
  }
  return best;
}

void require_learnable(const Samples& samples) {
  if (samples.size() < 2)
    throw Failure("bad_request",
                  "A classifier is fitted on at least 2 samples; " + std::to_string(samples.size()) + " came.");
  if (samples.size() * samples.classes > kMostCells)
    throw Failure("too_large", std::to_string(samples.size()) + " samples of " + std::to_string(samples.classes) +
                                   " classes are too many together: their product is at most " +
                                   std::to_string(kMostCells) + ".");
  if (std::all_of(samples.labels.begin(), samples.labels.end(),
                  [&](uint32_t label) { return label == samples.labels[0]; }))
    throw Failure("bad_request", "All samples have one label; a classifier needs two.");
}

}  // namespace

Fitted fit(const Samples& samples, const PairOptions& options, const Work& work) {
  require_learnable(samples);
  const std::vector<HeldOut> held_out = hold_out(samples, kCandidates, options, work);
  size_t choice = kPlain;
  float temperature = 1;
  std::optional<Quality> quality;
  if (held_out[kPlain].folds > 0) {
    choice = choice_of(held_out, samples);
    const Score score = score_of(held_out[choice], samples);
    temperature = score.temperature;
    quality = Quality{held_out[choice].folds, score.accuracy, score_of(held_out[kPlain], samples).accuracy,
                      label_qualities(held_out[choice], samples)};
  }
  const Candidate& chosen = kCandidates[choice];
  Projection projection = chosen.projected ? Projection::train(samples, options, work) : Projection();
  Linear head = fit_logistic(chosen.projected ? projection.applied(samples) : samples, chosen.strength, work);
  return {Model(samples.dimensions, std::move(projection), std::move(head), temperature), std::move(quality)};
}

}  // namespace quern::classify
