#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "../base/failure.hpp"
#include "../storage/checked_file.hpp"

namespace quern::classify {
namespace {

constexpr FileKind kKind = {{'Q', 'R', 'N', 'C', 'L', 'A', 'S', 'S'}, 1};
constexpr size_t kSections = 4;

struct Facts {
  uint32_t dimensions;
  uint32_t classes;
  uint32_t rank;
  float temperature;
};

[[noreturn]] void damaged(const std::string& path, const std::string& why) {
  throw Failure("model_failed", path + " is damaged: " + why);
}

std::vector<float> floats_of(const CheckedFile& file, size_t section, size_t count, const std::string& path) {
  const auto bytes = file.section(section);
  if (bytes.size() != count * sizeof(float)) damaged(path, "a section has " + std::to_string(bytes.size()) + " bytes.");
  std::vector<float> values(count);
  if (count > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
  if (!std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); }))
    damaged(path, "a number is not finite.");
  return values;
}

}  // namespace

void softmax(std::span<float> logits, float temperature) {
  const float most = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (float& logit : logits) {
    logit = std::exp((logit - most) / temperature);
    sum += logit;
  }
  for (float& logit : logits) logit = static_cast<float>(logit / sum);
}

Model::Model(size_t dimensions, Projection projection, Linear head, float temperature)
    : dimensions_(dimensions), projection_(std::move(projection)), head_(std::move(head)), temperature_(temperature) {}

void Model::predict(std::span<const float> vectors, std::span<float> probabilities) const {
  if (vectors.size() % dimensions_ != 0)
    throw Failure("invalid", std::to_string(vectors.size()) + " numbers are no rows of the " +
                                 std::to_string(dimensions_) + " dimensions that this classifier was fitted on.");
  require_finite(vectors, dimensions_);
  std::vector<float> row(dimensions_);
  for (size_t at = 0; at * dimensions_ < vectors.size(); ++at) {
    std::copy_n(vectors.begin() + static_cast<std::ptrdiff_t>(at * dimensions_), dimensions_, row.begin());
    normalise(row.data(), dimensions_);
    projection_.apply(row.data());
    const auto own = probabilities.subspan(at * classes(), classes());
    head_.logits(row.data(), dimensions_, own);
    softmax(own, temperature_);
  }
}

void Model::save(const std::string& path, uint64_t generation) const {
  CheckedWriter writer(path, kKind, generation);
  for (const std::vector<float>* values : {&head_.weights, &head_.bias, &projection_.basis(), &projection_.map()}) {
    writer.section();
    writer.write(values->data(), values->size() * sizeof(float));
  }
  const Facts facts{static_cast<uint32_t>(dimensions_), static_cast<uint32_t>(classes()),
                    static_cast<uint32_t>(projection_.rank()), temperature_};
  writer.finish(std::as_bytes(std::span(&facts, 1)));
}

Model Model::load(const std::string& path, uint64_t generation) {
  std::shared_ptr<const CheckedFile> file;
  const LoadOutcome outcome = CheckedFile::open(path, kKind, generation, file);
  if (outcome.state == LoadState::kMissing) throw Failure("not_found", outcome.reason);
  if (outcome.state != LoadState::kLoaded) throw Failure("model_failed", outcome.reason);
  Facts facts;
  if (file->sections() != kSections || file->facts().size() != sizeof(facts)) damaged(path, "it has other sections.");
  std::memcpy(&facts, file->facts().data(), sizeof(facts));
  if (facts.dimensions == 0 || facts.dimensions > kMostDimensions || facts.classes < 2 ||
      facts.classes > kMostClasses || facts.rank > kMostRank || !(facts.temperature > 0) ||
      !std::isfinite(facts.temperature))
    damaged(path, "its sizes cannot be.");
  const size_t dimensions = facts.dimensions, rank = facts.rank;
  Linear head{floats_of(*file, 0, dimensions * facts.classes, path), floats_of(*file, 1, facts.classes, path)};
  if (rank == 0) return {dimensions, {}, std::move(head), facts.temperature};
  return {dimensions,
          {dimensions, floats_of(*file, 2, rank * dimensions, path), floats_of(*file, 3, rank * rank, path)},
          std::move(head),
          facts.temperature};
}

}  // namespace quern::classify
