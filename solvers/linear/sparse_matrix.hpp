#pragma once

#include <Tpetra_BlockCrsMatrix_fwd.hpp>
#include <Tpetra_CrsMatrix_fwd.hpp>

#include <array>
#include <vector>

#include "problems/base/sym3.hpp"
#include "problems/model/contact_problem.hpp"
#include "solvers/core/constraint_map.hpp"
#include "solvers/core/trilinos.hpp"
#include "solvers/linear/pair_blocks.hpp"

namespace ccp {

using CrsMatrix = Tpetra::CrsMatrix<double>;            ///< 3n x 3n, scalar entries
using BlockCrsMatrix = Tpetra::BlockCrsMatrix<double>;  ///< n x n blocks of 3 x 3

/// The matrix as Tpetra's. Values may change afterwards where they are stored, the structure may
/// not. The scalar form stores the diagonal blocks whole; elsewhere it leaves out an entry that is
/// zero together with its mirror image: bodies that do not rotate have multiples of the identity
/// there. The block form stores whole blocks. Columns ascend in every row.
/// @param map    of 3n entries, held by one process
/// @param pairs  of rows and columns whose blocks, which there must be, are stored whole, too
Teuchos::RCP<CrsMatrix> make_crs(const BlockMatrix& matrix, const Teuchos::RCP<const Map>& map,
                                 const std::vector<std::array<int, 2>>& pairs = {});
Teuchos::RCP<BlockCrsMatrix> make_block_crs(const BlockMatrix& matrix,
                                            const Teuchos::RCP<const Map>& map);

/// Square blocks of one size by rows: columns ascending, both triangles, blocks row-major.
struct SquareBlocks {
  int block_size = 3;
  std::vector<std::int64_t> offsets{0};  ///< [rows + 1]
  std::vector<int> columns;              ///< [blocks]
  std::vector<double> values;            ///< [blocks][block_size][block_size]
};

/// The same for blocks of any size. All entries are kept, so that values may be replaced by any
/// others on the same blocks. @param map  of block_size * rows entries, held by one process
Teuchos::RCP<CrsMatrix> make_crs(const SquareBlocks& matrix, const Teuchos::RCP<const Map>& map);
Teuchos::RCP<BlockCrsMatrix> make_block_crs(const SquareBlocks& matrix,
                                            const Teuchos::RCP<const Map>& map);
void replace_values(const SquareBlocks& matrix, CrsMatrix& out);
void replace_values(const SquareBlocks& matrix, BlockCrsMatrix& out);

/// Where the diagonal blocks of such a matrix begin in their rows: [3n], [n].
DeviceArray<const int*> diagonal_places(const CrsMatrix& matrix);
DeviceArray<const int*> diagonal_places(const BlockCrsMatrix& matrix);

/// Where the blocks (row, column) of the pairs begin in their rows, then those of (column, row):
/// [6 pairs], [2 pairs]. @throws std::invalid_argument where there is no such block
DeviceArray<const int*> pair_places(const CrsMatrix& matrix,
                                    const std::vector<std::array<int, 2>>& pairs);
DeviceArray<const int*> pair_places(const BlockCrsMatrix& matrix,
                                    const std::vector<std::array<int, 2>>& pairs);

/// Writes the blocks of the pairs over those of the matrix, and their transposes.
void replace_pairs(const PairBlocks& pairs, const DeviceArray<const int*>& place,
                   CrsMatrix& matrix);
void replace_pairs(const PairBlocks& pairs, const DeviceArray<const int*>& place,
                   BlockCrsMatrix& matrix);

/// Writes the diagonal blocks d [n] over those of the matrix.
void replace_diagonal(const DeviceArray<const Sym3*>& d, const DeviceArray<const int*>& place,
                      CrsMatrix& matrix);
void replace_diagonal(const DeviceArray<const Sym3*>& d, const DeviceArray<const int*>& place,
                      BlockCrsMatrix& matrix);

}  // namespace ccp
