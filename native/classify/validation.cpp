#include "validation.hpp"

#include <algorithm>
#include <cmath>

#include "../base/random.hpp"
#include "folds.hpp"

namespace quern::classify {
namespace {

/// So many samples are split in several ways, because one split of few says little.
constexpr size_t kFewSamples = 400;
constexpr uint32_t kRepetitions = 3;
/// Bounds of the temperature, and the steps that find it: the interval shrinks by 0.618 each.
constexpr double kColdest = 0.02, kHottest = 10;
constexpr int kGoldenSteps = 40;
constexpr double kGolden = 0.6180339887498949;

std::span<const float> row_of(const HeldOut& held_out, size_t at, size_t classes) {
  return std::span(held_out.logits).subspan(at * classes, classes);
}

size_t best_of(std::span<const float> logits) {
  return static_cast<size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

bool is_right(const HeldOut& held_out, size_t at, const Samples& samples) {
  return best_of(row_of(held_out, at, samples.classes)) == samples.labels[held_out.samples[at]];
}

double loss_at(const HeldOut& held_out, const Samples& samples, double temperature) {
  double loss = 0;
  for (size_t at = 0; at < held_out.samples.size(); ++at) {
    const auto logits = row_of(held_out, at, samples.classes);
    const float most = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float logit : logits) sum += std::exp((logit - most) / temperature);
    loss += std::log(sum) - (logits[samples.labels[held_out.samples[at]]] - most) / temperature;
  }
  return loss / static_cast<double>(held_out.samples.size());
}

/// Golden section over the logarithm: the loss has one minimum there.
double best_temperature(const HeldOut& held_out, const Samples& samples) {
  double low = std::log(kColdest), high = std::log(kHottest);
  double left = high - kGolden * (high - low), right = low + kGolden * (high - low);
  double at_left = loss_at(held_out, samples, std::exp(left)), at_right = loss_at(held_out, samples, std::exp(right));
  for (int step = 0; step < kGoldenSteps; ++step) {
    if (at_left <= at_right) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - kGolden * (high - low);
      at_left = loss_at(held_out, samples, std::exp(left));
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + kGolden * (high - low);
      at_right = loss_at(held_out, samples, std::exp(right));
    }
  }
  return std::exp((low + high) / 2);
}

/// Logits of the tests of one fold, per candidate.
std::vector<std::vector<float>> fold_logits(const Samples& samples, const Fold& fold,
                                            std::span<const Candidate> candidates, const PairOptions& options,
                                            const Work& work) {
  const Samples train = samples.pick(fold.train), test = samples.pick(fold.test);
  const Projection projection = Projection::train(train, options, work);
  const Samples projected_train = projection.applied(train), projected_test = projection.applied(test);
  std::vector<std::vector<float>> all;
  Linear head;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& one = candidates[i];
    const bool continues = i > 0 && candidates[i - 1].projected == one.projected;
    head = fit_logistic(one.projected ? projected_train : train, one.strength, work, continues ? head : Linear{});
    const Samples& shown = one.projected ? projected_test : test;
    std::vector<float>& logits = all.emplace_back(test.size() * samples.classes);
    for (size_t at = 0; at < test.size(); ++at)
      head.logits(shown.row(at), samples.dimensions, std::span(logits).subspan(at * samples.classes, samples.classes));
  }
  return all;
}

}  // namespace

std::vector<HeldOut> hold_out(const Samples& samples, std::span<const Candidate> candidates, const PairOptions& options,
                              const Work& work) {
  std::vector<Fold> folds;
  uint32_t count = 0;
  for (uint32_t repetition = 0; repetition < (samples.size() <= kFewSamples ? kRepetitions : 1); ++repetition) {
    SplitMix random(options.seed + repetition);
    const std::vector<Fold> some = stratified_folds(samples.labels, samples.classes, random);
    count = static_cast<uint32_t>(some.size());
    folds.insert(folds.end(), some.begin(), some.end());
  }
  std::vector<std::vector<std::vector<float>>> logits(folds.size());
  work.parallel(folds.size(), 1, [&](size_t first, size_t last) {
    for (size_t at = first; at < last; ++at) logits[at] = fold_logits(samples, folds[at], candidates, options, work);
  });
  std::vector<HeldOut> all(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    all[i].folds = count;
    for (size_t at = 0; at < folds.size(); ++at) {
      all[i].samples.insert(all[i].samples.end(), folds[at].test.begin(), folds[at].test.end());
      all[i].logits.insert(all[i].logits.end(), logits[at][i].begin(), logits[at][i].end());
    }
  }
  return all;
}

Score score_of(const HeldOut& held_out, const Samples& samples) {
  size_t right = 0;
  for (size_t at = 0; at < held_out.samples.size(); ++at) right += is_right(held_out, at, samples);
  return {static_cast<double>(right) / static_cast<double>(held_out.samples.size()),
          static_cast<float>(best_temperature(held_out, samples))};
}

double advantage_of(const HeldOut& other, const HeldOut& plain, const Samples& samples) {
  double won = 0, lost = 0;
  for (size_t at = 0; at < other.samples.size(); ++at) {
    const bool one = is_right(other, at, samples), two = is_right(plain, at, samples);
    won += one && !two;
    lost += two && !one;
  }
  // A sample that was held out several times is one observation.
  const double times = static_cast<double>(other.samples.size()) / static_cast<double>(samples.size());
  return won + lost == 0 ? 0 : (won - lost) / std::sqrt((won + lost) * std::max(1.0, times));
}

std::vector<LabelQuality> label_qualities(const HeldOut& held_out, const Samples& samples) {
  const size_t classes = samples.classes;
  std::vector<double> right(classes), said(classes), held(classes);
  std::vector<LabelQuality> all(classes);
  const double share = static_cast<double>(samples.size()) / static_cast<double>(held_out.samples.size());
  for (size_t at = 0; at < held_out.samples.size(); ++at) {
    const size_t best = best_of(row_of(held_out, at, classes)), own = samples.labels[held_out.samples[at]];
    said[best] += 1;
    held[own] += 1;
    right[own] += best == own;
    all[own].given[static_cast<uint32_t>(best)] += share;
  }
  for (const uint32_t label : samples.labels) ++all[label].support;
  for (size_t k = 0; k < classes; ++k) {
    all[k].precision = said[k] > 0 ? right[k] / said[k] : 0;
    all[k].recall = held[k] > 0 ? right[k] / held[k] : 0;
    const double sum = all[k].precision + all[k].recall;
    all[k].f1 = sum > 0 ? 2 * all[k].precision * all[k].recall / sum : 0;
  }
  return all;
}

}  // namespace quern::classify
