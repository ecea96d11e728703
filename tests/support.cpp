#include "tests/support.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "problems/base/pi.hpp"
#include "problems/base/root_folder.hpp"
#include "problems/geometry/sphere_contacts.hpp"
#include "problems/model/frame.hpp"

namespace ccp::test {
namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "ccpbench-test-XXXXXX").string();
  REQUIRE(mkdtemp(name.data()) != nullptr);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

std::vector<std::string> TemporaryFolder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string read_text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

void check_begins(const std::string& message, const std::string& beginning) {
  INFO("message: " << message);
  INFO("should begin with: " << beginning);
  CHECK(message.rfind(beginning, 0) == 0);
}

void check_parts(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    INFO("message: " << message);
    INFO("should contain: " << part);
    CHECK(message.find(part) != std::string::npos);
  }
}

std::string source_folder() {
  return root_folder();
}

fs::path shared_folder() {
  const char* configured = std::getenv("CCPBENCH_SHARED");
  return configured && *configured ? fs::path(configured)
                                   : fs::path(source_folder()).parent_path() / "shared";
}

namespace {

using Vec = std::array<double, 3>;

Vec cross(const Vec& a, const Vec& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot(const Vec& a, const Vec& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Vec triple(const std::vector<double>& data, std::size_t i) {
  return {data[3 * i], data[3 * i + 1], data[3 * i + 2]};
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  int below(std::size_t n) { return static_cast<int>(engine_() % n); }
  Vec unit() {
    while (true) {
      const Vec v{uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
      const double length = std::sqrt(dot(v, v));
      if (length > 0.1 && length < 1) return {v[0] / length, v[1] / length, v[2] / length};
    }
  }

 private:
  std::mt19937 engine_;
};

/// J of one contact: rows n, t1, t2 against the 6 velocities of each of its bodies A and B.
struct ContactRows {
  double side[2][3][6];
};

ContactRows contact_rows(const ContactProblem& p, std::size_t c) {
  ContactRows rows{};
  for (int row = 0; row < 3; ++row) {
    const Vec axis{p.frame[9 * c + 3 * row], p.frame[9 * c + 3 * row + 1],
                   p.frame[9 * c + 3 * row + 2]};
    for (int side = 0; side < 2; ++side) {
      const double sign = side == 0 ? -1 : 1;
      for (int k = 0; k < 3; ++k) rows.side[side][row][k] = sign * axis[k];
      if (!p.rotates()) continue;
      // axis . (w x arm) = w . (arm x axis)
      const Vec lever = cross(triple(side == 0 ? p.arm_a : p.arm_b, c), axis);
      for (int k = 0; k < 3; ++k) rows.side[side][row][3 + k] = sign * lever[k];
    }
  }
  return rows;
}

}  // namespace

ContactProblem random_problem(const RandomShape& shape) {
  Random random(shape.seed);
  ContactProblem p;
  p.name = "random";
  p.dt = 0.01;
  p.gravity = {0, 0, -10};
  const int m = static_cast<int>(shape.bodies);
  for (int i = 0; i < m; ++i) {
    const bool infinite = m > 2 && i == m - 1;
    p.inverse_mass.push_back(infinite ? 0 : random.uniform(0.2, 3));
    if (!shape.rotates) continue;
    // L L^T with a lower triangle that is far from diagonal.
    double l[3][3] = {};
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k <= j; ++k)
        l[j][k] = j == k ? random.uniform(0.5, 2) : random.uniform(-1, 1);
    }
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k) {
        double sum = 0;
        for (int q = 0; q < 3; ++q) sum += l[j][q] * l[k][q];
        p.inverse_inertia.push_back(infinite ? 0 : sum);
      }
    }
  }
  for (std::size_t c = 0; c < shape.contacts; ++c) {
    int a = random.below(m), b = random.below(m);
    if (c % 4 == 0) a = -1;
    if (c % 7 == 5) b = -1, a = random.below(m);
    if (c % 3 == 1) a = 0, b = 1;  // several contacts of one pair
    while (a == b) b = random.below(m);
    p.contact_bodies.insert(p.contact_bodies.end(), {a, b});
    const Vec normal = random.unit();
    std::array<double, 9> frame{normal[0], normal[1], normal[2]};
    complete_frame(frame.data());
    const double angle = random.uniform(0, 6);
    for (int k = 0; k < 3; ++k) {
      const double t1 = frame[3 + k], t2 = frame[6 + k];
      frame[3 + k] = std::cos(angle) * t1 + std::sin(angle) * t2;
      frame[6 + k] = -std::sin(angle) * t1 + std::cos(angle) * t2;
    }
    p.frame.insert(p.frame.end(), frame.begin(), frame.end());
    p.mu.push_back(shape.frictionless_contacts && c % 5 == 4 ? 0 : random.uniform(0.1, 1.2));
    for (int k = 0; k < 3; ++k) {
      p.r.push_back(random.uniform(-1, 1));
      if (!shape.rotates) continue;
      p.arm_a.push_back(random.uniform(-1, 1));
      p.arm_b.push_back(random.uniform(-1, 1));
    }
  }
  return p;
}

std::vector<double> dense_delassus(const ContactProblem& p) {
  const std::size_t n = p.contacts(), size = 3 * n;
  std::vector<double> matrix(size * size, 0.0);
  if (p.form == ContactProblem::Form::assembled) {
    const BlockMatrix& blocks = p.delassus;
    for (std::size_t i = 0; i < n; ++i) {
      for (auto k = static_cast<std::size_t>(blocks.row_offsets[i]);
           k < static_cast<std::size_t>(blocks.row_offsets[i + 1]); ++k) {
        const std::size_t first = 3 * i * size + 3 * static_cast<std::size_t>(blocks.columns[k]);
        for (std::size_t e = 0; e < 9; ++e) {
          matrix[first + e / 3 * size + e % 3] = blocks.blocks[9 * k + e];
        }
      }
    }
    return matrix;
  }
  std::vector<ContactRows> rows;
  for (std::size_t c = 0; c < n; ++c) rows.push_back(contact_rows(p, c));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (int side_i = 0; side_i < 2; ++side_i) {
        for (int side_j = 0; side_j < 2; ++side_j) {
          const std::int32_t body = p.contact_bodies[2 * i + side_i];
          if (body < 0 || body != p.contact_bodies[2 * j + side_j]) continue;
          for (int row = 0; row < 3; ++row) {
            for (int column = 0; column < 3; ++column) {
              const double* x = rows[i].side[side_i][row];
              const double* y = rows[j].side[side_j][column];
              double sum = 0;
              for (int k = 0; k < 3; ++k) sum += p.inverse_mass[body] * x[k] * y[k];
              if (p.rotates()) {
                for (int k = 0; k < 3; ++k) {
                  for (int q = 0; q < 3; ++q) {
                    sum += x[3 + k] * p.inverse_inertia[9 * body + 3 * k + q] * y[3 + q];
                  }
                }
              }
              matrix[(3 * i + row) * size + 3 * j + column] += sum;
            }
          }
        }
      }
    }
  }
  for (std::size_t i = 0; i < p.compliance.size() / 2; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      matrix[(3 * i + k) * (size + 1)] += p.compliance[2 * i + (k > 0)];
    }
  }
  return matrix;
}

void make_feasible(ContactProblem& p, unsigned seed) {
  const auto gamma = random_vector(3 * p.contacts(), seed);
  auto u = random_vector(3 * p.contacts(), seed + 1);
  const auto push = multiply(dense_delassus(p), gamma);
  for (std::size_t c = 0; c < p.contacts(); ++c) {
    u[3 * c] = p.mu[c] * std::hypot(u[3 * c + 1], u[3 * c + 2]) + 0.05;
    for (std::size_t k = 3 * c; k < 3 * c + 3; ++k) p.r[k] = u[k] - push[k];
  }
}

std::vector<double> dense_body_velocities(const ContactProblem& p,
                                          const std::vector<double>& gamma) {
  std::vector<double> v(6 * p.bodies(), 0.0);
  for (std::size_t c = 0; c < p.contacts(); ++c) {
    const ContactRows rows = contact_rows(p, c);
    for (int side = 0; side < 2; ++side) {
      const std::int32_t body = p.contact_bodies[2 * c + side];
      if (body < 0) continue;
      double push[6] = {};
      for (int row = 0; row < 3; ++row) {
        for (int k = 0; k < 6; ++k) push[k] += rows.side[side][row][k] * gamma[3 * c + row];
      }
      for (int k = 0; k < 3; ++k) {
        v[6 * body + k] += p.inverse_mass[body] * push[k];
        for (int q = 0; p.rotates() && q < 3; ++q) {
          v[6 * body + 3 + k] += p.inverse_inertia[9 * body + 3 * k + q] * push[3 + q];
        }
      }
    }
  }
  return v;
}

ContactProblem compliant_form(ContactProblem p, unsigned seed) {
  p.compliance = random_vector(2 * p.contacts(), seed);
  for (std::size_t c = 0; c < p.contacts(); ++c) {
    for (std::size_t k = 0; k < 2; ++k) {
      double& value = p.compliance[2 * c + k];
      value = c % 4 == 3 ? 0 : std::abs(value) * (k == 0 ? 1 : 1e-3);
    }
  }
  return p;
}

BlockMatrix blocks_of(const std::vector<double>& matrix, std::size_t n) {
  BlockMatrix result;
  result.row_offsets.push_back(0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      std::array<double, 9> block{};
      bool zero = true;
      for (std::size_t k = 0; k < 9; ++k) {
        block[k] = matrix[(3 * i + k / 3) * 3 * n + 3 * j + k % 3];
        zero = zero && block[k] == 0;
      }
      if (zero && i != j) continue;
      result.columns.push_back(static_cast<std::int32_t>(j));
      result.blocks.insert(result.blocks.end(), block.begin(), block.end());
    }
    result.row_offsets.push_back(static_cast<std::int64_t>(result.columns.size()));
  }
  return result;
}

ContactProblem assembled_form(const ContactProblem& bodies) {
  ContactProblem p;
  p.name = bodies.name;
  p.form = ContactProblem::Form::assembled;
  p.dt = bodies.dt;
  p.gravity = bodies.gravity;
  p.r = bodies.r;
  p.mu = bodies.mu;
  p.reference = bodies.reference;
  p.compliance = bodies.compliance;
  ContactProblem stiff = bodies;
  stiff.compliance.clear();
  p.delassus = blocks_of(dense_delassus(stiff), p.contacts());
  return p;
}

std::vector<double> multiply(const std::vector<double>& a, const std::vector<double>& x) {
  std::vector<double> y(x.size(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) y[i] += a[i * x.size() + j] * x[j];
  }
  return y;
}

ContactProblem random_pile(std::size_t spheres, std::size_t contacts, unsigned seed) {
  Random random(seed);
  Spheres s;
  // A jittered grid, 10 by 10 in plan, close enough for neighbours to overlap a little or just
  // miss.
  for (std::size_t i = 0; i < spheres; ++i) {
    const double spacing = 0.024;
    const double cell[3] = {static_cast<double>(i % 10), static_cast<double>(i / 10 % 10),
                            std::floor(static_cast<double>(i) / 100)};
    const double radius = random.uniform(0.008, 0.016);
    for (int k = 0; k < 3; ++k) {
      s.position.push_back(spacing * (cell[k] + 0.2 * random.uniform(-1, 1)) +
                           (k == 2 ? 0.013 : 0));
      s.velocity.push_back(random.uniform(-0.1, 0.1));
    }
    s.radius.push_back(radius);
    s.mass.push_back(1650 * 4.0 / 3 * pi * radius * radius * radius);
  }
  ContactProblem p = sphere_problem(s, nearest_candidates(s, contacts), SphereModel{});
  p.name = "random-pile";
  return p;
}

std::vector<double> random_vector(std::size_t size, unsigned seed) {
  Random random(seed);
  std::vector<double> x(size);
  for (double& value : x) value = random.uniform(-1, 1);
  return x;
}

double inner(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double relative_difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double difference = 0, scale = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = std::max(difference, std::abs(a[i] - b[i]));
    if (std::isnan(a[i]) != std::isnan(b[i])) return std::nan("");
    scale = std::max(scale, std::abs(b[i]));
  }
  return scale > 0 ? difference / scale : difference;
}

}  // namespace ccp::test
