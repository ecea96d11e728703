#include "solvers/distributed/read_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "problems/base/error.hpp"
#include "problems/base/hdf5_file.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/partition/partition.hpp"
#include "solvers/distributed/row_import.hpp"

namespace ccp {
namespace {

using Numbers = std::vector<long long>;

/// What every rank must know of a file before rows are read.
struct Sizes {
  long long contacts = 0, bodies = 0;
};

Sizes sizes_of(const Hdf5File& file, const ContactProblem& head) {
  if (head.form != ContactProblem::Form::bodies) {
    throw InputError(file.path(), "form", "bodies, which alone can be spread over ranks",
                     to_string(head.form));
  }
  for (const char* const group : {"/rolling", "/equality"}) {
    if (file.has(group)) {
      throw InputError(file.path(), group, "contacts alone, which can be spread over ranks",
                       "other constraints");
    }
  }
  const auto rows = [&](const char* dataset) {
    const auto extents = file.shape(dataset);
    return extents.empty() ? 0 : static_cast<long long>(extents.front());
  };
  return {rows("/ccp/mu"), rows("/bodies/inverse_mass")};
}

void check_contacts(const std::string& path, const Sizes& sizes, int ranks) {
  if (sizes.contacts >= ranks) return;
  throw InputError(path, "contacts", fmt::format("at least as many as ranks, {}", ranks),
                   fmt::format("{}", sizes.contacts));
}

/// Rows of this rank's range, or nothing where an optional array is not there.
class RangeReader {
 public:
  RangeReader(const Hdf5File& file, const Ranks& ranks) : file_(file), ranks_(ranks) {}

  long long first(long long rows) const { return first_row(ranks_.rank(), ranks_.size(), rows); }
  long long count(long long rows) const {
    return first_row(ranks_.rank() + 1, ranks_.size(), rows) - first(rows);
  }

  /// Collective, for its errors.
  template <class T>
  std::vector<T> read(const std::string& dataset, long long rows,
                      const std::vector<std::size_t>& tail) const {
    std::vector<T> data;
    ranks_.together([&] {
      check_shape(file_, dataset, rows, tail);
      data = file_
                 .read_range<T>(dataset, static_cast<std::size_t>(first(rows)),
                                static_cast<std::size_t>(count(rows)))
                 .data;
    });
    return data;
  }

 private:
  static void check_shape(const Hdf5File& file, const std::string& dataset, long long rows,
                          const std::vector<std::size_t>& tail) {
    std::vector<std::size_t> expected{static_cast<std::size_t>(rows)};
    expected.insert(expected.end(), tail.begin(), tail.end());
    const std::vector<std::size_t> found = file.shape(dataset);
    if (found == expected) return;
    throw InputError(file.path(), dataset, fmt::format("shape [{}]", fmt::join(expected, ", ")),
                     fmt::format("[{}]", fmt::join(found, ", ")));
  }

  const Hdf5File& file_;
  const Ranks& ranks_;
};

Numbers unique_bodies(const std::vector<std::int32_t>& pairs) {
  Numbers bodies;
  for (const std::int32_t body : pairs) {
    if (body >= 0) bodies.push_back(body);
  }
  std::sort(bodies.begin(), bodies.end());
  bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
  return bodies;
}

/// Where a body is in an ascending list; -1 where it is not.
std::int32_t place_of(const Numbers& bodies, long long body) {
  const auto found = std::lower_bound(bodies.begin(), bodies.end(), body);
  return found != bodies.end() && *found == body ? static_cast<std::int32_t>(found - bodies.begin())
                                                 : -1;
}

/// The ranks that the bodies and the contacts of this rank's ranges belong to.
struct RangeRanks {
  std::vector<int> body, contact;
};

/// contiguous_partition() of what the ranks have read.
RangeRanks contiguous_ranks(const Ranks& ranks, const Sizes& sizes,
                            const std::vector<std::int32_t>& pairs) {
  const Numbers met = unique_bodies(pairs);
  const RowImport bodies(ranks, sizes.bodies, met);
  std::vector<std::int32_t> places(pairs.size());
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    places[k] = pairs[k] < 0 ? -1 : place_of(met, pairs[k]);
  }
  Numbers own_count(met.size(), 0);
  for (const std::int32_t place : places) {
    if (place >= 0) ++own_count[static_cast<std::size_t>(place)];
  }
  const Numbers count = bodies(bodies.add_up(own_count), 1);
  const auto home_of = [&](std::size_t c) {
    const std::int32_t a = places[2 * c], b = places[2 * c + 1];
    const auto count_of = [&](std::int32_t place) {
      return place < 0 ? 0 : count[static_cast<std::size_t>(place)];
    };
    return static_cast<std::size_t>(home_body(a, b, count_of(a), count_of(b)));
  };
  Numbers own_at_home(met.size(), 0);
  for (std::size_t c = 0; c < pairs.size() / 2; ++c) ++own_at_home[home_of(c)];
  const Numbers at_home = bodies.add_up(own_at_home);

  RangeRanks result;
  long long before = ranks.sum_before(std::accumulate(at_home.begin(), at_home.end(), 0LL));
  Numbers of_bodies;
  for (const long long own : at_home) {
    of_bodies.push_back(contiguous_rank(before, own, sizes.contacts, ranks.size()));
    before += own;
  }
  result.body.assign(of_bodies.begin(), of_bodies.end());
  const Numbers of_met = bodies(of_bodies, 1);
  for (std::size_t c = 0; c < pairs.size() / 2; ++c) {
    result.contact.push_back(static_cast<int>(of_met[home_of(c)]));
  }
  return result;
}

/// The numbers first, first + 1, ...
Numbers numbers_from(long long first, long long count) {
  Numbers numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

void check_pairs(const std::string& path, const std::vector<std::int32_t>& pairs, long long first,
                 long long bodies) {
  for (std::size_t c = 0; c < pairs.size() / 2; ++c) {
    const std::int32_t a = pairs[2 * c], b = pairs[2 * c + 1];
    if (std::min(a, b) >= -1 && std::max(a, b) < bodies && a != b) continue;
    throw InputError(path, fmt::format("/contacts/bodies[{}]", first + static_cast<long long>(c)),
                     fmt::format("two different bodies in [-1, {})", bodies),
                     fmt::format("({}, {})", a, b));
  }
}

/// Every rank must have opened the same file.
void check_same_file(const std::string& path, const Ranks& ranks, const Sizes& sizes,
                     const std::string& hash) {
  std::size_t digest = std::hash<std::string>()(hash);
  const double own[] = {static_cast<double>(digest % (1ULL << 52)),
                        static_cast<double>(sizes.contacts), static_cast<double>(sizes.bodies)};
  for (const double value : own) {
    if (ranks.largest(value) == -ranks.largest(-value)) continue;
    throw InputError(path, "", "the same file on all ranks", "different ones");
  }
}

}  // namespace

ContactPairs read_contact_pairs(const std::string& path) {
  const Hdf5File file = open_problem(path);
  const Sizes sizes = sizes_of(file, read_problem_head(file));
  ContactPairs pairs{static_cast<std::size_t>(sizes.bodies), file.has("/bodies/inverse_inertia"),
                     file.read<std::int32_t>("/contacts/bodies").data};
  check_pairs(path, pairs.bodies_of_contacts, 0, sizes.bodies);
  return pairs;
}

void check_for_ranks(const std::string& path, int ranks) {
  const Hdf5File file = open_problem(path);
  check_contacts(path, sizes_of(file, read_problem_head(file)), ranks);
}

ProblemPart read_part(const std::string& path, const Ranks& ranks, PartitionKind kind) {
  ProblemPart part;
  ContactProblem& problem = part.problem;
  std::optional<Hdf5File> opened;
  Sizes sizes;
  ranks.together([&] {
    opened.emplace(open_problem(path));
    problem = read_problem_head(*opened);
    part.hash = stored_hash(*opened);
    sizes = sizes_of(*opened, problem);
    check_contacts(path, sizes, ranks.size());
  });
  const Hdf5File& file = *opened;
  check_same_file(path, ranks, sizes, part.hash);

  const RangeReader reader(file, ranks);
  const long long first_contact = reader.first(sizes.contacts);
  const auto pairs = reader.read<std::int32_t>("/contacts/bodies", sizes.contacts, {2});
  ranks.together([&] { check_pairs(path, pairs, first_contact, sizes.bodies); });

  Distribution& distribution = part.distribution;
  distribution.ranks = ranks;
  distribution.contacts = sizes.contacts;
  distribution.bodies = sizes.bodies;
  const Numbers contact_range = numbers_from(first_contact, reader.count(sizes.contacts));
  const Numbers body_range = numbers_from(reader.first(sizes.bodies), reader.count(sizes.bodies));
  if (kind == PartitionKind::contiguous) {
    const RangeRanks to = contiguous_ranks(ranks, sizes, pairs);
    distribution.contact = sent_to_ranks(ranks, contact_range, to.contact);
    distribution.owned_body = sent_to_ranks(ranks, body_range, to.body);
  } else {
    distribution.contact = contact_range;
    distribution.owned_body = body_range;
  }

  const RowImport contacts(ranks, sizes.contacts, distribution.contact);
  const Numbers own_pairs = contacts(Numbers(pairs.begin(), pairs.end()), 2);
  const Numbers& owned = distribution.owned_body;
  for (const long long body : unique_bodies({own_pairs.begin(), own_pairs.end()})) {
    if (place_of(owned, body) < 0) distribution.ghost_body.push_back(body);
  }
  for (const long long body : own_pairs) {
    const std::int32_t place = body < 0 ? -1 : place_of(owned, body);
    const bool is_ghost = body >= 0 && place < 0;
    problem.contact_bodies.push_back(is_ghost ? static_cast<std::int32_t>(owned.size()) +
                                                    place_of(distribution.ghost_body, body)
                                              : place);
  }
  Numbers bodies = owned;
  bodies.insert(bodies.end(), distribution.ghost_body.begin(), distribution.ghost_body.end());
  const RowImport body_rows(ranks, sizes.bodies, bodies);

  const auto take = [&](const char* dataset, std::vector<std::size_t> tail, bool of_contacts,
                        std::vector<double>& target) {
    if (!file.has(dataset)) return;
    const std::size_t width =
        std::accumulate(tail.begin(), tail.end(), std::size_t{1}, std::multiplies<>());
    const long long rows = of_contacts ? sizes.contacts : sizes.bodies;
    target = (of_contacts ? contacts : body_rows)(reader.read<double>(dataset, rows, tail), width);
  };
  take("/ccp/mu", {}, true, problem.mu);
  take("/ccp/r", {3}, true, problem.r);
  take("/contacts/frame", {3, 3}, true, problem.frame);
  take("/contacts/arm_a", {3}, true, problem.arm_a);
  take("/contacts/arm_b", {3}, true, problem.arm_b);
  take("/contacts/compliance", {2}, true, problem.compliance);
  take("/contacts/stiffness", {2}, true, problem.stiffness);
  take("/bodies/inverse_mass", {}, false, problem.inverse_mass);
  take("/bodies/inverse_inertia", {3, 3}, false, problem.inverse_inertia);
  take("/bodies/position", {3}, false, problem.position);
  if (bodies.empty()) {  // see ProblemPart
    problem.inverse_mass.assign(1, 0.0);
    if (file.has("/bodies/inverse_inertia")) problem.inverse_inertia.assign(9, 0.0);
    if (file.has("/bodies/position")) problem.position.assign(3, 0.0);
  }
  if (file.has("/reference/gamma")) {
    Reference reference;
    reference.method = file.string_attribute("/reference", "method").value_or("");
    for (const std::string& name : file.attribute_names("/reference")) {
      if (name == "method") continue;
      const auto value = file.number_attribute("/reference", name);
      if (value && value->size() == 1) reference.measures[name] = value->front();
    }
    take("/reference/gamma", {3}, true, reference.gamma);
    problem.reference = std::move(reference);
  }
  ranks.together([&] {
    try {
      problem.validate(path);
    } catch (const InputError& error) {
      throw InputError(
          fmt::format("{} (rows of the part of rank {}; `ccpbench check` says which "
                      "of the file)",
                      error.what(), ranks.rank()));
    }
  });
  return part;
}

}  // namespace ccp
