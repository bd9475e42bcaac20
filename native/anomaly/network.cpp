#include "network.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../base/random.hpp"
#include "../kernels/dense.hpp"
#include "kernels/training.hpp"

namespace quern::anomaly {
namespace {

constexpr size_t kLanes = kPanel<float>;
constexpr size_t kHidden[] = {64, 32, 64};
constexpr double kRate = 1e-3;
constexpr float kDecay = 1e-5f;
constexpr double kDropped = 0.2;
/// Of the batch's mean and variance in the running ones.
constexpr float kMomentum = 0.1f;
constexpr float kLeastVariance = 1e-5f;

/// lines * panels, for all panels of `width`.
void product(Strided<float> a, size_t rows, const float* b, size_t width, size_t depth, float* out) {
  for (size_t panel = 0; panel < width; panel += kLanes)
    dense_kernels<float>().multiply(a, rows, {b + panel, width, depth}, out + panel, width);
}

/// Numbers that Adam changes.
struct Weights {
  std::vector<float> values, gradient, means, squares;

  explicit Weights(size_t count) : values(count), gradient(count), means(count), squares(count) {}

  void step(const AdamStep& by) {
    training_kernels().adam(values.data(), gradient.data(), means.data(), squares.data(), values.size(), by);
  }
};

/// A layer in training. Without normalisation (the last one) `shift` is its bias.
class Unit {
 public:
  Unit(size_t inputs, size_t outputs, size_t batch, bool last, Random& random)
      : inputs_(inputs),
        input_width_(padded<float>(inputs)),
        outputs_(outputs),
        width_(padded<float>(outputs)),
        batch_(batch),
        last_(last),
        weights_(inputs * width_),
        bias_(width_),
        scale_(width_),
        shift_(width_),
        turned_(outputs * input_width_),
        linear_(batch * width_),
        out_(batch * width_),
        gradient_(batch * width_),
        draws_(batch * width_),
        mean_(width_),
        inverse_(width_),
        running_mean_(width_),
        running_variance_(width_, 1) {
    // He et al. 2015; the last layer and the biases a sixth of that variance.
    const double bias_bound = 1 / std::sqrt(static_cast<double>(inputs));
    const double bound = last ? bias_bound : std::sqrt(6.0) * bias_bound;
    for (size_t i = 0; i < inputs; ++i)
      for (size_t k = 0; k < outputs; ++k)
        weights_.values[i * width_ + k] = static_cast<float>(bound * (2 * random.uniform() - 1));
    for (size_t k = 0; k < outputs; ++k) {
      bias_.values[k] = static_cast<float>(bias_bound * (2 * random.uniform() - 1));
      scale_.values[k] = 1;
    }
    turn();
  }

  const float* forward(const float* in, Random& random) {
    in_ = in;
    product({in, input_width_, 1}, batch_, weights_.values.data(), width_, inputs_, linear_.data());
    for (size_t row = 0; row < batch_; ++row)
      for (size_t k = 0; k < width_; ++k) linear_[row * width_ + k] += bias_.values[k];
    if (last_) return linear_.data();
    draw(random);
    training_kernels().activate({linear_.data(), batch_, width_}, normalisation(), draws_.data(), limit(), kept(),
                                out_.data());
    remember();
    return out_.data();
  }

  /// The gradient by its output, to be filled before backward().
  std::vector<float>& gradient() { return gradient_; }

  /// Fills the gradient of the layer before, when there is one.
  void backward(std::vector<float>* before) {
    if (!last_)
      training_kernels().activate_back({gradient_.data(), batch_, width_}, linear_.data(), out_.data(), normalisation(),
                                       kept(), {scale_.gradient.data(), shift_.gradient.data()});
    training_kernels().column_sums({gradient_.data(), batch_, width_}, bias_.gradient.data());
    product({in_, 1, input_width_}, inputs_, gradient_.data(), width_, batch_, weights_.gradient.data());
    if (before != nullptr)
      product({gradient_.data(), width_, 1}, batch_, turned_.data(), input_width_, outputs_, before->data());
  }

  void step(const AdamStep& by) {
    for (Weights* one : {&weights_, &bias_, &scale_, &shift_}) one->step(by);
    turn();
  }

  /// With the running mean and variance in place of a batch's.
  Layer fitted() const {
    Layer layer{inputs_, outputs_, weights_.values, std::vector<float>(width_, 1), bias_.values};
    if (last_) return layer;
    for (size_t k = 0; k < outputs_; ++k) {
      layer.scale[k] = scale_.values[k] / std::sqrt(running_variance_[k] + kLeastVariance);
      layer.shift[k] = (bias_.values[k] - running_mean_[k]) * layer.scale[k] + shift_.values[k];
    }
    return layer;
  }

 private:
  static constexpr uint16_t limit() { return static_cast<uint16_t>(kDropped * 65536); }
  static constexpr float kept() { return static_cast<float>(1 / (1 - kDropped)); }
  Normalisation normalisation() { return {scale_.values.data(), shift_.values.data(), mean_.data(), inverse_.data()}; }

  void draw(Random& random) {
    for (size_t i = 0; i < draws_.size(); i += 4) {
      const uint64_t bits = random.bits();
      for (size_t k = 0; k < 4; ++k) draws_[i + k] = static_cast<uint16_t>(bits >> (16 * k));
    }
  }

  void remember() {
    const float bessel = static_cast<float>(batch_) / static_cast<float>(batch_ - 1);
    for (size_t k = 0; k < width_; ++k) {
      const float variance = (1 / (inverse_[k] * inverse_[k]) - kLeastVariance) * bessel;
      running_mean_[k] += kMomentum * (mean_[k] - running_mean_[k]);
      running_variance_[k] += kMomentum * (std::max(0.0f, variance) - running_variance_[k]);
    }
  }

  /// The weights by output, for the way back.
  void turn() {
    for (size_t i = 0; i < inputs_; ++i)
      for (size_t k = 0; k < outputs_; ++k) turned_[k * input_width_ + i] = weights_.values[i * width_ + k];
  }

  const size_t inputs_, input_width_, outputs_, width_, batch_;
  const bool last_;
  Weights weights_, bias_, scale_, shift_;
  std::vector<float> turned_, linear_, out_, gradient_;
  std::vector<uint16_t> draws_;
  std::vector<float> mean_, inverse_, running_mean_, running_variance_;
  const float* in_ = nullptr;
};

class Trainer {
 public:
  Trainer(const std::vector<float>& rows, size_t count, size_t columns, const Training& training)
      : rows_(rows),
        width_(padded<float>(columns)),
        columns_(columns),
        batch_(std::clamp<size_t>(training.batch, 2, count)),
        random_(training.seed) {
    const std::vector<size_t> widths = network_widths(columns);
    for (size_t i = 0; i + 1 < widths.size(); ++i)
      units_.emplace_back(widths[i], widths[i + 1], batch_, i + 2 == widths.size(), random_);
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), 0u);
    in_.resize(batch_ * width_);
  }

  void epoch(const Work& work) {
    for (size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_.below(i)]);
    for (size_t first = 0; first + batch_ <= order_.size(); first += batch_) {
      work.check();
      for (size_t row = 0; row < batch_; ++row)
        std::copy_n(&rows_[order_[first + row] * width_], width_, &in_[row * width_]);
      step();
    }
  }

  std::vector<Layer> fitted() const {
    std::vector<Layer> layers;
    for (const Unit& unit : units_) layers.push_back(unit.fitted());
    return layers;
  }

 private:
  void step() {
    const float* out = in_.data();
    for (Unit& unit : units_) out = unit.forward(out, random_);
    std::vector<float>& gradient = units_.back().gradient();
    const float share = 2.0f / static_cast<float>(batch_ * columns_);
    // Beyond the columns both are 0.
    for (size_t i = 0; i < gradient.size(); ++i) gradient[i] = share * (out[i] - in_[i]);
    for (size_t i = units_.size(); i-- > 0;) units_[i].backward(i > 0 ? &units_[i - 1].gradient() : nullptr);
    mean_left_ *= 0.9;
    square_left_ *= 0.999;
    const AdamStep by{static_cast<float>(kRate / (1 - mean_left_)), static_cast<float>(1 / (1 - square_left_)), kDecay};
    for (Unit& unit : units_) unit.step(by);
  }

  const std::vector<float>& rows_;
  const size_t width_, columns_, batch_;
  Random random_;
  std::vector<Unit> units_;
  std::vector<uint32_t> order_;
  std::vector<float> in_;
  double mean_left_ = 1, square_left_ = 1;
};

}  // namespace

std::vector<size_t> network_widths(size_t columns) {
  std::vector<size_t> widths{columns};
  widths.insert(widths.end(), std::begin(kHidden), std::end(kHidden));
  widths.push_back(columns);
  return widths;
}

std::vector<float> network_answer(const std::vector<Layer>& layers, std::vector<float> rows, size_t count) {
  for (const Layer& layer : layers) {
    const size_t width = padded<float>(layer.outputs);
    std::vector<float> out(count * width);
    product({rows.data(), padded<float>(layer.inputs), 1}, count, layer.weights.data(), width, layer.inputs,
            out.data());
    training_kernels().affine({out.data(), count, width}, layer.scale.data(), layer.shift.data(),
                              &layer == &layers.back());
    rows = std::move(out);
  }
  return rows;
}

std::vector<Layer> train_network(const std::vector<float>& rows, size_t count, size_t columns, const Training& training,
                                 const Work& work) {
  Trainer trainer(rows, count, columns, training);
  for (size_t epoch = 0; epoch < training.epochs; ++epoch) trainer.epoch(work);
  return trainer.fitted();
}

}  // namespace quern::anomaly
