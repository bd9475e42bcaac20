#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "logistic.hpp"
#include "projection.hpp"

namespace quern::classify {

/// A fitted classifier of embeddings. Only read once it is made, by any number of threads.
class Model {
 public:
  Model(size_t dimensions, Projection projection, Linear head, float temperature);

  size_t dimensions() const noexcept { return dimensions_; }
  size_t classes() const noexcept { return head_.bias.size(); }
  bool projected() const noexcept { return projection_.rank() > 0; }

  /// One probability per class of each row, into `probabilities`. Throws Failure('invalid') for a row that is not
  /// finite.
  void predict(std::span<const float> vectors, std::span<float> probabilities) const;

  /// Writes the model beside `path`, waits for the disk, renames. Throws Failure('disk_full') or ('unavailable').
  void save(const std::string& path, uint64_t generation) const;
  /// A file of save() with the same generation. Throws Failure('not_found') where there is none, ('model_failed') for
  /// what is damaged.
  static Model load(const std::string& path, uint64_t generation);

 private:
  size_t dimensions_;
  Projection projection_;  ///< of rank 0 where the plain head is as good
  Linear head_;
  float temperature_;
};

/// Turns logits divided by the temperature into probabilities, in place.
void softmax(std::span<float> logits, float temperature);

}  // namespace quern::classify
