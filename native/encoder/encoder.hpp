#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "layers.hpp"
#include "pass.hpp"
#include "team.hpp"

namespace quern::encoder {

/// What a run gets: the tokens of one text after another.
struct Texts {
  std::span<const int32_t> ids;
  std::span<const int32_t> lengths;
  std::span<const int32_t> types;  ///< as long as ids, or empty: all 0
};

/// The forward pass of a BERT-shaped encoder; see NativeEncoder of native/contract/encoder.ts.
class Encoder {
 public:
  /// Copies the weights. Throws Failure('invalid') or ('too_large') for what does not fit.
  Encoder(const Shape& shape, const EncoderSource& source, size_t threads, Isa isa = best_encoder_isa());

  size_t bytes() const noexcept { return packed_.arena.used(); }
  size_t outputs() const noexcept { return packed_.outputs; }
  /// Throws Failure('invalid') for texts that do not fit, ('too_large') beyond a limit, ('unavailable') once stopped.
  /// One call runs at a time.
  std::vector<float> run(const Texts& texts);
  /// What runs ends within a slice. From any thread.
  void stop() noexcept { stopped_.store(true, std::memory_order_relaxed); }

 private:
  void check(const Texts& texts) const;
  Pass& pass_for(size_t tokens, size_t longest);

  const EncoderKernels& kernels_;
  const PackedEncoder packed_;
  std::mutex running_;
  Team team_;
  std::unique_ptr<Pass> pass_;  ///< kept where it is small
  std::atomic<bool> stopped_{false};
};

}  // namespace quern::encoder
