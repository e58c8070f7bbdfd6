/* The inner loops of GALM on a CPU, in float32 and without padding; kernels.py calls them and says what they compute.
 *
 * Rows are contiguous and their widths multiples of LANES. The blocks of a word vector are interleaved (entry k of
 * every block, then entry k + 1 of every block), so that sums over a block need no sum across lanes. Work is divided
 * by contexts in fixed shares, and each thread adds up in a place of its own: as many threads, the same numbers.
 */
#include "queries.h"
