#include "tests/kokkos_support.hpp"

namespace ccp::test {

Teuchos::RCP<Vector> to_vector(const std::vector<double>& data) {
  const auto x = Teuchos::rcp(new Vector(make_map(data.size()), 1));
  Kokkos::deep_copy(overwrite_view(*x), to_view(data));
  fence();
  return x;
}

std::vector<double> to_host(const Vector& x) {
  return to_host(read_view(x));
}

VectorView to_view(const std::vector<double>& data) {
  const VectorView view("ccp::test::view", data.size());
  const auto host = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < data.size(); ++i) host(i) = data[i];
  Kokkos::deep_copy(view, host);
  return view;
}

std::vector<double> to_host(const ConstVectorView& x) {
  const VectorView copy("ccp::test::copy", x.extent(0));
  Kokkos::deep_copy(copy, x);
  const auto host = Kokkos::create_mirror_view(copy);
  Kokkos::deep_copy(host, copy);
  std::vector<double> data(host.extent(0));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = host(i);
  return data;
}

std::vector<double> to_host(const DeviceArray<double* [3][3]>& blocks) {
  const auto host = Kokkos::create_mirror_view(blocks);
  Kokkos::deep_copy(host, blocks);
  std::vector<double> data;
  for (std::size_t c = 0; c < host.extent(0); ++c) {
    for (int k = 0; k < 9; ++k) data.push_back(host(c, k / 3, k % 3));
  }
  return data;
}

namespace {

std::vector<double> turn(const ContactProblem& problem, const std::vector<double>& in,
                         bool to_world) {
  if (problem.form == ContactProblem::Form::assembled) return in;
  std::vector<double> out(in.size(), 0.0);
  for (std::size_t c = 0; c < in.size() / 3; ++c) {
    for (int row = 0; row < 3; ++row) {
      for (int k = 0; k < 3; ++k) {
        const double f = problem.frame[9 * c + 3 * row + k];
        if (to_world) {
          out[3 * c + k] += f * in[3 * c + row];
        } else {
          out[3 * c + row] += f * in[3 * c + k];
        }
      }
    }
  }
  return out;
}

}  // namespace

std::vector<double> world_axes(const ContactProblem& problem, const std::vector<double>& contact) {
  return turn(problem, contact, true);
}

std::vector<double> contact_axes(const ContactProblem& problem, const std::vector<double>& world) {
  return turn(problem, world, false);
}

std::vector<double> product_of(const Operator& a, const std::vector<double>& x) {
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  const auto in = to_vector(x), out = to_vector(std::vector<double>(x.size(), not_a_number));
  a.apply(*in, *out);
  return to_host(*out);
}

std::vector<double> product_of(const Operator& a, const ContactProblem& problem,
                               const std::vector<double>& x) {
  return contact_axes(problem, product_of(a, world_axes(problem, x)));
}

}  // namespace ccp::test
