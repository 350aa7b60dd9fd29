// Matrix products of float64 with bounds, blocked for registers: 2 x 4 results at a time over packed panels
// of b.
#include <cmath>

#include "core/semantics/float_engine.h"

namespace nuscope::semantics {
namespace {

constexpr std::int64_t kPanel = 4;  ///< columns
constexpr std::int64_t kRows = 2;   ///< rows
using Pair = double __attribute__((vector_size(16)));

/// What is summed for one result: the products, their magnitudes, and the magnitudes with the bounds added.
struct Sums {
  Pair value[kRows][2]{};
  Pair magnitude[kRows][2]{};
  Pair inflated[kRows][2]{};
};

struct Panel {
  std::vector<double> value;     ///< inner x kPanel
  std::vector<double> inflated;  ///< |value| + bound
};

template <bool Bounds>
void accumulate(const double* const* rows, const double* const* inflatedRows, const Panel& panel,
                std::int64_t inner, Sums& sums) {
  Sums s;
  for (std::int64_t k = 0; k < inner; ++k) {
    const double* b = panel.value.data() + k * kPanel;
    const double* c = panel.inflated.data() + k * kPanel;
    const Pair b0{b[0], b[1]};
    const Pair b1{b[2], b[3]};
    for (std::int64_t r = 0; r < kRows; ++r) {
      const double x = rows[r][k];
      const Pair a{x, x};
      const Pair p0 = a * b0;
      const Pair p1 = a * b1;
      s.value[r][0] += p0;
      s.value[r][1] += p1;
      s.magnitude[r][0] += Pair{std::fabs(p0[0]), std::fabs(p0[1])};
      s.magnitude[r][1] += Pair{std::fabs(p1[0]), std::fabs(p1[1])};
      if constexpr (Bounds) {
        const double y = inflatedRows[r][k];
        const Pair i{y, y};
        s.inflated[r][0] += i * Pair{c[0], c[1]};
        s.inflated[r][1] += i * Pair{c[2], c[3]};
      }
    }
  }
  sums = s;
}

void pack(const double* b, const double* bound, std::int64_t inner, std::int64_t columns, std::int64_t from,
          Panel& panel) {
  for (std::int64_t k = 0; k < inner; ++k) {
    for (std::int64_t j = 0; j < kPanel; ++j) {
      const bool inside = from + j < columns;
      const std::int64_t at = k * columns + from + j;
      panel.value[static_cast<std::size_t>(k * kPanel + j)] = inside ? b[at] : 0;
      panel.inflated[static_cast<std::size_t>(k * kPanel + j)] = inside ? std::fabs(b[at]) + bound[at] : 0;
    }
  }
}

}  // namespace

void multiplyMatrices(const FloatArithmetic& arithmetic, const double* a, const double* aBound,
                      const double* b, const double* bBound, std::int64_t rows, std::int64_t inner,
                      std::int64_t columns, double* c, double* cBound, bool exactOperands, bool onGrid,
                      int threads, const Progress& progress) {
  std::vector<double> inflatedA;
  if (!exactOperands) {
    inflatedA.resize(static_cast<std::size_t>(rows * inner));
    for (std::int64_t i = 0; i < rows * inner; ++i)
      inflatedA[static_cast<std::size_t>(i)] = std::fabs(a[i]) + aBound[i];
  }
  const double slack = 1 + static_cast<double>(inner + 4) * 0x1p-52;  // rounding of the bound's own sums
  const auto store = [&](double value, double magnitude, double inflated, std::int64_t at) {
    double bound =
        onGrid && arithmetic.exactOnGrid(magnitude) ? 0 : arithmetic.foldRounding(inner, magnitude);
    // The difference cancels: its own rounding is within a few ulps of what it is taken from.
    if (!exactOperands)
      bound += std::max(0.0, inflated - magnitude) + inflated * static_cast<double>(inner + 4) * 0x1p-52;
    c[at] = value;
    cBound[at] = bound * slack;
  };
  const auto piece = [&](std::int64_t begin, std::int64_t end) {
    Panel panel;
    panel.value.resize(static_cast<std::size_t>(inner * kPanel));
    panel.inflated.resize(static_cast<std::size_t>(inner * kPanel));
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t from = p * kPanel;
      pack(b, bBound, inner, columns, from, panel);
      for (std::int64_t i = 0; i < rows; i += kRows) {
        if ((i & 63) == 0) progress.check();
        const double* rowsOfA[kRows];
        const double* inflated[kRows] = {};
        for (std::int64_t r = 0; r < kRows; ++r) {
          const std::int64_t row = std::min(i + r, rows - 1);
          rowsOfA[r] = a + row * inner;
          if (!exactOperands) inflated[r] = inflatedA.data() + row * inner;
        }
        Sums sums;
        if (exactOperands) {
          accumulate<false>(rowsOfA, inflated, panel, inner, sums);
        } else {
          accumulate<true>(rowsOfA, inflated, panel, inner, sums);
        }
        for (std::int64_t r = 0; r < kRows && i + r < rows; ++r) {
          for (std::int64_t j = 0; j < kPanel && from + j < columns; ++j) {
            store(sums.value[r][j / 2][j % 2], sums.magnitude[r][j / 2][j % 2],
                  sums.inflated[r][j / 2][j % 2], (i + r) * columns + from + j);
          }
        }
      }
    }
  };
  const std::int64_t panels = (columns + kPanel - 1) / kPanel;
  parallelRanges(panels, rows * inner * columns > 1 << 20 ? threads : 1, piece);
}

}  // namespace nuscope::semantics
