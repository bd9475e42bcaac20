#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fit.hpp"

namespace quern::classify {

/// A way to fit the head.
struct Candidate {
  bool projected;
  double strength;  ///< of fit_logistic()
};

/// Logits of held-out samples, and whose they are; a sample comes once per repetition.
struct HeldOut {
  std::vector<uint32_t> samples;
  std::vector<float> logits;
  uint32_t folds = 0;
};

/// Every candidate on every fold, the folds beside each other.
std::vector<HeldOut> hold_out(const Samples& samples, std::span<const Candidate> candidates, const PairOptions& options,
                              const Work& work);

/// How well a candidate does on held-out samples.
struct Score {
  double accuracy;
  float temperature;  ///< at which the held-out labels are most likely
};

/// Looks at the logits of one candidate.
Score score_of(const HeldOut& held_out, const Samples& samples);

/// By how many standard errors `other` is right more often than `plain`, on the same held-out samples (McNemar).
double advantage_of(const HeldOut& other, const HeldOut& plain, const Samples& samples);

/// Precision, recall and F1 of each label.
std::vector<LabelQuality> label_qualities(const HeldOut& held_out, const Samples& samples);

}  // namespace quern::classify
