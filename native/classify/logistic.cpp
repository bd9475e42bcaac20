#include "logistic.hpp"

#include <algorithm>
#include <cmath>

#include "../kernels/distance.hpp"
#include "../kernels/linear.hpp"
#include "lbfgs.hpp"

namespace quern::classify {
namespace {

/// Products of one evaluation from which on several threads share it, and how many parts they get: both independent of
/// their number, so that sums always fall in one order.
constexpr size_t kSharedProducts = size_t{1} << 23;
constexpr size_t kParts = 8;
/// Rows between two looks at whether to go on.
constexpr size_t kStride = 64;

/// The loss of some rows, and its gradient by weights and biases.
struct Part {
  double loss = 0;
  std::vector<float> weights;
  std::vector<double> bias;
};

/// Turns logits into the gradient of the loss by them; gives the loss.
double residuals(std::span<float> logits, uint32_t label) {
  const float most = *std::max_element(logits.begin(), logits.end());
  const double own = logits[label] - most;
  double sum = 0;
  for (float& logit : logits) {
    logit = std::exp(logit - most);
    sum += logit;
  }
  for (float& logit : logits) logit = static_cast<float>(logit / sum);
  logits[label] -= 1;
  return std::log(sum) - own;
}

class Loss {
 public:
  Loss(const Samples& samples, double strength, const Work& work)
      : samples_(samples),
        work_(work),
        penalty_(1 / (strength * static_cast<double>(samples.size()))),
        parts_(samples.vectors.size() * samples.classes < kSharedProducts ? 1 : std::min(kParts, samples.size())) {
    for (Part& part : parts_) {
      part.weights.resize(samples.classes * samples.dimensions);
      part.bias.resize(samples.classes);
    }
    linear_.weights.resize(samples.classes * samples.dimensions);
    linear_.bias.resize(samples.classes);
  }

  /// The mean loss with the penalty; weights come first, then biases.
  double operator()(const std::vector<double>& at, std::vector<double>& gradient) {
    const size_t weights = linear_.weights.size();
    for (size_t i = 0; i < weights; ++i) linear_.weights[i] = static_cast<float>(at[i]);
    for (size_t k = 0; k < linear_.bias.size(); ++k) linear_.bias[k] = static_cast<float>(at[weights + k]);
    const size_t each = (samples_.size() + parts_.size() - 1) / parts_.size();
    work_.parallel(samples_.size(), each,
                   [&](size_t first, size_t last) { look_at(first, last, parts_[first / each]); });
    const double share = 1 / static_cast<double>(samples_.size());
    double loss = 0;
    std::fill(gradient.begin(), gradient.end(), 0);
    for (const Part& part : parts_) {
      loss += part.loss;
      for (size_t i = 0; i < weights; ++i) gradient[i] += part.weights[i];
      for (size_t k = 0; k < part.bias.size(); ++k) gradient[weights + k] += part.bias[k];
    }
    double squares = 0;
    for (size_t i = 0; i < weights; ++i) {
      squares += at[i] * at[i];
      gradient[i] = gradient[i] * share + penalty_ * at[i];
    }
    for (size_t i = weights; i < gradient.size(); ++i) gradient[i] *= share;
    return loss * share + penalty_ * squares / 2;
  }

 private:
  void look_at(size_t first, size_t last, Part& part) const {
    const LinearKernels& kernels = linear_kernels();
    const size_t dimensions = samples_.dimensions;
    part.loss = 0;
    std::fill(part.weights.begin(), part.weights.end(), 0.0F);
    std::fill(part.bias.begin(), part.bias.end(), 0.0);
    std::vector<float> logits(samples_.classes);
    for (size_t at = first; at < last; ++at) {
      if ((at - first) % kStride == 0) work_.check();
      const float* row = samples_.row(at);
      linear_.logits(row, dimensions, logits);
      part.loss += residuals(logits, samples_.labels[at]);
      for (size_t k = 0; k < logits.size(); ++k) {
        kernels.add_scaled(logits[k], row, part.weights.data() + k * dimensions, dimensions);
        part.bias[k] += logits[k];
      }
    }
  }

  const Samples& samples_;
  const Work& work_;
  const double penalty_;
  std::vector<Part> parts_;
  Linear linear_;
};

}  // namespace

void Linear::logits(const float* row, size_t dimensions, std::span<float> into) const {
  const DistanceKernels& kernels = distance_kernels();
  for (size_t k = 0; k < into.size(); ++k)
    into[k] = kernels.dot(weights.data() + k * dimensions, row, dimensions) + bias[k];
}

Linear fit_logistic(const Samples& samples, double strength, const Work& work, const Linear& from) {
  const size_t weights = samples.classes * samples.dimensions;
  std::vector<double> at(weights + samples.classes, 0.0);
  if (from.weights.size() == weights) {
    std::copy(from.weights.begin(), from.weights.end(), at.begin());
    std::copy(from.bias.begin(), from.bias.end(), at.begin() + static_cast<std::ptrdiff_t>(weights));
  }
  Loss loss(samples, strength, work);
  minimise([&](const std::vector<double>& point, std::vector<double>& gradient) { return loss(point, gradient); }, at,
           {});
  const auto middle = at.begin() + static_cast<std::ptrdiff_t>(weights);
  return {{at.begin(), middle}, {middle, at.end()}};
}

}  // namespace quern::classify
