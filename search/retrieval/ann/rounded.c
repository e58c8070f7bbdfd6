/* The inner loop of rounded.py: exact inner products of whole numbers. */
#include <stdint.h>

/* out[r] = sum over k of rows[r][k] * query[k]; the caller scales the query so that no sum overflows. */
void inner_products(const int8_t *rows, const int16_t *query, int32_t *out, int64_t count, int64_t dim) {
    for (int64_t r = 0; r < count; r++) {
        const int8_t *row = rows + r * dim;
        int32_t sum = 0;
        for (int64_t k = 0; k < dim; k++) sum += row[k] * query[k];
        out[r] = sum;
    }
}
