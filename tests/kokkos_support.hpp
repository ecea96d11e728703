#pragma once

#include <vector>

#include "solvers/core/problem.hpp"

// Host data to the device and back. Contact axes (n, t1, t2) unless it says otherwise.
namespace ccp::test {

Teuchos::RCP<Vector> to_vector(const std::vector<double>& data);
std::vector<double> to_host(const Vector& x);

VectorView to_view(const std::vector<double>& data);
std::vector<double> to_host(const ConstVectorView& x);

/// A x for a vector in the operator's own axes. What it is written to holds NaN before.
std::vector<double> product_of(const Operator& a, const std::vector<double>& x);

/// A x in contact axes, by an operator in world axes.
std::vector<double> product_of(const Operator& a, const ContactProblem& problem,
                               const std::vector<double>& x);

/// Blocks [n][3][3] as n * 9 numbers.
std::vector<double> to_host(const DeviceArray<double* [3][3]>& blocks);

/// World axes from contact axes and back, by the frames of the host problem.
std::vector<double> world_axes(const ContactProblem& problem, const std::vector<double>& contact);
std::vector<double> contact_axes(const ContactProblem& problem, const std::vector<double>& world);

}  // namespace ccp::test
