#include "projection.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../base/random.hpp"
#include "../kernels/distance.hpp"
#include "../kernels/linear.hpp"
#include "pairs.hpp"
#include "subspace.hpp"

namespace quern::classify {
namespace {

/// Most pairs of one training: beyond them the map no longer moves.
constexpr size_t kMostPairs = 40'000;
constexpr double kRate = 0.01;
/// Share of the steps in which the rate grows from 0; in the others it falls back to 0.
constexpr double kWarmUp = 0.1;
/// Pull towards the identity per step, times the rate.
constexpr double kDecay = 0.1;
constexpr double kMomentum = 0.9;
constexpr double kSquares = 0.999;
constexpr double kTiny = 1e-8;
/// Pairs between two looks at whether to go on.
constexpr size_t kStride = 512;

/// The samples in the subspace, and their length outside of it.
class Inside {
 public:
  Inside(const Samples& samples, const std::vector<float>& basis, size_t rank) : rank_(rank) {
    const auto& dot = distance_kernels().dot;
    rows_.resize(samples.size() * rank);
    rests_.resize(samples.size());
    for (size_t at = 0; at < samples.size(); ++at) {
      float* row = rows_.data() + at * rank;
      for (size_t i = 0; i < rank; ++i)
        row[i] = dot(basis.data() + i * samples.dimensions, samples.row(at), samples.dimensions);
      rests_[at] = std::max(0.0F, 1 - dot(row, row, rank));
    }
  }

  const float* row(size_t at) const { return rows_.data() + at * rank_; }
  float rest(size_t at) const { return rests_[at]; }

 private:
  size_t rank_;
  std::vector<float> rows_;
  std::vector<float> rests_;
};

/// AdamW on the map, with linear warm-up and decline.
class Steps {
 public:
  Steps(size_t rank, size_t count) : rank_(rank), count_(count), mean_(rank * rank), square_(rank * rank) {}

  void take(std::vector<float>& map, const std::vector<float>& gradient, double share) {
    ++taken_;
    const double warm = std::max(1.0, kWarmUp * static_cast<double>(count_));
    const auto now = static_cast<double>(taken_);
    const double rate =
        kRate * (now < warm ? now / warm
                            : (static_cast<double>(count_) - now) / std::max(1.0, static_cast<double>(count_) - warm));
    const double mean_bias = 1 - std::pow(kMomentum, now), square_bias = 1 - std::pow(kSquares, now);
    const auto decay = static_cast<float>(rate * kDecay);
    const auto step = static_cast<float>(rate / mean_bias);
    const auto scale = static_cast<float>(1 / square_bias);
    for (size_t i = 0; i < map.size(); ++i) {
      const auto g = static_cast<float>(gradient[i] * share);
      mean_[i] += static_cast<float>(1 - kMomentum) * (g - mean_[i]);
      square_[i] += static_cast<float>(1 - kSquares) * (g * g - square_[i]);
      const float identity = i % (rank_ + 1) == 0 ? 1.0F : 0.0F;
      map[i] -=
          decay * (map[i] - identity) + step * mean_[i] / (std::sqrt(square_[i] * scale) + static_cast<float>(kTiny));
    }
  }

 private:
  const size_t rank_, count_;
  size_t taken_ = 0;
  std::vector<float> mean_, square_;
};

/// Loss and gradient of single pairs.
class PairLoss {
 public:
  PairLoss(const Samples& samples, const Inside& inside, size_t rank)
      : samples_(samples), inside_(inside), rank_(rank), one_(rank), two_(rank) {}

  /// Adds the gradient of (cosine - wanted)^2 by the map.
  void add(const std::vector<float>& map, const Pair& pair, std::vector<float>& gradient) {
    const auto& dot = distance_kernels().dot;
    const auto& add_scaled = linear_kernels().add_scaled;
    const float *a = inside_.row(pair.first), *b = inside_.row(pair.second);
    for (size_t i = 0; i < rank_; ++i) {
      one_[i] = dot(map.data() + i * rank_, a, rank_);
      two_[i] = dot(map.data() + i * rank_, b, rank_);
    }
    const float outside =
        dot(samples_.row(pair.first), samples_.row(pair.second), samples_.dimensions) - dot(a, b, rank_);
    const float first = std::max(1e-6F, dot(one_.data(), one_.data(), rank_) + inside_.rest(pair.first));
    const float second = std::max(1e-6F, dot(two_.data(), two_.data(), rank_) + inside_.rest(pair.second));
    const float lengths = std::sqrt(first * second);
    const float cosine = (dot(one_.data(), two_.data(), rank_) + outside) / lengths;
    const float slope = 2 * (cosine - (pair.same ? 1.0F : 0.0F));
    for (size_t i = 0; i < rank_; ++i) {
      float* row = gradient.data() + i * rank_;
      add_scaled(slope * (two_[i] / lengths - cosine * one_[i] / first), a, row, rank_);
      add_scaled(slope * (one_[i] / lengths - cosine * two_[i] / second), b, row, rank_);
    }
  }

 private:
  const Samples& samples_;
  const Inside& inside_;
  const size_t rank_;
  std::vector<float> one_, two_;
};

std::vector<float> identity(size_t rank) {
  std::vector<float> map(rank * rank);
  for (size_t i = 0; i < rank; ++i) map[i * rank + i] = 1;
  return map;
}

}  // namespace

Projection::Projection(size_t dimensions, std::vector<float> basis, std::vector<float> map)
    : dimensions_(dimensions), rank_(basis.size() / dimensions), basis_(std::move(basis)), map_(std::move(map)) {}

Projection Projection::train(const Samples& samples, const PairOptions& options, const Work& work) {
  SplitMix random(options.seed);
  std::vector<float> basis = leading_subspace(samples, kMostRank, random);
  const size_t rank = basis.size() / samples.dimensions;
  std::vector<float> map = identity(rank);
  const size_t per_round = 2 * samples.size();
  const auto rounds = static_cast<uint32_t>(std::clamp<size_t>(kMostPairs / per_round, 1, options.iterations));
  std::vector<Pair> pairs = sample_pairs(samples.labels, samples.classes, rounds, random);
  if (pairs.size() > kMostPairs) pairs.resize(kMostPairs);
  const Inside inside(samples, basis, rank);
  PairLoss loss(samples, inside, rank);
  const size_t batch = options.batch_size;
  Steps steps(rank, (pairs.size() + batch - 1) / batch);
  std::vector<float> gradient(rank * rank);
  for (size_t at = 0; at < pairs.size(); ++at) {
    if (at % kStride == 0) work.check();
    if (at % batch == 0) std::fill(gradient.begin(), gradient.end(), 0.0F);
    loss.add(map, pairs[at], gradient);
    const size_t filled = at % batch + 1;
    if (filled == batch || at + 1 == pairs.size()) steps.take(map, gradient, 1 / static_cast<double>(filled));
  }
  return {samples.dimensions, std::move(basis), std::move(map)};
}

void Projection::apply(float* row) const {
  if (rank_ == 0) return;
  const auto& dot = distance_kernels().dot;
  const auto& add_scaled = linear_kernels().add_scaled;
  std::vector<float> inside(rank_);
  for (size_t i = 0; i < rank_; ++i) inside[i] = dot(basis_.data() + i * dimensions_, row, dimensions_);
  for (size_t i = 0; i < rank_; ++i) {
    const float change = dot(map_.data() + i * rank_, inside.data(), rank_) - inside[i];
    add_scaled(change, basis_.data() + i * dimensions_, row, dimensions_);
  }
  normalise(row, dimensions_);
}

Samples Projection::applied(Samples samples) const {
  for (size_t at = 0; at < samples.size(); ++at) apply(samples.vectors.data() + at * samples.dimensions);
  return samples;
}

}  // namespace quern::classify
