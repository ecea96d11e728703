#include "solvers/velocity_space/body_pools.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "problems/model/incidence.hpp"
#include "solvers/core/transfer.hpp"
#include "solvers/linear/block_matrix.hpp"

namespace ccp {
namespace {

constexpr int nb = 6;

/// sum += A^T K B for 3 x 6 rows A, B and a 3 x 3 block K, all row-major.
template <class RowsA, class RowsB>
KOKKOS_INLINE_FUNCTION void add_product(const RowsA& a, const double k[9], const RowsB& b,
                                        double* sum) {
  double kb[3 * nb];
  for (int p = 0; p < 3; ++p) {
    for (int q = 0; q < nb; ++q) {
      kb[nb * p + q] = k[3 * p] * b(q) + k[3 * p + 1] * b(nb + q) + k[3 * p + 2] * b(2 * nb + q);
    }
  }
  for (int p = 0; p < nb; ++p) {
    for (int q = 0; q < nb; ++q) {
      sum[nb * p + q] += a(p) * kb[q] + a(nb + p) * kb[nb + q] + a(2 * nb + p) * kb[2 * nb + q];
    }
  }
}

KOKKOS_INLINE_FUNCTION void transpose(const double a[9], double b[9]) {
  for (int p = 0; p < 3; ++p) {
    for (int q = 0; q < 3; ++q) b[3 * p + q] = a[3 * q + p];
  }
}

/// The rows of one triple on one side.
struct SideRows {
  DeviceArray<double* [2][18]> row;
  int j, side;
  KOKKOS_INLINE_FUNCTION double operator()(int entry) const { return row(j, side, entry); }
};

/// The part of a triple, with its contact's where it is a rolling one, in E^T K E for two sides.
struct TriplePart {
  int first, rolling;
  DeviceArray<double*[2][18]> row, contact_row;
  DeviceArray<Sym3*> k;
  DeviceArray<CrossBlock*> cross;

  KOKKOS_INLINE_FUNCTION void add(int j, int side_a, int side_b, double* sum) const {
    const SideRows a{row, j, side_a}, b{row, j, side_b};
    double own[9];
    expand(k(first + j), own);
    add_product(a, own, b, sum);
    if (j >= rolling || cross.extent(0) == 0) return;
    double turned[9];
    transpose(cross(j).a, turned);
    add_product(SideRows{contact_row, j, side_a}, cross(j).a, b, sum);
    add_product(a, turned, SideRows{contact_row, j, side_b}, sum);
  }
};

}  // namespace

BodyPools::BodyPools(const Problem& problem, const ConstraintMap& map, const Places& places)
    : first_(problem.contacts()),
      size_(problem.pools().size()),
      rolling_(problem.pools().rolling()),
      free_twist_(problem.pools().free_twist()),
      bodies_(static_cast<int>(places.body.size())) {
  if (empty()) return;
  const ContactProblem& host = problem.host();
  std::vector<int> ends, contact;
  for (const std::int32_t c : host.rolling.contact) {
    contact.push_back(places.contact[static_cast<std::size_t>(c)]);
    for (std::size_t side = 0; side < 2; ++side) {
      ends.push_back(host.contact_bodies[2 * static_cast<std::size_t>(c) + side]);
    }
  }
  ends.insert(ends.end(), host.equality.bodies.begin(), host.equality.bodies.end());
  for (int& body : ends) {
    if (body >= 0) body = places.body[static_cast<std::size_t>(body)];
  }
  const Incidence incidence = incidence_of(ends, places.body.size());
  list_blocks(places, ends);
  for (int& body : ends) body = body < 0 ? bodies_ : body;
  body_ = upload<DeviceArray<int* [2]>>("ccp::BodyPools::body", ends, ends.size() / 2);
  contact_ = upload<DeviceArray<int*>>("ccp::BodyPools::contact", contact, contact.size());
  offset_ = upload<DeviceArray<int*>>("ccp::BodyPools::offset", incidence.offset,
                                      incidence.offset.size());
  incidence_ =
      upload<DeviceArray<int*>>("ccp::BodyPools::incidence", incidence.side, incidence.side.size());
  make_rows(problem, map);
}

void BodyPools::list_blocks(const Places& places, const std::vector<int>& ends) {
  std::map<int, std::vector<int>> triples;  // by the number of the block by rows
  std::map<int, int> row_of;
  for (int j = 0; j < size_; ++j) {
    const int a = ends[2 * j], b = ends[2 * j + 1];
    if (a < 0 || b < 0) continue;
    const int row = std::max(a, b);
    const auto begin = places.column.begin() + places.row_offset[row],
               end = places.column.begin() + places.row_offset[row + 1];
    const int number =
        static_cast<int>(std::lower_bound(begin, end, std::min(a, b)) - places.column.begin());
    triples[number].push_back(j);
    row_of[number] = row;
  }
  std::vector<Block> blocks;
  std::vector<int> all;
  for (const auto& [number, list] : triples) {
    const int row = row_of[number], column = places.column[number],
              first = static_cast<int>(all.size());
    all.insert(all.end(), list.begin(), list.end());
    blocks.push_back({row, column, number + places.column_offset[row],
                      places.place[number] + places.row_offset[column + 1], first,
                      static_cast<int>(all.size()), places.has_contacts[number] == 0 ? 1 : 0});
  }
  block_ = upload<DeviceArray<Block*>>("ccp::BodyPools::block", blocks, blocks.size());
  block_triple_ = upload<DeviceArray<int*>>("ccp::BodyPools::block_triple", all, all.size());
}

void BodyPools::make_rows(const Problem& problem, const ConstraintMap& map) {
  row_ = DeviceArray<double* [2][18]>("ccp::BodyPools::row", size_);
  contact_row_ = DeviceArray<double* [2][18]>("ccp::BodyPools::contact_row", rolling_);
  const BodyMatrices root = map.masses();
  const auto arm = map.arm();
  const auto jacobian = problem.pools().jacobian();
  const auto length = problem.pool_length();
  const auto body = body_;
  const auto contact = contact_;
  const auto row = row_, contact_row = contact_row_;
  const FreeTwist free_twist = free_twist_;
  const int rolling = rolling_;
  Kokkos::parallel_for(
      "ccp::BodyPools::make_rows", range(2 * size_), KOKKOS_LAMBDA(const int entry) {
        const int j = entry / 2, side = entry % 2, i = body(j, side);
        const double sign = side_sign(side), unit = length(j);
        if (j < rolling) {
          ScaledSide scaled;
          scaled.mass = root.linear(i);
          scaled.set_lever(arm, root.angular, contact(j), side, i);
          double turned[9];
          for (int p = 0; p < 3; ++p) {
            contact_row(j, side, nb * p + p) = sign * scaled.mass;
            for (int q = 0; q < 3; ++q) {
              contact_row(j, side, nb * p + 3 + q) = sign * scaled.lever[3 * p + q];
              turned[3 * p + q] = q <= p ? sign * unit * root.angular(i, p, q) : 0;
            }
          }
          for (int q = 0; q < 3; ++q) {
            const Vec3 column =
                free_twist.without(j, Vec3{turned[q], turned[3 + q], turned[6 + q]});
            row(j, side, 3 + q) = column.x;
            row(j, side, nb + 3 + q) = column.y;
            row(j, side, 2 * nb + 3 + q) = column.z;
          }
          return;
        }
        for (int p = 0; p < 3; ++p) {
          for (int q = 0; q < 3; ++q) {
            row(j, side, nb * p + q) =
                unit * jacobian(j - rolling, side, nb * p + q) * root.linear(i);
            double turn = 0;
            for (int k = q; k < 3; ++k) {
              turn += jacobian(j - rolling, side, nb * p + 3 + k) * root.angular(i, k, q);
            }
            row(j, side, nb * p + 3 + q) = unit * turn;
          }
        }
      });
}

void BodyPools::raise_reach(const Problem& problem, const std::vector<int>& position,
                            std::vector<double>& reach) const {
  const ContactProblem& host = problem.host();
  const auto length = host_copy(problem.pool_length());
  const auto raise_to = [&](std::int32_t body, double value) {
    if (body < 0) return;
    double& own = reach[position[static_cast<std::size_t>(body)]];
    own = std::max(own, value);
  };
  for (int j = 0; j < rolling_; ++j) {
    const auto c = static_cast<std::size_t>(host.rolling.contact[j]);
    for (std::size_t side = 0; side < 2; ++side) {
      raise_to(host.contact_bodies[2 * c + side], length(j));
    }
  }
  for (std::size_t k = 0; k < host.equality.size(); ++k) {
    const double unit = length(rolling_ + static_cast<int>(k));
    for (std::size_t row = 3 * k; row < 3 * (k + 1); ++row) {
      const auto arm = [&](const std::vector<double>& jacobian) {
        return unit * norm(triple(jacobian, 2 * row + 1));
      };
      raise_to(host.equality.bodies[2 * k], arm(host.equality.jacobian_a));
      raise_to(host.equality.bodies[2 * k + 1], arm(host.equality.jacobian_b));
    }
  }
}

void BodyPools::velocities(const ConstVectorView& z, const VectorView& d) const {
  const auto body = body_;
  const auto row = row_;
  const FreeTwist free_twist = free_twist_;
  const int first = first_, rolling = rolling_, bodies = bodies_;
  Kokkos::parallel_for(
      "ccp::BodyPools::velocities", range(size_), KOKKOS_LAMBDA(const int j) {
        double sum[3] = {0, 0, 0};
        for (int side = 0; side < 2; ++side) {
          const int i = body(j, side);
          if (i == bodies) continue;
          for (int p = 0; p < 3; ++p) {
            for (int q = 0; q < nb; ++q) sum[p] += row(j, side, nb * p + q) * z(nb * i + q);
          }
        }
        const Vec3 own{sum[0], sum[1], sum[2]};
        // Rows have no part along the normal; this takes what rounding of large z leaves there.
        store3(d, first + j, j < rolling ? free_twist.without(j, own) : own);
      });
}

void BodyPools::add_load(const ConstVectorView& p, const VectorView& f) const {
  const auto offset = offset_, incidence = incidence_;
  const auto row = row_;
  const int first = first_;
  Kokkos::parallel_for(
      "ccp::BodyPools::add_load", range(bodies_), KOKKOS_LAMBDA(const int i) {
        double sum[nb] = {};
        for (int l = offset(i); l < offset(i + 1); ++l) {
          const int j = incidence(l) >> 1, side = incidence(l) & 1;
          const Vec3 g = load3(p, first + j);
          for (int q = 0; q < nb; ++q) {
            sum[q] +=
                row(j, side, q) * g.x + row(j, side, nb + q) * g.y + row(j, side, 2 * nb + q) * g.z;
          }
        }
        for (int q = 0; q < nb; ++q) f(nb * i + q) += sum[q];
      });
}

void BodyPools::assemble(const DeviceArray<Sym3*>& k, const DeviceArray<CrossBlock*>& cross,
                         double* diagonal, double* off_diagonal) const {
  static_assert(block::stored<nb> == nb * nb);
  const TriplePart part{first_, rolling_, row_, contact_row_, k, cross};
  const auto offset = offset_, incidence = incidence_;
  Kokkos::parallel_for(
      "ccp::BodyPools::assemble_diagonal", range(bodies_), KOKKOS_LAMBDA(const int i) {
        double sum[nb * nb] = {};
        for (int l = offset(i); l < offset(i + 1); ++l) {
          const int side = incidence(l) & 1;
          part.add(incidence(l) >> 1, side, side, sum);
        }
        double* const own = diagonal + static_cast<std::size_t>(block::packed<nb>) * i;
        for (int p = 0; p < nb; ++p) {
          for (int q = 0; q <= p; ++q) own[block::at(p, q)] += sum[nb * p + q];
        }
      });
  const auto block = block_;
  const auto block_triple = block_triple_;
  const auto body = body_;
  Kokkos::parallel_for(
      "ccp::BodyPools::assemble_off_diagonal", range(block.extent(0)), KOKKOS_LAMBDA(const int b) {
        double sum[nb * nb] = {};
        for (int l = block(b).first; l < block(b).past; ++l) {
          const int j = block_triple(l), row_side = body(j, 0) == block(b).row ? 0 : 1;
          part.add(j, row_side, 1 - row_side, sum);
        }
        double* const left = off_diagonal + static_cast<std::size_t>(nb * nb) * block(b).left;
        double* const right = off_diagonal + static_cast<std::size_t>(nb * nb) * block(b).right;
        for (int p = 0; p < nb; ++p) {
          for (int q = 0; q < nb; ++q) {
            const double before = block(b).fresh ? 0 : right[nb * p + q];
            left[nb * q + p] = right[nb * p + q] = before + sum[nb * p + q];
          }
        }
      });
}

}  // namespace ccp
