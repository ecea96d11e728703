#include "problems/geometry/spheres.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "problems/base/error.hpp"

namespace ccp {

void sort_spatially(Spheres& spheres) {
  const std::size_t m = spheres.count();
  if (m == 0) return;
  double low[3], high[3];
  for (int k = 0; k < 3; ++k) low[k] = high[k] = spheres.position[k];
  for (std::size_t i = 0; i < m; ++i) {
    for (int k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], spheres.position[3 * i + k]);
      high[k] = std::max(high[k], spheres.position[3 * i + k]);
    }
  }
  const double extent = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2], 1e-300});
  constexpr int bits = 20;
  std::vector<std::uint64_t> key(m, 0);
  for (std::size_t i = 0; i < m; ++i) {
    for (int k = 0; k < 3; ++k) {
      const double unit = (spheres.position[3 * i + k] - low[k]) / extent;
      const auto cell = static_cast<std::uint64_t>(unit * ((1 << bits) - 1));
      for (int bit = 0; bit < bits; ++bit) key[i] |= ((cell >> bit) & 1U) << (3 * bit + k);
    }
  }
  std::vector<std::size_t> order(m);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return key[x] < key[y]; });
  const auto permute = [&](std::vector<double>& data, std::size_t width) {
    std::vector<double> sorted(data.size());
    for (std::size_t i = 0; i < m; ++i) {
      std::copy_n(&data[width * order[i]], width, &sorted[width * i]);
    }
    data.swap(sorted);
  };
  permute(spheres.position, 3);
  permute(spheres.velocity, 3);
  permute(spheres.radius, 1);
  permute(spheres.mass, 1);
}

void make_heavier(Spheres& spheres, const HeavySpheres& heavy) {
  HeavySpheres own = heavy;
  heavy_options(own).check();
  // The first of a random permutation, made the same way on every platform.
  std::mt19937_64 engine(heavy.seed);
  std::vector<std::size_t> order(spheres.count());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto count =
      static_cast<std::size_t>(std::llround(heavy.fraction * static_cast<double>(spheres.count())));
  for (std::size_t k = 0; k < count; ++k) {
    std::swap(order[k], order[k + engine() % (order.size() - k)]);
    spheres.mass[order[k]] *= heavy.mass_ratio;
  }
}

OptionList heavy_options(HeavySpheres& heavy) {
  return OptionList("of heavy spheres", "part")
      .number("heavy_fraction", heavy.fraction, {0, 1},
              "Part of the spheres that is made heavier in the frozen problem")
      .number("mass_ratio", heavy.mass_ratio, OptionList::Range::positive(),
              "Factor on the mass of the heavy spheres");
}

}  // namespace ccp
