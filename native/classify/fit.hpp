#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model.hpp"
#include "samples.hpp"

namespace quern::classify {

/// What cross-validation says of a label: shares from 0 to 1.
struct LabelQuality {
  double precision = 0;
  double recall = 0;
  double f1 = 0;
  uint32_t support = 0;  ///< samples of the label
  /// How many of its samples were given which label while they were held out, for each that any was given; averaged
  /// where they were held out several times.
  std::map<uint32_t, double> given;
};

/// What cross-validation says of a classifier.
struct Quality {
  uint32_t folds = 0;
  double accuracy = 0;        ///< of the head that was chosen
  double plain_accuracy = 0;  ///< of the head without a projection
  std::vector<LabelQuality> labels;
};

/// A fitted classifier.
struct Fitted {
  Model model;
  std::optional<Quality> quality;  ///< none where no label has two samples
};

/**
 * Fits a logistic head on the samples, and another behind a projection that is trained on pairs of them; keeps the
 * projection where cross-validation finds it right more often than chance explains. The temperature makes the held-out
 * logits likely. Deterministic by the seed, whatever the number of threads. Throws Failure('bad_request') for fewer
 * than 2 samples or classes that have any, ('too_large') beyond kMostCells, ('unavailable') when stopped.
 */
Fitted fit(const Samples& samples, const PairOptions& options, const Work& work);

}  // namespace quern::classify
