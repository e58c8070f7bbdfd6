/* The inner loops of exact.py: exact inner products of whole numbers, and those of rows in half precision. */
#include <stdint.h>
#include <string.h>

/* out[r] = sum over k of rows[r][k] * query[k]; the caller scales the query so that no sum overflows. */
void inner_products(const int8_t *rows, const int16_t *query, int32_t *out, int64_t count, int64_t dim) {
    for (int64_t r = 0; r < count; r++) {
        const int8_t *row = rows + r * dim;
        int32_t sum = 0;
        for (int64_t k = 0; k < dim; k++) sum += row[k] * query[k];
        out[r] = sum;
    }
}

/* A finite number of half precision: the bits of exponent and fraction, moved to their places, are it divided by 2^112. */
static inline float single(uint16_t half) {
    uint32_t bits = (uint32_t)(half & 0x7FFF) << 13;
    float found;
    memcpy(&found, &bits, 4);
    return (half & 0x8000 ? -0x1p112f : 0x1p112f) * found;
}

#define SUMS 16

/* out[i] = sum over k of vectors[rows[i]][k] * query[k], summed in the same order for every row. */
void half_products(const uint16_t *vectors, const int64_t *rows, const float *query, float *out, int64_t count, int64_t dim) {
    for (int64_t i = 0; i < count; i++) {
        const uint16_t *row = vectors + rows[i] * dim;
        float sums[SUMS] = {0}, sum = 0;
        int64_t k = 0;
        for (; k + SUMS <= dim; k += SUMS)
            for (int j = 0; j < SUMS; j++) sums[j] += single(row[k + j]) * query[k + j];
        for (; k < dim; k++) sum += single(row[k]) * query[k];
        for (int j = 0; j < SUMS; j++) sum += sums[j];
        out[i] = sum;
    }
}
