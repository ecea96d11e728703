#include "problems/geometry/box_box.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "problems/geometry/box_pairs.hpp"

namespace ccp {
namespace {

/// Of lengths, relative to the boxes: what is taken for rounding.
constexpr double rounding = 1e-10;
/// Cosine of the angle up to which a face is preferred to edges.
constexpr double flat = 0.999;

// ---- numbers of features -----------------------------------------------------------------------
// A corner has a bit for each axis (box_corner). A face is 2 axis + (1 where positive). An edge is
// 4 axis + the bits of the two other axes, the lower one first.

int corner_on_face(bool corner_is_b, int corner, int face) {
  return (corner_is_b ? 0 : 48) + 6 * corner + face;
}
int edge_on_edge(int edge_a, int edge_b) {
  return 96 + 12 * edge_a + edge_b;
}
int corner_at_corner(int corner_a, int corner_b) {
  return 240 + 8 * corner_a + corner_b;
}
int corner_at_edge(bool corner_is_b, int corner, int edge) {
  return (corner_is_b ? 304 : 400) + 12 * corner + edge;
}
int quarter_on_quarter(int face_a, int quarter_a, int face_b, int quarter_b) {
  return 496 + 24 * (4 * face_a + quarter_a) + 4 * face_b + quarter_b;  // < 1072
}
/// The edge along an axis at a corner (whose bit of that axis does not matter).
int edge_at(int axis, int corner) {
  const int low = axis == 0 ? 1 : 0, high = axis == 2 ? 1 : 2;
  return 4 * axis + (corner >> low & 1) + 2 * (corner >> high & 1);
}

double reach(const PlacedShape& box, const Vec3& n) {
  double sum = 0;
  for (int k = 0; k < 3; ++k) sum += box.shape.size[k] * std::abs(dot(box.axes[k], n));
  return sum;
}
double size_of(const PlacedShape& box) {
  return box.shape.size[0] + box.shape.size[1] + box.shape.size[2];
}
/// The corner that is farthest along n.
int farthest_corner(const PlacedShape& box, const Vec3& n) {
  int corner = 0;
  for (int k = 0; k < 3; ++k) corner |= (dot(box.axes[k], n) > 0 ? 1 : 0) << k;
  return corner;
}

// ---- axes that separate ------------------------------------------------------------------------

struct Axis {
  Vec3 normal;  ///< unit, from A to B
  double separation = -std::numeric_limits<double>::infinity();
  int a = -1, b = -1;  ///< axis of A, of B: one of them for a face, both for edges
};

/// Both boxes, A's centre the origin: nothing depends on where they are, not even roundings.
struct Boxes {
  PlacedShape a, b;
  double tolerance;  ///< m
  Axis face, edge;

  Boxes(const PlacedShape& first, const PlacedShape& second) : a(first), b(second) {
    b.position = second.position - first.position;
    a.position = {};
    tolerance = rounding * (size_of(a) + size_of(b));
    for (int k = 0; k < 3; ++k) take(face, a.axes[k], k, -1);
    for (int k = 0; k < 3; ++k) take(face, b.axes[k], -1, k);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        const Vec3 across = cross(a.axes[i], b.axes[j]);
        const double sine = norm(across);
        // Parallel edges separate nothing that faces do not.
        if (sine > 1e-8) take(edge, 1 / sine * across, i, j);
      }
    }
  }
  double separation() const { return std::max(face.separation, edge.separation); }
  bool edges_win() const { return edge.separation > face.separation + tolerance; }

 private:
  void take(Axis& best, const Vec3& axis, int i, int j) const {
    const double along = dot(axis, b.position);
    const double apart = std::abs(along) - reach(a, axis) - reach(b, axis);
    // Among axes that are equal to rounding the first one is taken, in every step.
    if (apart <= best.separation + tolerance) return;
    best = {along < 0 ? -1 * axis : axis, apart, i, j};
  }
};

// ---- a face on a face --------------------------------------------------------------------------

/// A face of a box, or a quarter of one.
struct Face {
  int axis, side;       ///< side 1: the positive one
  Vec3 normal, centre;  ///< outwards
  int along[2];         ///< the two other axes, the lower one first
  Vec3 half[2];         ///< m, half edges along these

  int number() const { return 2 * axis + side; }
  /// The corner of the box at the signs of half[0] and half[1].
  int corner(bool first, bool second) const {
    return side << axis | int(first) << along[0] | int(second) << along[1];
  }
  Face quarter(int q) const {
    Face part = *this;
    part.half[0] = 0.5 * half[0], part.half[1] = 0.5 * half[1];
    part.centre = centre + (q & 1 ? 1 : -1) * part.half[0] + (q & 2 ? 1 : -1) * part.half[1];
    return part;
  }
};

Face face_of(const PlacedShape& box, int axis, int side) {
  Face face;
  face.axis = axis, face.side = side;
  face.normal = (side ? 1 : -1) * box.axes[axis];
  face.centre = box.position + box.shape.size[axis] * face.normal;
  face.along[0] = axis == 0 ? 1 : 0, face.along[1] = axis == 2 ? 1 : 2;
  for (int k = 0; k < 2; ++k) {
    face.half[k] = box.shape.size[face.along[k]] * box.axes[face.along[k]];
  }
  return face;
}

/// The face whose outward normal is nearest to n; the first of equal ones, to rounding.
Face face_towards(const PlacedShape& box, const Vec3& n) {
  int axis = 0;
  for (int k = 1; k < 3; ++k) {
    if (std::abs(dot(box.axes[k], n)) > std::abs(dot(box.axes[axis], n)) + rounding) axis = k;
  }
  return face_of(box, axis, dot(box.axes[axis], n) > 0 ? 1 : 0);
}

// The four edges of a face, anticlockwise in (half[0], half[1]); corner k begins edge k.
constexpr bool corner_first[4] = {false, true, true, false};
constexpr bool corner_second[4] = {false, false, true, true};

/// A convex polygon with at most eight corners; an edge leaves each.
struct Polygon {
  struct Corner {
    Vec3 point;
    int edge;  ///< 0-3: of the incident face; 4-7: of the reference face
  };
  int count = 0;
  std::array<Corner, 8> corner;
  void add(const Vec3& point, int edge) {
    if (count < 8) corner[static_cast<std::size_t>(count++)] = {point, edge};
  }
  /// The edge that arrives at a corner.
  int before(int k) const {
    return corner[static_cast<std::size_t>(k == 0 ? count - 1 : k - 1)].edge;
  }
};

/// What of the incident face lies above the reference face (Sutherland & Hodgman 1974).
Polygon clip(const Face& incident, const Face& reference, double tolerance) {
  Polygon polygon;
  for (int k = 0; k < 4; ++k) {
    polygon.add(incident.centre + (corner_first[k] ? 1 : -1) * incident.half[0] +
                    (corner_second[k] ? 1 : -1) * incident.half[1],
                k);
  }
  for (int side = 0; side < 4; ++side) {
    // Edge 0 runs along half[0] at the negative end of half[1], and so on.
    const Vec3& across = reference.half[side % 2 == 0 ? 1 : 0];
    const double length = norm(across);
    const Vec3 outwards = (side == 0 || side == 3 ? -1 : 1) / length * across;
    const auto outside = [&](const Vec3& p) {
      return dot(outwards, p - reference.centre) - length;
    };
    Polygon kept;
    for (int k = 0; k < polygon.count; ++k) {
      const auto& from = polygon.corner[static_cast<std::size_t>(k)];
      const auto& to = polygon.corner[static_cast<std::size_t>((k + 1) % polygon.count)];
      const double start = outside(from.point), end = outside(to.point);
      const bool start_in = start <= tolerance, end_in = end <= tolerance;
      if (start_in) kept.add(from.point, from.edge);
      if (start_in == end_in) continue;
      const double part = std::clamp(start / (start - end), 0.0, 1.0);
      const Vec3 crossing = from.point + part * (to.point - from.point);
      // Going out, the next edge is the reference's; coming in, the old one goes on.
      kept.add(crossing, start_in ? 4 + side : from.edge);
    }
    polygon = kept;
  }
  return polygon;
}

/// Which features meet in a corner of the polygon.
int feature_of(const Polygon& polygon, int k, const Face& incident, const Face& reference,
               bool reference_is_a) {
  const int in = polygon.before(k), out = polygon.corner[static_cast<std::size_t>(k)].edge;
  const auto edge_number = [](const Face& face, int edge) {
    return edge_at(face.along[edge % 2], face.corner(corner_first[edge], corner_second[edge]));
  };
  // The corner at which one edge ends and the next begins; they come in either order.
  const auto corner_number = [](const Face& face, int one, int other) {
    const int k = (one + 1) % 4 == other ? other : one;
    return face.corner(corner_first[k], corner_second[k]);
  };
  if (in < 4 && out < 4) {
    return corner_on_face(reference_is_a, corner_number(incident, in, out), reference.number());
  }
  if (in >= 4 && out >= 4) {
    return corner_on_face(!reference_is_a, corner_number(reference, in - 4, out - 4),
                          incident.number());
  }
  const int own = edge_number(incident, in < 4 ? in : out);
  const int other = edge_number(reference, (in < 4 ? out : in) - 4);
  return reference_is_a ? edge_on_edge(other, own) : edge_on_edge(own, other);
}

/// Both faces of a contact, and which is which.
struct FacePair {
  Face reference, incident;
  bool reference_is_a;

  FacePair(const Boxes& boxes, const Axis& axis)
      : reference(face_towards(axis.a >= 0 ? boxes.a : boxes.b,
                               axis.a >= 0 ? axis.normal : -1 * axis.normal)),
        incident(face_towards(axis.a >= 0 ? boxes.b : boxes.a, -1 * reference.normal)),
        reference_is_a(axis.a >= 0) {}

  /// A point of the incident face against the reference face.
  Proximity at(const Vec3& point) const {
    const double gap = dot(reference.normal, point - reference.centre);
    const Vec3 foot = point - gap * reference.normal;
    if (reference_is_a) return {gap, reference.normal, foot, point};
    return {gap, -1 * reference.normal, point, foot};
  }
};

struct Candidates {
  int count = 0;
  std::array<ContactPoint, 8> point;
  /// One of those that roundings have doubled is enough.
  void add(int feature, const Proximity& where) {
    for (int k = 0; k < count; ++k) {
      if (point[static_cast<std::size_t>(k)].feature == feature) return;
    }
    point[static_cast<std::size_t>(count++)] = {feature, where};
  }
};

/// At most four of them: the deepest, the one farthest from it, and the two that span the largest
/// areas on either side of the line through these.
void keep_four(const Candidates& found, const Vec3& normal, double tolerance,
               ContactPoints& points) {
  if (found.count <= 4) {
    for (int k = 0; k < found.count; ++k) {
      const ContactPoint& p = found.point[static_cast<std::size_t>(k)];
      points.add(p.feature, p.where);
    }
    return;
  }
  std::array<bool, 8> taken{};
  const auto place = [&](int k) { return found.point[static_cast<std::size_t>(k)].where.point_a; };
  const auto take_best = [&](const auto& merit, double least) {
    int best = -1;
    for (int k = 0; k < found.count; ++k) {
      if (taken[static_cast<std::size_t>(k)] || !(merit(k) > least)) continue;
      best = k, least = merit(k) + tolerance;
    }
    if (best < 0) return -1;
    taken[static_cast<std::size_t>(best)] = true;
    const ContactPoint& p = found.point[static_cast<std::size_t>(best)];
    points.add(p.feature, p.where);
    return best;
  };
  constexpr double any = -std::numeric_limits<double>::infinity();
  const int first =
      take_best([&](int k) { return -found.point[static_cast<std::size_t>(k)].where.gap; }, any);
  const int second = take_best([&](int k) { return norm(place(k) - place(first)); }, any);
  const Vec3 line = place(second) - place(first);
  const auto area = [&](int k) { return dot(normal, cross(line, place(k) - place(first))); };
  take_best(area, tolerance * norm(line));
  take_best([&](int k) { return -area(k); }, tolerance * norm(line));
}

/// Contact points of a face. @return the smallest gap; infinite where the faces have no part in
/// common
double face_points(const Boxes& boxes, const Axis& axis, double cutoff, ContactPoints& points) {
  const FacePair faces(boxes, axis);
  const Polygon polygon = clip(faces.incident, faces.reference, boxes.tolerance);
  Candidates found;
  double smallest = std::numeric_limits<double>::infinity();
  for (int k = 0; k < polygon.count; ++k) {
    const Proximity where = faces.at(polygon.corner[static_cast<std::size_t>(k)].point);
    smallest = std::min(smallest, where.gap);
    if (where.gap > cutoff) continue;
    found.add(feature_of(polygon, k, faces.incident, faces.reference, faces.reference_is_a), where);
  }
  keep_four(found, faces.reference.normal, boxes.tolerance, points);
  return smallest;
}

/// The middle of a polygon's area; @return false if it has none.
bool centroid(const Polygon& polygon, const Vec3& normal, double smallest_area, Vec3& middle) {
  if (polygon.count < 3) return false;
  const Vec3 origin = polygon.corner[0].point;
  double area = 0;
  Vec3 moment;
  for (int k = 1; k + 1 < polygon.count; ++k) {
    const Vec3 p = polygon.corner[static_cast<std::size_t>(k)].point - origin;
    const Vec3 q = polygon.corner[static_cast<std::size_t>(k) + 1].point - origin;
    const double part = 0.5 * dot(normal, cross(p, q));
    area += part;
    moment = moment + part / 3 * (p + q);
  }
  if (!(std::abs(area) > smallest_area)) return false;
  middle = origin + 1 / area * moment;
  return true;
}

void quarter_points(const Boxes& boxes, const Axis& axis, double cutoff, ContactPoints& points) {
  const FacePair faces(boxes, axis);
  for (int r = 0; r < 4; ++r) {
    const Face reference = faces.reference.quarter(r);
    const double area = 4 * norm(reference.half[0]) * norm(reference.half[1]);
    for (int i = 0; i < 4; ++i) {
      const Polygon polygon = clip(faces.incident.quarter(i), reference, 0);
      Vec3 middle;
      if (!centroid(polygon, reference.normal, 1e-6 * area, middle)) continue;
      const Proximity where = faces.at(middle);
      if (where.gap > cutoff) continue;
      const int one = faces.reference.number(), other = faces.incident.number();
      points.add(faces.reference_is_a ? quarter_on_quarter(one, r, other, i)
                                      : quarter_on_quarter(other, i, one, r),
                 where);
    }
  }
}

// ---- edges and corners -------------------------------------------------------------------------

struct Segment {
  Vec3 middle, direction;  ///< unit
  double half;             ///< m
};
Segment edge_segment(const PlacedShape& box, int axis, int corner) {
  const Vec3 end = box_corner(box, corner);
  const double half = box.shape.size[axis];
  return {end - ((corner >> axis & 1) ? half : -half) * box.axes[axis], box.axes[axis], half};
}

/// Nearest points of two lines that are not parallel, or of the segments' ends where they are
/// beyond;
/// @return whether they are on the segments.
bool cross_inside(const Segment& a, const Segment& b, Vec3& on_a, Vec3& on_b) {
  const Vec3 between = b.middle - a.middle;
  const double cosine = dot(a.direction, b.direction);
  const Vec3 across = cross(a.direction, b.direction);
  const double squared_sine = dot(across, across);
  if (!(squared_sine > 1e-16)) return false;
  const double da = dot(between, a.direction), db = dot(between, b.direction);
  const double s = (da - cosine * db) / squared_sine, t = (cosine * da - db) / squared_sine;
  on_a = a.middle + std::clamp(s, -a.half, a.half) * a.direction;
  on_b = b.middle + std::clamp(t, -b.half, b.half) * b.direction;
  return std::abs(s) <= a.half && std::abs(t) <= b.half;
}

/// The two edges of an edge axis. @return whether they cross inside both
bool crossing_edges(const Boxes& boxes, ContactPoint& point) {
  const Axis& axis = boxes.edge;
  if (axis.a < 0) return false;  // all edges are parallel to some of the other box
  const int corner_a = farthest_corner(boxes.a, axis.normal);
  const int corner_b = farthest_corner(boxes.b, -1 * axis.normal);
  Vec3 on_a, on_b;
  const bool inside = cross_inside(edge_segment(boxes.a, axis.a, corner_a),
                                   edge_segment(boxes.b, axis.b, corner_b), on_a, on_b);
  const Vec3 middle = 0.5 * (on_a + on_b), half = 0.5 * axis.separation * axis.normal;
  point = {edge_on_edge(edge_at(axis.a, corner_a), edge_at(axis.b, corner_b)),
           {axis.separation, axis.normal, middle - half, middle + half}};
  return inside;
}

/// Nearest points of boxes that are apart: a feature, and where.
struct Nearest {
  double distance = std::numeric_limits<double>::infinity();
  int feature = 0;
  Vec3 on_a, on_b;
};

/// The nearest point of a box to a corner of the other one.
Nearest corner_to_box(const Boxes& boxes, bool corner_is_b, int corner) {
  const PlacedShape& box = corner_is_b ? boxes.a : boxes.b;
  const Vec3 point = box_corner(corner_is_b ? boxes.b : boxes.a, corner);
  Vec3 foot = box.position;
  int outside = 0, near = 0, axis_along = 0, axis_across = 0;
  for (int k = 0; k < 3; ++k) {
    const double x = dot(box.axes[k], point - box.position), half = box.shape.size[k];
    foot = foot + std::clamp(x, -half, half) * box.axes[k];
    if (std::abs(x) > half) {
      ++outside, axis_across = k;
    } else {
      axis_along = k;
    }
    near |= (x > 0 ? 1 : 0) << k;
  }
  Nearest found;
  found.distance = norm(point - foot);
  found.on_a = corner_is_b ? foot : point;
  found.on_b = corner_is_b ? point : foot;
  if (outside == 3) {
    found.feature = corner_is_b ? corner_at_corner(near, corner) : corner_at_corner(corner, near);
  } else if (outside == 2) {
    found.feature = corner_at_edge(corner_is_b, corner, edge_at(axis_along, near));
  } else {
    found.feature =
        corner_on_face(corner_is_b, corner, 2 * axis_across + (near >> axis_across & 1));
  }
  return found;
}

template <class Take>
void for_each_corner(const Boxes& boxes, const Take& take) {
  for (const bool corner_is_b : {true, false}) {
    for (int corner = 0; corner < 8; ++corner) take(corner_to_box(boxes, corner_is_b, corner));
  }
}

/// By trying all corners with the other box, and all edges with each other.
Nearest nearest_points(const Boxes& boxes) {
  Nearest best;
  const auto take = [&](const Nearest& found) {
    if (found.distance < best.distance - 1e-3 * boxes.tolerance) best = found;
  };
  for_each_corner(boxes, take);
  for (int edge_a = 0; edge_a < 12; ++edge_a) {
    for (int edge_b = 0; edge_b < 12; ++edge_b) {
      const auto segment = [](const PlacedShape& box, int edge) {
        const int axis = edge / 4, low = axis == 0 ? 1 : 0, high = axis == 2 ? 1 : 2;
        return edge_segment(box, axis, (edge & 1) << low | (edge >> 1 & 1) << high);
      };
      Nearest found;
      if (!cross_inside(segment(boxes.a, edge_a), segment(boxes.b, edge_b), found.on_a,
                        found.on_b)) {
        continue;
      }
      found.distance = norm(found.on_b - found.on_a);
      found.feature = edge_on_edge(edge_a, edge_b);
      take(found);
    }
  }
  return best;
}

/// Nearest points with their normal, or the separating axis where they nearly agree.
ContactPoint nearest_point(const Boxes& boxes, const Nearest& nearest) {
  const Axis& axis = boxes.edges_win() ? boxes.edge : boxes.face;
  const bool agree = nearest.distance < 1e-2 * boxes.tolerance;
  const Vec3 normal = agree ? axis.normal : 1 / nearest.distance * (nearest.on_b - nearest.on_a);
  return {nearest.feature,
          {nearest.distance, normal, nearest.on_b - nearest.distance * normal, nearest.on_b}};
}

/// Contact points of boxes whose nearest points are a corner and an edge or a corner, or two edges:
/// the ends of what parallel edges share.
void edge_points(const Boxes& boxes, const ContactPoint& nearest, double cutoff,
                 ContactPoints& points) {
  ContactPoint other = nearest;
  double farthest = boxes.tolerance;
  for_each_corner(boxes, [&](const Nearest& found) {
    if (found.feature == nearest.feature || found.distance > cutoff) return;
    const double gap = dot(nearest.where.normal, found.on_b - found.on_a);
    const double away = norm(found.on_a - nearest.where.point_a);
    if (gap < flat * found.distance || away <= farthest) return;
    farthest = away + boxes.tolerance;
    other = {found.feature,
             {gap, nearest.where.normal, found.on_b - gap * nearest.where.normal, found.on_b}};
  });
  points.add(nearest.feature, nearest.where);
  if (other.feature != nearest.feature) points.add(other.feature, other.where);
}

void move(const Vec3& by, Proximity& where) {
  where.point_a = where.point_a + by;
  where.point_b = where.point_b + by;
}

}  // namespace

Proximity box_box(const PlacedShape& a, const PlacedShape& b) {
  const Boxes boxes(a, b);
  Proximity where;
  if (boxes.separation() > 0) {
    where = nearest_point(boxes, nearest_points(boxes)).where;
  } else if (boxes.edges_win()) {
    ContactPoint point;
    crossing_edges(boxes, point);
    where = point.where;
  } else {
    ContactPoints points;
    face_points(boxes, boxes.face, std::numeric_limits<double>::infinity(), points);
    // The deepest corner, should roundings have clipped all away.
    const Vec3& n = boxes.face.normal;
    const double gap = boxes.face.separation;
    const Vec3 deepest = box_corner(boxes.b, farthest_corner(boxes.b, -1 * n));
    where = {gap, n, deepest - gap * n, deepest};
    if (points.size() > 0) {
      const Proximity& first =
          std::min_element(points.begin(), points.end(), [](const auto& x, const auto& y) {
            return x.where.gap < y.where.gap;
          })->where;
      where = {gap, n, first.point_a, first.point_a + gap * n};
    }
  }
  move(a.position, where);
  return where;
}

void box_box_points(const PlacedShape& a, const PlacedShape& b, const PointOptions& options,
                    ContactPoints& points) {
  const Boxes boxes(a, b);
  const double separation = boxes.separation();
  if (separation > options.cutoff) return;
  const bool as_faces = !boxes.edges_win() || dot(boxes.edge.normal, boxes.face.normal) > flat;
  if (as_faces) {
    const double smallest = face_points(boxes, boxes.face, options.cutoff, points);
    // Apart, the faces may lie beside each other: then it is their edges or corners that are near.
    const double off = boxes.edges_win() ? (1 / flat - 1) * separation : 0;
    if (separation > 0 && smallest > separation + off + boxes.tolerance) points.clear();
    if (points.size() > 0 && options.face_division == 2) {
      ContactPoints quarters;
      quarter_points(boxes, boxes.face, options.cutoff, quarters);
      if (quarters.size() > 0) points = quarters;
    }
  }
  if (points.size() == 0) {
    ContactPoint point;
    if (crossing_edges(boxes, point) && (separation <= 0 || boxes.edges_win())) {
      points.add(point.feature, point.where);
    } else if (separation > 0) {
      point = nearest_point(boxes, nearest_points(boxes));
      if (point.where.gap <= options.cutoff) edge_points(boxes, point, options.cutoff, points);
    } else {
      points.add(0, box_box(boxes.a, boxes.b));
    }
  }
  for (ContactPoint& point : points) move(a.position, point.where);
}

}  // namespace ccp
