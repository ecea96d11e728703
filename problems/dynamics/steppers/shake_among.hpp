#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "problems/dynamics/steppers/shake.hpp"

namespace ccp {

/// What is around the spheres that a ShakeStepper moves.
struct Surroundings {
  Spheres held;       ///< spheres that stay where they are, as the ground does
  double period = 0;  ///< m: the world repeats along x and y, x from -period/2 on; 0: it does not
  double reach = 0;   ///< m: centres that are further apart do not meet across the border
};

/// A ShakeStepper of spheres among others that do not move, in a world that may repeat. The problem
/// of a step has the moving spheres as bodies; a sphere that is held is -1, and one that is met
/// across the border of the period is that sphere itself. So a part of a pile can settle at the
/// cost of that part.
class ShakeAmong : public ShakeStepper {
 public:
  /// @throws InputError for a period below 2 reach, in which a pair could meet twice
  ShakeAmong(const ShakeOptions& options, Surroundings around);

  ContactProblem problem(const Bodies& bodies) const override;
  /// Moves spheres that have left the period back into it.
  double finish(Bodies& bodies, const ContactProblem& problem,
                const std::vector<double>& gamma) override;

 private:
  Surroundings around_;
};

/// Copies of the spheres across the borders of a period, as far as `reach` beyond them.
/// @return the spheres whose copies they are, and the copies
std::pair<std::vector<std::int32_t>, Spheres> copies_across(const Spheres& spheres, double period,
                                                            double reach);

/// Adds sphere i of `from`, moved by (x, y).
void add_sphere(Spheres& to, const Spheres& from, std::size_t i, double x = 0, double y = 0);
/// Adds all of them, moved by (x, y).
void add_spheres(Spheres& to, const Spheres& from, double x = 0, double y = 0);

}  // namespace ccp
