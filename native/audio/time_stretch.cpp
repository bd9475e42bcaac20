#include "time_stretch.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "../base/failure.hpp"
#include "../kernels/distance.hpp"
#include "resampler.hpp"

namespace quern::audio {
namespace {

/// Pieces a second.
constexpr int32_t kPieces = 50;
/// Half of the stretch that is searched, as a part of a second: a whole period of a deep voice lies in it.
constexpr int32_t kSearch = 80;
/// The search looks at places so far apart first, and at all around the best of them then.
constexpr int64_t kCoarse = 4;
/// Kept from dividing by the energy of silence.
constexpr float kSilence = 1e-9F;

}  // namespace

TimeStretch::TimeStretch(int32_t rate, double speed, Isa isa) : speed_(speed), dot_(distance_kernels(isa).dot) {
  if (rate < kLeastRate || rate > kMostRate)
    throw Failure("invalid", "rate is " + std::to_string(rate) + " Hz; allowed is 4000 to 192000.");
  if (!(speed >= kLeastSpeed && speed <= kMostSpeed))
    throw Failure("invalid", "speed is " + std::to_string(speed) + "; allowed is 0.25 to 4.");
  piece_ = rate / kPieces;
  search_ = rate / kSearch;
  fade_.resize(static_cast<size_t>(piece_));
  for (size_t i = 0; i < fade_.size(); ++i) {
    const double half = std::numbers::pi / 2 * (static_cast<double>(i) + 0.5) / static_cast<double>(piece_);
    fade_[i] = static_cast<float>(std::sin(half) * std::sin(half));
  }
}

void TimeStretch::begin() {
  waiting_.clear();
  first_ = 0;
  taken_ = 0;
  pieces_ = 0;
  onward_ = 0;
}

/// The place around `wanted` whose piece is most like what would follow the last one.
int64_t TimeStretch::best_place(int64_t wanted) const {
  const auto size = static_cast<size_t>(piece_);
  const float* like = at(onward_);
  int64_t best = wanted;
  float most = -INFINITY;
  const auto look = [&](int64_t from, int64_t until, int64_t step) {
    for (int64_t place = std::max(from, first_); place <= until; place += step) {
      const float* piece = at(place);
      const float match = dot_(piece, like, size) / std::sqrt(dot_(piece, piece, size) + kSilence);
      if (match <= most) continue;
      most = match;
      best = place;
    }
  };
  look(wanted - search_, wanted + search_, kCoarse);
  const int64_t around = best;
  look(around - kCoarse + 1, std::min(around + kCoarse - 1, wanted + search_), 1);
  return best;
}

/// Makes all pieces that need no sample from `known` on, and forgets what none needs any more.
void TimeStretch::stretch(int64_t known, std::vector<float>& out) {
  for (;;) {
    const auto wanted =
        static_cast<int64_t>(std::llround(static_cast<double>(pieces_) * static_cast<double>(piece_) * speed_));
    if (std::max(wanted + search_, onward_) + piece_ > known) break;
    // No piece goes beyond the end that the input has so far.
    if (static_cast<double>((pieces_ + 1) * piece_) * speed_ > static_cast<double>(known)) break;
    const int64_t place = pieces_ == 0 ? 0 : best_place(wanted);
    const float* last = at(onward_);
    const float* next = at(place);
    for (size_t i = 0; i < fade_.size(); ++i) out.push_back(last[i] + fade_[i] * (next[i] - last[i]));
    onward_ = place + piece_;
    ++pieces_;
    const auto after =
        static_cast<int64_t>(std::llround(static_cast<double>(pieces_) * static_cast<double>(piece_) * speed_));
    const int64_t unneeded =
        std::min({after - search_, onward_, first_ + static_cast<int64_t>(waiting_.size())}) - first_;
    if (unneeded <= 0) continue;
    waiting_.erase(waiting_.begin(), waiting_.begin() + unneeded);
    first_ += unneeded;
  }
}

void TimeStretch::push(std::span<const float> samples, std::vector<float>& out) {
  if (speed_ == 1) {
    out.insert(out.end(), samples.begin(), samples.end());
    return;
  }
  waiting_.insert(waiting_.end(), samples.begin(), samples.end());
  taken_ += static_cast<int64_t>(samples.size());
  stretch(taken_, out);
}

void TimeStretch::flush(std::vector<float>& out) {
  const auto total = static_cast<int64_t>(std::llround(static_cast<double>(taken_) / speed_));
  const size_t wanted = out.size() + static_cast<size_t>(std::max<int64_t>(0, total - pieces_ * piece_));
  // So much silence that the pieces reach beyond the end.
  const auto silence = 2 * (piece_ + search_) + static_cast<int64_t>(static_cast<double>(2 * piece_) * speed_);
  waiting_.insert(waiting_.end(), static_cast<size_t>(silence), 0);
  stretch(taken_ + silence, out);
  out.resize(std::min(wanted, out.size()));
  begin();
}

}  // namespace quern::audio
