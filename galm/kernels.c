/* The inner loops of GALM on a CPU, in float32 and without padding; ragged.py binds them and says what they compute.
 *
 * Rows are contiguous and their widths multiples of LANES. The blocks of a word vector are interleaved (entry k of
 * every block, then entry k + 1 of every block), so that sums over a block need no sum across lanes. Work is divided
 * by contexts in fixed shares, and each thread adds up in a place of its own: as many threads, the same numbers.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#else
#define omp_get_thread_num() 0
#define omp_get_num_threads() 1
#endif

#define LANES 16
typedef float lanes __attribute__((vector_size(4 * LANES), aligned(4)));
typedef int32_t int_lanes __attribute__((vector_size(4 * LANES), aligned(4)));

#define INLINE static inline __attribute__((always_inline))
#define UP(n) (((n) + LANES - 1) / LANES * LANES)
#define CLAMP 1e-16f /* the square of alignment_graph.CLAMP */

INLINE lanes load(const float *from) { return *(const lanes *)from; }
INLINE void store(float *to, lanes value) { *(lanes *)to = value; }
INLINE lanes all(float value) { return value - (lanes){0}; }
INLINE lanes where_positive(lanes test, lanes value) { return (lanes)((int_lanes)value & (int_lanes)(test > 0)); }

INLINE float sum(lanes v) {
    float total = 0;
    for (int i = 0; i < LANES; i++) total += v[i];
    return total;
}

/* e^x as 2^n e^r with |r| <= ln 2 / 2, within 2 units in the last place; below -87 as at -87. */
INLINE lanes exponential(lanes x) {
    int_lanes low = x < -87.0f;
    x = (lanes)(((int_lanes)x & ~low) | ((int_lanes)all(-87.0f) & low));
    lanes n = (x * 1.44269504f + 12582912.0f) - 12582912.0f; /* 1.5 * 2^23: the sum is rounded to an integer */
    lanes r = x - n * 0.693359375f + n * 2.12194440e-4f;
    lanes y = all(1.9875691500e-4f);
    y = y * r + 1.3981999507e-3f;
    y = y * r + 8.3334519073e-3f;
    y = y * r + 4.1665795894e-2f;
    y = y * r + 1.6666665459e-1f;
    y = y * r + 5.0000001201e-1f;
    y = y * r * r + r + 1.0f;
    return (lanes)((int_lanes)y + (__builtin_convertvector(n, int_lanes) << 23));
}

/* Softmax of row[0..n), whose room is UP(n); 0 behind. */
INLINE void softmax(float *row, int n) {
    float most = row[0];
    for (int i = 1; i < n; i++) most = row[i] > most ? row[i] : most;
    for (int i = n; i < UP(n); i++) row[i] = -1e30f;
    lanes total = {0};
    for (int i = 0; i < UP(n); i += LANES) {
        lanes e = exponential(load(row + i) - most);
        store(row + i, e);
        total += e;
    }
    float scale = 1.0f / sum(total);
    for (int i = 0; i < UP(n); i += LANES) store(row + i, load(row + i) * scale);
    for (int i = n; i < UP(n); i++) row[i] = 0;
}

/* A small matrix: entry (j, k) at values[j * row + k * column]. */
typedef struct {
    const float *values;
    int row, column;
} matrix;

/* Columns [at, at + vectors * LANES) of out[j] = sum over k < n of a[j, k] x[k], for `rows` rows held in registers. */
INLINE void product_tile(float *out, int width, matrix a, const float *const *x, int rows, int n, int at, int vectors) {
    lanes sums[4][4];
    for (int j = 0; j < rows; j++)
        for (int i = 0; i < vectors; i++) sums[j][i] = (lanes){0};
    for (int k = 0; k < n; k++) {
        const float *row = x[k] + at;
        for (int j = 0; j < rows; j++) {
            float share = a.values[j * a.row + k * a.column];
            for (int i = 0; i < vectors; i++) sums[j][i] += share * load(row + i * LANES);
        }
    }
    for (int j = 0; j < rows; j++)
        for (int i = 0; i < vectors; i++) store(out + j * width + at + i * LANES, sums[j][i]);
}

INLINE void product_rows(float *out, int width, matrix a, const float *const *x, int rows, int n) {
    int at = 0;
    for (; at + 4 * LANES <= width; at += 4 * LANES) product_tile(out, width, a, x, rows, n, at, 4);
    for (; at + 2 * LANES <= width; at += 2 * LANES) product_tile(out, width, a, x, rows, n, at, 2);
    for (; at < width; at += LANES) product_tile(out, width, a, x, rows, n, at, 1);
}

/* out[j] = sum over k < n of a[j, k] x[k], for j < m. */
INLINE void product(float *out, int width, matrix a, const float *const *x, int m, int n) {
    int j = 0;
    for (; j + 4 <= m; j += 4, a.values += 4 * a.row) product_rows(out + j * width, width, a, x, 4, n);
    for (; j < m; j++, a.values += a.row) product_rows(out + j * width, width, a, x, 1, n);
}

/* out[j, k] = <left[j], right[k]> for j < m, k < n; out's rows are UP(n) apart; `turned` has room for width * UP(n). */
INLINE void dots(float *out, const float *const *left, const float *const *right, int m, int n, int width,
                 float *turned) {
    int room = UP(n);
    for (int f = 0; f < width; f++) {
        for (int k = 0; k < n; k++) turned[f * room + k] = right[k][f];
        for (int k = n; k < room; k++) turned[f * room + k] = 0;
    }
    for (int at = 0; at < room; at += LANES) {
        int j = 0;
        for (; j + 4 <= m; j += 4) {
            lanes sums[4] = {{0}, {0}, {0}, {0}};
            for (int f = 0; f < width; f++) {
                lanes column = load(turned + f * room + at);
                for (int i = 0; i < 4; i++) sums[i] += left[j + i][f] * column;
            }
            for (int i = 0; i < 4; i++) store(out + (j + i) * room + at, sums[i]);
        }
        for (; j < m; j++) {
            lanes sums = {0};
            for (int f = 0; f < width; f++) sums += left[j][f] * load(turned + f * room + at);
            store(out + j * room + at, sums);
        }
    }
}

static float *space(size_t floats) { return aligned_alloc(64, (4 * floats + 127) / 64 * 64); }

/* The contexts of one of several threads. */
#define MY_CONTEXTS(contexts)                                                                     \
    int me = omp_get_thread_num(), of = omp_get_num_threads(),                                    \
        c = (int)((int64_t)(contexts) * me / of), end = (int)((int64_t)(contexts) * (me + 1) / of)

/* ---- V of every node word against every context, eqs. 7 to 9 ---- */

typedef struct {
    const float *logits;     /* [words, context words] */
    const float *nodes;      /* [words, dim] */
    const float *context;    /* [context words, dim] */
    const float *node_norms; /* squared, [words, blocks] */
    const int32_t *offsets;  /* [contexts + 1] */
    int32_t contexts, words, dim, blocks, longest, threads;
} cosine_input;

typedef struct {
    float *shares, *to_shares, *aligned, *norms, *values, *cross, *turn;
    const float **rows;
} cosine_room;

static cosine_room cosine_room_for(const cosine_input *in) {
    cosine_room r = {space(UP(in->longest)), space(UP(in->longest)), space(in->dim),    space(in->blocks),
                     space(in->blocks),      space(in->blocks),      space(in->blocks), malloc(8 * in->longest + 8)};
    return r;
}

static void leave_cosines(cosine_room r) {
    free(r.shares), free(r.to_shares), free(r.aligned), free(r.norms);
    free(r.values), free(r.cross), free(r.turn), free(r.rows);
}

INLINE void block_sums(float *out, const float *left, const float *right, int dim, int blocks) {
    for (int b = 0; b < blocks; b++) out[b] = 0;
    for (int at = 0; at < dim; at += blocks)
        for (int b = 0; b < blocks; b++) out[b] += left[at + b] * right[at + b];
}

/* The shares of word u in a context's words (eq. 7), the mix Q^ of them, its norms and its products with the word. */
INLINE void align(cosine_room r, const cosine_input *in, int u, int start, int m, int dim, int blocks) {
    memcpy(r.shares, in->logits + (size_t)u * in->offsets[in->contexts] + start, 4 * m);
    softmax(r.shares, m);
    product_rows(r.aligned, dim, (matrix){r.shares, 0, 1}, r.rows, 1, m);
    block_sums(r.norms, r.aligned, r.aligned, dim, blocks);
    block_sums(r.values, r.aligned, in->nodes + (size_t)u * dim, dim, blocks);
}

INLINE void cosines_of(float *out, cosine_room r, const cosine_input *in, int start, int m, int dim, int blocks) {
    for (int i = 0; i < m; i++) r.rows[i] = in->context + (size_t)(start + i) * dim;
    for (int u = 0; u < in->words; u++, out += blocks) {
        align(r, in, u, start, m, dim, blocks);
        for (int b = 0; b < blocks; b++) {
            float both = r.norms[b] * in->node_norms[(size_t)u * blocks + b];
            out[b] = r.values[b] / __builtin_sqrtf(both > CLAMP ? both : CLAMP);
        }
    }
}

/* out: [contexts, words, blocks] */
void cosines_forward(const cosine_input *in, float *out) {
    size_t size = (size_t)in->words * in->blocks;
#pragma omp parallel num_threads(in->threads)
    {
        cosine_room r = cosine_room_for(in);
        MY_CONTEXTS(in->contexts);
        for (; c < end; c++) {
            int start = in->offsets[c], m = in->offsets[c + 1] - start;
            if (!m) memset(out + c * size, 0, 4 * size);
            else if (in->dim == 256 && in->blocks == 16) cosines_of(out + c * size, r, in, start, m, 256, 16);
            else cosines_of(out + c * size, r, in, start, m, in->dim, in->blocks);
        }
        leave_cosines(r);
    }
}

typedef struct {
    float *logits;  /* [words, context words] */
    float *nodes;   /* [threads, words, dim], 0 before: <Q^, g r> without the part of Q's own norm, which is */
    float *own;     /* [threads, words, blocks], 0 before: the sum of g V */
    float *context; /* [context words, dim], 0 before */
} cosine_output;

/* Of V = d r with d = <Q^, Q>, r = (|Q^|^2 |Q|^2)^(-1/2): dQ^ = g r Q - g V / |Q^|^2 Q^, and the same for Q. */
INLINE void gradient_of_aligned(cosine_room r, const float *gradient, const float *node, const float *node_norms,
                                float *to_node, float *own, int dim, int blocks) {
    for (int b = 0; b < blocks; b++) {
        float both = r.norms[b] * node_norms[b];
        int alive = both > CLAMP; /* below it r is constant */
        float scale = 1.0f / __builtin_sqrtf(alive ? both : CLAMP), turned = alive ? gradient[b] * r.values[b] * scale : 0;
        r.cross[b] = gradient[b] * scale;
        r.turn[b] = turned / (r.norms[b] > CLAMP ? r.norms[b] : CLAMP);
        own[b] += turned;
    }
    for (int at = 0; at < dim; at += blocks)
        for (int b = 0; b < blocks; b++) {
            float seen = r.aligned[at + b];
            to_node[at + b] += r.cross[b] * seen;
            r.aligned[at + b] = r.cross[b] * node[at + b] - r.turn[b] * seen;
        }
}

/* to_word += share * aligned; the result is <aligned, word>. */
INLINE float gradient_of_word(float *to_word, const float *aligned, const float *word, float share, int dim) {
    lanes even = {0}, odd = {0};
    int at = 0;
    for (; at + 2 * LANES <= dim; at += 2 * LANES) {
        lanes a = load(aligned + at), b = load(aligned + at + LANES);
        even += a * load(word + at), odd += b * load(word + at + LANES);
        store(to_word + at, load(to_word + at) + share * a);
        store(to_word + at + LANES, load(to_word + at + LANES) + share * b);
    }
    for (; at < dim; at += LANES) {
        even += load(aligned + at) * load(word + at);
        store(to_word + at, load(to_word + at) + share * load(aligned + at));
    }
    return sum(even + odd);
}

INLINE void cosines_back(const float *gradient, cosine_room r, const cosine_input *in, cosine_output to, int start,
                         int m, int dim, int blocks) {
    for (int i = 0; i < m; i++) r.rows[i] = in->context + (size_t)(start + i) * dim;
    for (int u = 0; u < in->words; u++) {
        align(r, in, u, start, m, dim, blocks);
        gradient_of_aligned(r, gradient + (size_t)u * blocks, in->nodes + (size_t)u * dim,
                            in->node_norms + (size_t)u * blocks, to.nodes + (size_t)u * dim,
                            to.own + (size_t)u * blocks, dim, blocks);
        float mean = 0; /* of the gradient of the shares */
        for (int w = 0; w < m; w++) {
            float *to_word = to.context + (size_t)(start + w) * dim;
            r.to_shares[w] = gradient_of_word(to_word, r.aligned, r.rows[w], r.shares[w], dim);
            mean += r.to_shares[w] * r.shares[w];
        }
        float *to_logits = to.logits + (size_t)u * in->offsets[in->contexts] + start;
        for (int w = 0; w < m; w++) to_logits[w] = r.shares[w] * (r.to_shares[w] - mean);
    }
}

/* gradient: [contexts, words, blocks] */
void cosines_backward(const cosine_input *in, const float *gradient, const cosine_output *to) {
#pragma omp parallel num_threads(in->threads)
    {
        cosine_room r = cosine_room_for(in);
        MY_CONTEXTS(in->contexts);
        cosine_output mine = *to;
        mine.nodes += (size_t)me * in->words * in->dim, mine.own += (size_t)me * in->words * in->blocks;
        for (; c < end; c++) {
            int start = in->offsets[c], m = in->offsets[c + 1] - start;
            const float *g = gradient + (size_t)c * in->words * in->blocks;
            if (m && in->dim == 256 && in->blocks == 16) cosines_back(g, r, in, mine, start, m, 256, 16);
            else if (m) cosines_back(g, r, in, mine, start, m, in->dim, in->blocks);
        }
        leave_cosines(r);
    }
}

/* ---- a graph convolution, relu(E Y + b): eq. 12 ---- */

typedef struct {
    const float *states;    /* H, [contexts, nodes, width]; null where edges are given */
    const float *below;     /* Y, [contexts, rows, width] */
    const float *edges;     /* E, [cells], the same in every context; null: the row softmax of scale * H H^T, eq. 11 */
    const float *bias;      /* [width] */
    const int32_t *places;  /* each node's row of Y, [nodes]; null: node j has row j */
    const int32_t *offsets; /* graph g has the nodes offsets[g] to offsets[g + 1], [graphs + 1] */
    const int32_t *cells;   /* and its edges are from cells[g] on, [graphs + 1] */
    int32_t contexts, graphs, rows, width, longest, threads;
    float scale;
} graph_input;

typedef struct {
    float *edges, *to_edges, *turned, *masked, *spread;
    const float **below, **states, **masked_rows;
} graph_room;

static graph_room graph_room_for(const graph_input *in) {
    size_t n = UP(in->longest);
    graph_room r = {space(n * n),         space(n * n),   space(in->width * n), space(in->width * n),
                    space(in->width * n), malloc(8 * n + 8), malloc(8 * n + 8),    malloc(8 * n + 8)};
    return r;
}

static void leave_graphs(graph_room r) {
    free(r.edges), free(r.to_edges), free(r.turned), free(r.masked), free(r.spread);
    free(r.below), free(r.states), free(r.masked_rows);
}

/* The edges of graph g in a context, and where the rows of Y are; the rows of E stand as the result says. */
INLINE matrix edges_of(graph_room r, const graph_input *in, int c, int g, int width) {
    int first = in->offsets[g], n = in->offsets[g + 1] - first, step = UP(n);
    const float *below = in->below + (size_t)c * in->rows * width;
    for (int j = 0; j < n; j++) r.below[j] = below + (size_t)(in->places ? in->places[first + j] : first + j) * width;
    if (in->edges) return (matrix){in->edges + in->cells[g], n, 1};
    const float *states = in->states + ((size_t)c * in->offsets[in->graphs] + first) * width;
    for (int j = 0; j < n; j++) r.states[j] = states + (size_t)j * width;
    dots(r.edges, r.states, r.states, n, n, width, r.turned);
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < n; k++) r.edges[j * step + k] *= in->scale;
        softmax(r.edges + j * step, n);
    }
    return (matrix){r.edges, step, 1};
}

INLINE void convolve(float *out, graph_room r, const graph_input *in, int c, int width) {
    for (int g = 0; g < in->graphs; g++) {
        int n = in->offsets[g + 1] - in->offsets[g];
        product(out, width, edges_of(r, in, c, g, width), r.below, n, n);
        for (float *last = out + n * width; out < last; out += width)
            for (int f = 0; f < width; f += LANES) {
                lanes value = load(out + f) + load(in->bias + f);
                store(out + f, where_positive(value, value));
            }
    }
}

/* out: [contexts, nodes, width] */
void convolution_forward(const graph_input *in, float *out) {
    size_t size = (size_t)in->offsets[in->graphs] * in->width;
#pragma omp parallel num_threads(in->threads)
    {
        graph_room r = graph_room_for(in);
        MY_CONTEXTS(in->contexts);
        for (; c < end; c++)
            if (in->width == 16) convolve(out + c * size, r, in, c, 16);
            else if (in->width == 32) convolve(out + c * size, r, in, c, 32);
            else convolve(out + c * size, r, in, c, in->width);
        leave_graphs(r);
    }
}

typedef struct {
    float *states; /* [contexts, nodes, width] */
    float *below;  /* [contexts, rows, width], 0 before */
    float *edges;  /* [threads, cells], 0 before; null where they are not given */
    float *bias;   /* [threads, width], 0 before */
} graph_output;

/* The gradient of E Y + b: that of the relu's result where it is positive. */
INLINE void through_relu(graph_room r, const float *gradient, const float *out, float *to_bias, int n, int width) {
    for (int j = 0; j < n; j++) {
        r.masked_rows[j] = r.masked + j * width;
        for (int f = 0; f < width; f += LANES) {
            lanes g = where_positive(load(out + j * width + f), load(gradient + j * width + f));
            store(r.masked + j * width + f, g);
            store(to_bias + f, load(to_bias + f) + g);
        }
    }
}

/* The gradient of Y: E^T times the masked gradient. */
INLINE void to_rows_below(graph_room r, matrix edges, float *to_below, const int32_t *places, int n, int width) {
    product(r.spread, width, (matrix){edges.values, edges.column, edges.row}, r.masked_rows, n, n);
    for (int k = 0; k < n; k++) {
        float *to = to_below + (size_t)(places ? places[k] : k) * width;
        for (int f = 0; f < width; f += LANES) store(to + f, load(to + f) + load(r.spread + k * width + f));
    }
}

/* The gradient of H through softmax(scale * H H^T), from that of its result in r.to_edges. */
INLINE void to_own_states(graph_room r, float *to_states, int n, int width, float scale) {
    int step = UP(n);
    for (int j = 0; j < n; j++) {
        float *to = r.to_edges + j * step, *e = r.edges + j * step;
        lanes total = {0};
        for (int k = 0; k < step; k += LANES) total += load(to + k) * load(e + k);
        float mean = sum(total);
        for (int k = 0; k < step; k += LANES) store(to + k, load(e + k) * (load(to + k) - mean) * scale);
    }
    for (int j = 0; j < n; j++) /* H stands on both sides of H H^T */
        for (int k = 0; k <= j; k++)
            r.to_edges[j * step + k] = r.to_edges[k * step + j] = r.to_edges[j * step + k] + r.to_edges[k * step + j];
    product(to_states, width, (matrix){r.to_edges, step, 1}, r.states, n, n);
}

INLINE void convolve_back(const float *gradient, const float *out, graph_output to, graph_room r,
                          const graph_input *in, int c, int width) {
    for (int g = 0; g < in->graphs; g++) {
        int first = in->offsets[g], n = in->offsets[g + 1] - first;
        size_t at = (size_t)first * width;
        matrix edges = edges_of(r, in, c, g, width);
        through_relu(r, gradient + at, out + at, to.bias, n, width);
        to_rows_below(r, edges, in->places ? to.below : to.below + at, in->places ? in->places + first : 0, n, width);
        dots(r.to_edges, r.masked_rows, r.below, n, n, width, r.turned);
        if (in->edges)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < n; k++) to.edges[in->cells[g] + j * n + k] += r.to_edges[j * UP(n) + k];
        else
            to_own_states(r, to.states + at, n, width, in->scale);
    }
}

/* gradient, out: [contexts, nodes, width] */
void convolution_backward(const graph_input *in, const float *gradient, const float *out, const graph_output *to) {
    size_t nodes = in->offsets[in->graphs], cells = in->cells[in->graphs];
#pragma omp parallel num_threads(in->threads)
    {
        graph_room r = graph_room_for(in);
        MY_CONTEXTS(in->contexts);
        for (; c < end; c++) {
            size_t at = c * nodes * in->width;
            graph_output mine = {to->states + at, to->below + (size_t)c * in->rows * in->width,
                                 to->edges + me * cells, to->bias + (size_t)me * in->width};
            if (in->width == 16) convolve_back(gradient + at, out + at, mine, r, in, c, 16);
            else if (in->width == 32) convolve_back(gradient + at, out + at, mine, r, in, c, 32);
            else convolve_back(gradient + at, out + at, mine, r, in, c, in->width);
        }
        leave_graphs(r);
    }
}
