#include <algorithm>
#include <limits>

#include "../kernels/dense.hpp"
#include "neighbours.hpp"

namespace quern::anomaly {
namespace {

constexpr size_t kLanes = kPanel<double>;
/// Queries that are compared with the same rows while these are in registers.
constexpr size_t kQueries = 8;
/// Panels that are compared before anyone looks at the result.
constexpr size_t kTogether = 8;
constexpr size_t kGrain = 8 * kQueries;

class Panels final : public Neighbours {
 public:
  explicit Panels(const Matrix& rows) : rows_(rows.rows), columns_(rows.columns), kernels_(dense_kernels<double>()) {
    // Places without a row are NaN, which no comparison lets in.
    panels_.assign((rows.rows + kLanes - 1) / kLanes * kLanes * columns_, std::numeric_limits<double>::quiet_NaN());
    for (size_t i = 0; i < rows.rows; ++i)
      for (size_t k = 0; k < columns_; ++k)
        panels_[(i / kLanes * columns_ + k) * kLanes + i % kLanes] = rows.values[i * columns_ + k];
  }

  void search(const Matrix& queries, size_t k, const Work& work, const Each& each) const override {
    k = std::min(k, rows_);
    work.parallel(queries.rows, kGrain, [&](size_t first, size_t last) {
      std::vector<Neighbour> room(k * kQueries);
      for (size_t at = first; at < last; at += kQueries) {
        const size_t some = std::min(kQueries, last - at);
        std::vector<Nearest> nearest;
        for (size_t i = 0; i < some; ++i) nearest.emplace_back(std::span(room).subspan(i * k, k));
        compare(queries.values + at * columns_, nearest);
        for (size_t i = 0; i < some; ++i) each(at + i, nearest[i].found());
      }
    });
  }

 private:
  void compare(const double* queries, std::vector<Nearest>& nearest) const {
    constexpr size_t kStep = kTogether * kLanes;
    double squares[kQueries * kStep];
    const size_t panels = panels_.size() / (columns_ * kLanes);
    for (size_t first = 0; first < panels; first += kTogether) {
      const size_t some = std::min(kTogether, panels - first);
      for (size_t i = 0; i < some; ++i)
        kernels_.distances({queries, columns_, 1}, nearest.size(), &panels_[(first + i) * columns_ * kLanes], kLanes,
                           columns_, squares + i * kLanes, kStep);
      for (size_t query = 0; query < nearest.size(); ++query)
        take(nearest[query], squares + query * kStep, first, some);
    }
  }

  void take(Nearest& nearest, const double* squares, size_t first, size_t panels) const {
    for (size_t panel = 0; panel < panels; ++panel, squares += kLanes) {
      if (kernels_.count_within(squares, 1, nearest.bound()) == 0) continue;
      for (size_t lane = 0; lane < kLanes; ++lane)
        if (squares[lane] <= nearest.bound())
          nearest.offer({squares[lane], static_cast<uint32_t>((first + panel) * kLanes + lane)});
    }
  }

  const size_t rows_;
  const size_t columns_;
  const DenseKernels<double>& kernels_;
  std::vector<double> panels_;  ///< the rows, kLanes at a time, column by column
};

}  // namespace

std::unique_ptr<Neighbours> make_neighbour_panels(const Matrix& rows) {
  return std::make_unique<Panels>(rows);
}

}  // namespace quern::anomaly
