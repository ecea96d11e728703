#include "solvers/linear/sparse_matrix.hpp"

#include <Tpetra_BlockCrsMatrix.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>
#include <stdexcept>

#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

using RowOffsets = CrsMatrix::crs_graph_type::local_graph_device_type::row_map_type;
using Columns = CrsMatrix::crs_graph_type::local_graph_device_type::entries_type;
using Offset = RowOffsets::non_const_value_type;

Teuchos::RCP<const Map> block_map(std::size_t rows, const Map& map) {
  return Teuchos::rcp(new Map(rows, 0, map.getComm()));
}

Teuchos::RCP<const CrsMatrix::crs_graph_type> make_graph(const Teuchos::RCP<const Map>& map,
                                                         const std::vector<Offset>& offsets,
                                                         const std::vector<int>& columns) {
  using Graph = CrsMatrix::crs_graph_type;
  const auto rows =
      upload<RowOffsets::non_const_type>("ccp::SparseMatrix::row_offsets", offsets, offsets.size());
  const auto entries = upload<Columns>("ccp::SparseMatrix::columns", columns, columns.size());
  auto graph = Teuchos::rcp(new Graph(map, map, RowOffsets(rows), entries));
  graph->fillComplete(map, map);
  return graph;
}

template <class Values>
void copy_values(const std::vector<double>& from, const Values& to) {
  const Transfer transfer;
  Kokkos::deep_copy(
      to, Kokkos::View<const double*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
              from.data(), from.size()));
}

Teuchos::RCP<BlockCrsMatrix> fill_block_crs(const Teuchos::RCP<const Map>& map, int block_size,
                                            const std::vector<Offset>& offsets,
                                            const std::vector<int>& columns,
                                            const std::vector<double>& values) {
  const auto graph = make_graph(block_map(offsets.size() - 1, *map), offsets, columns);
  auto block = Teuchos::rcp(new BlockCrsMatrix(*graph, *map, *map, block_size));
  copy_values(values, block->getValuesDeviceNonConst());
  return block;
}

Teuchos::RCP<CrsMatrix> fill_crs(const Teuchos::RCP<const Map>& map,
                                 const std::vector<Offset>& offsets,
                                 const std::vector<int>& columns,
                                 const std::vector<double>& values) {
  auto crs = Teuchos::rcp(new CrsMatrix(make_graph(map, offsets, columns)));
  crs->resumeFill();
  copy_values(values, crs->getLocalMatrixDevice().values);
  crs->fillComplete(map, map);
  return crs;
}

/// Entries row by row.
std::vector<double> scalar_values(const SquareBlocks& matrix) {
  const auto size = static_cast<std::size_t>(matrix.block_size);
  std::vector<double> values;
  values.reserve(matrix.values.size());
  for (std::size_t c = 0; c + 1 < matrix.offsets.size(); ++c) {
    for (std::size_t i = 0; i < size; ++i) {
      for (std::int64_t k = matrix.offsets[c]; k < matrix.offsets[c + 1]; ++k) {
        const double* const row = &matrix.values[size * (size * static_cast<std::size_t>(k) + i)];
        values.insert(values.end(), row, row + size);
      }
    }
  }
  return values;
}

/// The place of a column in a row.
template <class Graph>
int place_of(const Graph& graph, int row, int column) {
  const int* const begin = graph.entries.data() + graph.row_map(row);
  const int* const end = graph.entries.data() + graph.row_map(row + 1);
  const int* const at = std::lower_bound(begin, end, column);
  if (at == end || *at != column) {
    throw std::invalid_argument("sparse matrix: row " + std::to_string(row) +
                                " has no block that begins in column " + std::to_string(column));
  }
  return static_cast<int>(at - begin);
}

/// The place in its row of the first entry whose column is column_of(row).
template <class Graph, class Column>
std::vector<int> places(const Graph& graph, const Column& column_of) {
  std::vector<int> place(static_cast<std::size_t>(graph.numRows()));
  for (int row = 0; row < static_cast<int>(place.size()); ++row) {
    place[row] = place_of(graph, row, column_of(row));
  }
  return place;
}

/// Those of pairs of block rows, each of `size` rows, and of the transposed ones.
template <class Graph>
DeviceArray<const int*> places_of_pairs(const Graph& graph, int size,
                                        const std::vector<std::array<int, 2>>& pairs) {
  std::vector<int> place;
  for (const bool transposed : {false, true}) {
    for (const auto& pair : pairs) {
      const int row = pair[transposed ? 1 : 0], column = pair[transposed ? 0 : 1];
      for (int i = 0; i < size; ++i) {
        place.push_back(place_of(graph, size * row + i, size * column));
      }
    }
  }
  return upload<DeviceArray<int*>>("ccp::SparseMatrix::pair_places", place, place.size());
}

}  // namespace

Teuchos::RCP<CrsMatrix> make_crs(const BlockMatrix& matrix, const Teuchos::RCP<const Map>& map,
                                 const std::vector<std::array<int, 2>>& pairs) {
  const std::size_t n = matrix.row_offsets.size() - 1;
  std::vector<int> partner(n, -1);
  for (const auto& [first, second] : pairs) {
    partner[static_cast<std::size_t>(first)] = second;
    partner[static_cast<std::size_t>(second)] = first;
  }
  // The block that mirrors block k of row c; null where there is none.
  const auto mirror = [&](std::size_t c, std::int64_t k) -> const double* {
    const auto d = static_cast<std::size_t>(matrix.columns[k]);
    const auto begin = matrix.columns.begin() + matrix.row_offsets[d];
    const auto end = matrix.columns.begin() + matrix.row_offsets[d + 1];
    const auto at = std::lower_bound(begin, end, static_cast<int>(c));
    if (at == end || *at != static_cast<int>(c)) return nullptr;
    return &matrix.blocks[9 * static_cast<std::size_t>(at - matrix.columns.begin())];
  };
  std::vector<Offset> offsets{0};
  std::vector<int> columns;
  std::vector<double> values;
  offsets.reserve(3 * n + 1);
  for (std::size_t c = 0; c < n; ++c) {
    for (int i = 0; i < 3; ++i) {
      for (std::int64_t k = matrix.row_offsets[c]; k < matrix.row_offsets[c + 1]; ++k) {
        const bool diagonal = matrix.columns[k] == static_cast<int>(c);
        const double* const own = &matrix.blocks[9 * k];
        const double* const other = diagonal ? own : mirror(c, k);
        for (int j = 0; j < 3; ++j) {
          const bool zero = own[3 * i + j] == 0 && (other == nullptr || other[3 * j + i] == 0);
          if (zero && !diagonal && matrix.columns[k] != partner[c]) continue;
          columns.push_back(3 * matrix.columns[k] + j);
          values.push_back(own[3 * i + j]);
        }
      }
      offsets.push_back(static_cast<Offset>(columns.size()));
    }
  }
  return fill_crs(map, offsets, columns, values);
}

Teuchos::RCP<BlockCrsMatrix> make_block_crs(const BlockMatrix& matrix,
                                            const Teuchos::RCP<const Map>& map) {
  return fill_block_crs(map, 3, {matrix.row_offsets.begin(), matrix.row_offsets.end()},
                        {matrix.columns.begin(), matrix.columns.end()}, matrix.blocks);
}

Teuchos::RCP<CrsMatrix> make_crs(const SquareBlocks& matrix, const Teuchos::RCP<const Map>& map) {
  const std::size_t size = static_cast<std::size_t>(matrix.block_size);
  std::vector<Offset> offsets{0};
  std::vector<int> columns;
  for (std::size_t c = 0; c + 1 < matrix.offsets.size(); ++c) {
    for (std::size_t i = 0; i < size; ++i) {
      for (std::int64_t k = matrix.offsets[c]; k < matrix.offsets[c + 1]; ++k) {
        for (std::size_t j = 0; j < size; ++j) {
          columns.push_back(static_cast<int>(size * matrix.columns[k] + j));
        }
      }
      offsets.push_back(static_cast<Offset>(columns.size()));
    }
  }
  return fill_crs(map, offsets, columns, scalar_values(matrix));
}

Teuchos::RCP<BlockCrsMatrix> make_block_crs(const SquareBlocks& matrix,
                                            const Teuchos::RCP<const Map>& map) {
  return fill_block_crs(map, matrix.block_size, {matrix.offsets.begin(), matrix.offsets.end()},
                        matrix.columns, matrix.values);
}

void replace_values(const SquareBlocks& matrix, CrsMatrix& out) {
  copy_values(scalar_values(matrix), out.getLocalMatrixDevice().values);
}

void replace_values(const SquareBlocks& matrix, BlockCrsMatrix& out) {
  copy_values(matrix.values, out.getValuesDeviceNonConst());
}

DeviceArray<const int*> diagonal_places(const CrsMatrix& matrix) {
  const auto graph = matrix.getLocalMatrixHost().graph;
  return upload<DeviceArray<int*>>("ccp::SparseMatrix::diagonal_places",
                                   places(graph, [](int row) { return row - row % 3; }),
                                   static_cast<std::size_t>(graph.numRows()));
}

DeviceArray<const int*> diagonal_places(const BlockCrsMatrix& matrix) {
  const auto graph = matrix.getCrsGraph().getLocalGraphHost();
  return upload<DeviceArray<int*>>("ccp::SparseMatrix::diagonal_places",
                                   places(graph, [](int row) { return row; }),
                                   static_cast<std::size_t>(graph.numRows()));
}

DeviceArray<const int*> pair_places(const CrsMatrix& matrix,
                                    const std::vector<std::array<int, 2>>& pairs) {
  return places_of_pairs(matrix.getLocalMatrixHost().graph, 3, pairs);
}
DeviceArray<const int*> pair_places(const BlockCrsMatrix& matrix,
                                    const std::vector<std::array<int, 2>>& pairs) {
  return places_of_pairs(matrix.getCrsGraph().getLocalGraphHost(), 1, pairs);
}

void replace_pairs(const PairBlocks& pairs, const DeviceArray<const int*>& place,
                   CrsMatrix& matrix) {
  const auto local = matrix.getLocalMatrixDevice();
  const auto values = local.values;
  const auto offset = local.graph.row_map;
  const int count = pairs.size();
  Kokkos::parallel_for(
      "ccp::SparseMatrix::replace_pairs", range(count), KOKKOS_LAMBDA(const int k) {
        const double* const a = pairs.block(k).a;
        const int first = 3 * pairs.first(k), second = 3 * pairs.second(k);
        for (int i = 0; i < 3; ++i) {
          const Offset at = offset(first + i) + place(3 * k + i),
                       mirrored = offset(second + i) + place(3 * (count + k) + i);
          for (int j = 0; j < 3; ++j) {
            values(at + j) = a[3 * i + j];
            values(mirrored + j) = a[3 * j + i];
          }
        }
      });
}

void replace_pairs(const PairBlocks& pairs, const DeviceArray<const int*>& place,
                   BlockCrsMatrix& matrix) {
  const auto values = matrix.getValuesDeviceNonConst();
  const auto offset = matrix.getCrsGraph().getLocalGraphDevice().row_map;
  const int count = pairs.size();
  Kokkos::parallel_for(
      "ccp::SparseMatrix::replace_pairs", range(count), KOKKOS_LAMBDA(const int k) {
        const double* const a = pairs.block(k).a;
        const Offset at = 9 * (offset(pairs.first(k)) + place(k)),
                     mirrored = 9 * (offset(pairs.second(k)) + place(count + k));
        for (int i = 0; i < 3; ++i) {
          for (int j = 0; j < 3; ++j) {
            values(at + 3 * i + j) = a[3 * i + j];
            values(mirrored + 3 * i + j) = a[3 * j + i];
          }
        }
      });
}

void replace_diagonal(const DeviceArray<const Sym3*>& d, const DeviceArray<const int*>& place,
                      CrsMatrix& matrix) {
  const auto local = matrix.getLocalMatrixDevice();
  const auto values = local.values;
  const auto offset = local.graph.row_map;
  Kokkos::parallel_for(
      "ccp::SparseMatrix::replace_diagonal", range(d.extent(0)), KOKKOS_LAMBDA(const int c) {
        double a[9];
        expand(d(c), a);
        for (int i = 0; i < 3; ++i) {
          const Offset at = offset(3 * c + i) + place(3 * c + i);
          for (int j = 0; j < 3; ++j) values(at + j) = a[3 * i + j];
        }
      });
}

void replace_diagonal(const DeviceArray<const Sym3*>& d, const DeviceArray<const int*>& place,
                      BlockCrsMatrix& matrix) {
  const auto values = matrix.getValuesDeviceNonConst();
  const auto offset = matrix.getCrsGraph().getLocalGraphDevice().row_map;
  Kokkos::parallel_for(
      "ccp::SparseMatrix::replace_diagonal", range(d.extent(0)), KOKKOS_LAMBDA(const int c) {
        double a[9];
        expand(d(c), a);
        const Offset at = 9 * (offset(c) + place(c));
        for (int k = 0; k < 9; ++k) values(at + k) = a[k];
      });
}

}  // namespace ccp
