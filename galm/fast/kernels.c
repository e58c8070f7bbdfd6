/* The inner loops of GALM on a CPU, in float32 and without padding; kernels.py calls them and says what they compute.
 *
 * Rows are contiguous and their widths multiples of LANES. The blocks of a word vector are interleaved (entry k of
 * every block, then entry k + 1 of every block), so that sums over a block need no sum across lanes. Work is divided
 * by contexts in fixed shares, and each thread adds up in a place of its own: as many threads, the same numbers.
 * With OpenMP these are the kernels of batches, without it that of one query: each library is compiled in half the time.
 */
#ifdef _OPENMP
#include "convolutions.h"
#include "cosines.h"
#include "readings.h"
#else
#include "queries.h"
#endif
