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

/* A register of the processor, and how many of them a tile of a product may hold. */
#ifdef __AVX512F__
#define LANES 16
#define REGISTERS 16
#else
#define LANES 8
#define REGISTERS 8
#endif
typedef float lanes __attribute__((vector_size(4 * LANES), aligned(4)));
typedef int32_t int_lanes __attribute__((vector_size(4 * LANES), aligned(4)));

#define INLINE static inline __attribute__((always_inline))
#define UP(n) (((n) + LANES - 1) / LANES * LANES)
#define CLAMP 1e-16f /* the square of alignment_graph.CLAMP */

INLINE lanes load(const float *from) { return *(const lanes *)from; }
INLINE void store(float *to, lanes value) { *(lanes *)to = value; }
INLINE lanes all(float value) { return value - (lanes){0}; }
INLINE lanes where_positive(lanes test, lanes value) { return (lanes)((int_lanes)value & (int_lanes)(test > 0)); }

#ifdef __clang__
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PICK(a, b, ...) __builtin_shuffle(a, b, (int_lanes){__VA_ARGS__})
#endif

/* The lanes of each 2 n, the second n first; and those of the lower or upper halves of two, in turn. */
#if LANES == 16
#define BY_8(v) PICK(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)
#define BY_4(v) PICK(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11)
#define BY_2(v) PICK(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13)
#define LOWER(a, b) PICK(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define UPPER(a, b) PICK(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#else
#define BY_4(v) PICK(v, v, 4, 5, 6, 7, 0, 1, 2, 3)
#define BY_2(v) PICK(v, v, 2, 3, 0, 1, 6, 7, 4, 5)
#define LOWER(a, b) PICK(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define UPPER(a, b) PICK(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#endif

INLINE float sum(lanes v) {
#if LANES == 16
    v += BY_8(v);
#endif
    v += BY_4(v);
    v += BY_2(v);
    return v[0] + v[1];
}

INLINE lanes larger(lanes a, lanes b) {
    int_lanes first = a > b;
    return (lanes)(((int_lanes)a & first) | ((int_lanes)b & ~first));
}

INLINE float maximum(lanes v) {
#if LANES == 16
    v = larger(v, BY_8(v));
#endif
    v = larger(v, BY_4(v));
    v = larger(v, BY_2(v));
    return v[0] > v[1] ? v[0] : v[1];
}

/* The square matrix turned: log2(LANES) times the upper half's rows are interleaved with the lower half's. */
INLINE void transpose(lanes square[LANES]) {
    for (int size = 1; size < LANES; size *= 2) {
        lanes next[LANES];
        for (int i = 0; i < LANES / 2; i++) {
            lanes a = square[i], b = square[i + LANES / 2];
            next[2 * i] = LOWER(a, b);
            next[2 * i + 1] = UPPER(a, b);
        }
        for (int i = 0; i < LANES; i++) square[i] = next[i];
    }
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
    for (int i = n; i < UP(n); i++) row[i] = -1e30f;
    lanes most = load(row), total = {0};
    for (int i = LANES; i < UP(n); i += LANES) most = larger(load(row + i), most);
    float largest = maximum(most);
    for (int i = 0; i < UP(n); i += LANES) {
        lanes e = exponential(load(row + i) - largest);
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

/* Row k at values + places[k] * width, or without places at values + k * width. */
typedef struct {
    const float *values;
    int width;
    const int32_t *places;
} rows;

INLINE const float *row_of(rows x, int k) { return x.values + (size_t)(x.places ? x.places[k] : k) * x.width; }

/* Columns [at, at + vectors * LANES) of out[j] = sum over k < n of a[j, k] x[k], for `m` rows held in registers; with
 * a bias relu(out[j] + bias) instead. */
INLINE void product_tile(float *out, matrix a, rows x, const float *bias, int m, int n, int at, int vectors) {
    lanes sums[8][4];
    for (int j = 0; j < m; j++)
        for (int i = 0; i < vectors; i++) sums[j][i] = bias ? load(bias + at + i * LANES) : (lanes){0};
    for (int k = 0; k < n; k++) {
        const float *row = row_of(x, k) + at;
        for (int j = 0; j < m; j++) {
            float share = a.values[j * a.row + k * a.column];
            for (int i = 0; i < vectors; i++) sums[j][i] += share * load(row + i * LANES);
        }
    }
    for (int j = 0; j < m; j++)
        for (int i = 0; i < vectors; i++)
            store(out + j * x.width + at + i * LANES, bias ? where_positive(sums[j][i], sums[j][i]) : sums[j][i]);
}

INLINE void product_rows(float *out, matrix a, rows x, const float *bias, int m, int n) {
    int at = 0;
    for (; 4 * m <= REGISTERS && at + 4 * LANES <= x.width; at += 4 * LANES)
        product_tile(out, a, x, bias, m, n, at, 4);
    for (; 2 * m <= REGISTERS && at + 2 * LANES <= x.width; at += 2 * LANES)
        product_tile(out, a, x, bias, m, n, at, 2);
    for (; at < x.width; at += LANES) product_tile(out, a, x, bias, m, n, at, 1);
}

/* out[j] = sum over k < n of a[j, k] x[k], for j < m; with a bias relu(out[j] + bias) instead. */
INLINE void product(float *out, matrix a, rows x, const float *bias, int m, int n) {
    int j = 0;
    if (x.width <= 2 * LANES)
        for (; j + 8 <= m; j += 8, a.values += 8 * a.row) product_rows(out + j * x.width, a, x, bias, 8, n);
    for (; j + 4 <= m; j += 4, a.values += 4 * a.row) product_rows(out + j * x.width, a, x, bias, 4, n);
    if (m - j == 3) product_rows(out + j * x.width, a, x, bias, 3, n);
    if (m - j == 2) product_rows(out + j * x.width, a, x, bias, 2, n);
    if (m - j == 1) product_rows(out + j * x.width, a, x, bias, 1, n);
}

/* turned[f, k] = x[k][f] for f < width, k < n, and 0 up to the end of its rows, which are UP(n) wide. */
INLINE void turn(float *turned, rows x, int n) {
    for (int f = 0; f < x.width; f += LANES)
        for (int at = 0; at < n; at += LANES) {
            lanes square[LANES];
            for (int k = 0; k < LANES; k++) square[k] = at + k < n ? load(row_of(x, at + k) + f) : (lanes){0};
            transpose(square);
            for (int i = 0; i < LANES; i++) store(turned + (f + i) * UP(n) + at, square[i]);
        }
}

/* out[j, k] = <left[j], right[k]> for j, k < n; out's rows are UP(n) wide; `turned` has room for width * UP(n). */
INLINE void dots(float *out, const float *left, rows right, int n, float *turned) {
    turn(turned, right, n);
    matrix a = {left, right.width, 1};
    if (UP(n) == LANES) product(out, a, (rows){turned, LANES, 0}, 0, n, right.width);
    else product(out, a, (rows){turned, UP(n), 0}, 0, n, right.width);
}

static float *space(size_t floats) { return aligned_alloc(64, (4 * floats + 127) / 64 * 64); }

/* The contexts of one of several threads. */
#define MY_CONTEXTS(contexts)                                                                     \
    int me = omp_get_thread_num(), of = omp_get_num_threads(),                                    \
        c = (int)((int64_t)(contexts) * me / of), end = (int)((int64_t)(contexts) * (me + 1) / of)

/* ---- V of every node word against every context, eqs. 7 to 9 ---- */

typedef struct {
    const float *logits;     /* [words, vectors] */
    const float *nodes;      /* [words, dim] */
    const float *context;    /* [vectors, dim] */
    const float *node_norms; /* squared, [words, blocks] */
    const int32_t *offsets;  /* [contexts + 1] */
    const int32_t *places;   /* [context words], each word's vector; without places, each word has its own in order */
    int32_t contexts, words, dim, blocks, longest, threads, vectors;
} cosine_input;

/* GROUP words at a time are brought to a context, so that its words are read from the cache once for all of them. */
#define GROUP 4

typedef struct {
    float *shares, *to_shares; /* [GROUP, UP(longest)] */
    float *aligned;            /* [GROUP, dim] */
    float *norms, *values;     /* [GROUP, blocks] */
    float *cross, *turn;       /* [blocks] */
} cosine_room;

static cosine_room cosine_room_for(const cosine_input *in) {
    size_t shares = GROUP * UP(in->longest), blocks = in->blocks;
    cosine_room r = {space(shares),         space(shares),         space(GROUP * in->dim), space(GROUP * blocks),
                     space(GROUP * blocks), space(blocks),         space(blocks)};
    return r;
}

static void leave_cosines(cosine_room r) {
    free(r.shares), free(r.to_shares), free(r.aligned), free(r.norms);
    free(r.values), free(r.cross), free(r.turn);
}

/* A context, and the widths that hold in it. */
typedef struct {
    const cosine_input *in;
    int start, words, dim, blocks;
} one_context;

INLINE one_context context_of(const cosine_input *in, int c, int dim, int blocks) {
    return (one_context){in, in->offsets[c], in->offsets[c + 1] - in->offsets[c], dim, blocks};
}

INLINE void block_sums(float *out, const float *left, const float *right, int dim, int blocks) {
    if (blocks % LANES == 0) {
        for (int b = 0; b < blocks; b += LANES) {
            lanes total = {0};
            for (int at = b; at < dim; at += blocks) total += load(left + at) * load(right + at);
            store(out + b, total);
        }
        return;
    }
    for (int b = 0; b < blocks; b++) out[b] = 0;
    for (int at = 0; at < dim; at += blocks)
        for (int b = 0; b < blocks; b++) out[b] += left[at + b] * right[at + b];
}

/* Of `group` words from u on: the shares in the context's words (eq. 7), the mix Q^ of them, its norms and its
 * products with the word. */
INLINE void align(cosine_room r, one_context at, int u, int group) {
    const cosine_input *in = at.in;
    int step = UP(at.words), dim = at.dim, blocks = at.blocks;
    const int32_t *places = in->places ? in->places + at.start : 0;
    for (int i = 0; i < group; i++) {
        float *shares = r.shares + i * step;
        const float *logits = in->logits + (size_t)(u + i) * in->vectors;
        if (places)
            for (int k = 0; k < at.words; k++) shares[k] = logits[places[k]];
        else memcpy(shares, logits + at.start, 4 * at.words);
        softmax(shares, at.words);
    }
    matrix shares = {r.shares, step, 1};
    if (places) product(r.aligned, shares, (rows){in->context, dim, places}, 0, group, at.words);
    else product(r.aligned, shares, (rows){in->context + (size_t)at.start * dim, dim, 0}, 0, group, at.words);
    for (int i = 0; i < group; i++) {
        const float *aligned = r.aligned + i * dim;
        block_sums(r.norms + i * blocks, aligned, aligned, dim, blocks);
        block_sums(r.values + i * blocks, aligned, in->nodes + (size_t)(u + i) * dim, dim, blocks);
    }
}

INLINE void cosines_of(float *out, cosine_room r, one_context at) {
    for (int u = 0; u < at.in->words; u += GROUP) {
        int group = at.in->words - u < GROUP ? at.in->words - u : GROUP;
        align(r, at, u, group);
        for (int i = 0; i < group * at.blocks; i++) {
            float both = r.norms[i] * at.in->node_norms[(size_t)u * at.blocks + i];
            *out++ = r.values[i] / __builtin_sqrtf(both > CLAMP ? both : CLAMP);
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
            if (in->offsets[c] == in->offsets[c + 1]) memset(out + c * size, 0, 4 * size);
            else if (in->dim == 256 && in->blocks == 16) cosines_of(out + c * size, r, context_of(in, c, 256, 16));
            else cosines_of(out + c * size, r, context_of(in, c, in->dim, in->blocks));
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

/* Of V = d r with d = <Q^, Q>, r = (|Q^|^2 |Q|^2)^(-1/2): dQ^ = g r Q - g V / |Q^|^2 Q^, and the same for Q. The first
 * takes the place of Q^; g, V and what comes of them are of one word. */
INLINE void gradient_of_aligned(cosine_room r, one_context at, cosine_output to, const float *gradient, int u, int i) {
    int dim = at.dim, blocks = at.blocks;
    const float *node = at.in->nodes + (size_t)(u + i) * dim, *norms = r.norms + i * blocks;
    float *aligned = r.aligned + i * dim, *to_node = to.nodes + (size_t)(u + i) * dim;
    for (int b = 0; b < blocks; b++) {
        size_t here = (size_t)(u + i) * blocks + b;
        float both = norms[b] * at.in->node_norms[here];
        int alive = both > CLAMP; /* below it r is constant */
        float scale = 1.0f / __builtin_sqrtf(alive ? both : CLAMP);
        float turned = alive ? gradient[here] * r.values[i * blocks + b] * scale : 0;
        r.cross[b] = gradient[here] * scale;
        r.turn[b] = turned / (norms[b] > CLAMP ? norms[b] : CLAMP);
        to.own[here] += turned;
    }
    if (blocks % LANES == 0) {
        for (int b = 0; b < blocks; b += LANES) {
            lanes cross = load(r.cross + b), turn = load(r.turn + b);
            for (int f = b; f < dim; f += blocks) {
                lanes seen = load(aligned + f);
                store(to_node + f, load(to_node + f) + cross * seen);
                store(aligned + f, cross * load(node + f) - turn * seen);
            }
        }
        return;
    }
    for (int f = 0; f < dim; f++) {
        float seen = aligned[f], cross = r.cross[f % blocks];
        to_node[f] += cross * seen;
        aligned[f] = cross * node[f] - r.turn[f % blocks] * seen;
    }
}

/* For each word w of the context: to_word += the sum of shares[i, w] aligned[i], and to_shares[i, w] = <aligned[i], w>. */
INLINE void gradient_of_words(cosine_room r, one_context at, cosine_output to, int group) {
    for (int w = 0; w < at.words; w++) {
        const float *word = at.in->context + (size_t)(at.start + w) * at.dim;
        float *to_word = to.context + (size_t)(at.start + w) * at.dim;
        lanes sums[GROUP];
        for (int i = 0; i < group; i++) sums[i] = (lanes){0};
        for (int f = 0; f < at.dim; f += LANES) {
            lanes gathered = load(to_word + f), here = load(word + f);
            for (int i = 0; i < group; i++) {
                lanes aligned = load(r.aligned + i * at.dim + f);
                gathered += r.shares[i * UP(at.words) + w] * aligned;
                sums[i] += aligned * here;
            }
            store(to_word + f, gathered);
        }
        for (int i = 0; i < group; i++) r.to_shares[i * UP(at.words) + w] = sum(sums[i]);
    }
}

/* Through the softmax of the shares. */
INLINE void gradient_of_logits(float *to_logits, const float *shares, const float *to_shares, int words) {
    float mean = 0;
    for (int w = 0; w < words; w++) mean += to_shares[w] * shares[w];
    for (int w = 0; w < words; w++) to_logits[w] = shares[w] * (to_shares[w] - mean);
}

INLINE void cosines_back(const float *gradient, cosine_room r, one_context at, cosine_output to) {
    for (int u = 0; u < at.in->words; u += GROUP) {
        int group = at.in->words - u < GROUP ? at.in->words - u : GROUP;
        align(r, at, u, group);
        for (int i = 0; i < group; i++) gradient_of_aligned(r, at, to, gradient, u, i);
        if (group == GROUP) gradient_of_words(r, at, to, GROUP);
        else gradient_of_words(r, at, to, group);
        for (int i = 0; i < group; i++) {
            int row = i * UP(at.words);
            float *to_logits = to.logits + (size_t)(u + i) * at.in->offsets[at.in->contexts] + at.start;
            gradient_of_logits(to_logits, r.shares + row, r.to_shares + row, at.words);
        }
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
            const float *g = gradient + (size_t)c * in->words * in->blocks;
            if (in->offsets[c] == in->offsets[c + 1]) continue;
            if (in->dim == 256 && in->blocks == 16) cosines_back(g, r, context_of(in, c, 256, 16), mine);
            else cosines_back(g, r, context_of(in, c, in->dim, in->blocks), mine);
        }
        leave_cosines(r);
    }
}

/* ---- a graph convolution, relu(E Y + b): eq. 12 ---- */

typedef struct {
    const float *states;    /* H, [contexts, nodes, width]; null where edges are given */
    const float *below;     /* Y, [contexts, rows, width] */
    const float *edges;     /* E, [cells], the same in every context; null: the row softmax of scale * H H^T, eq. 11 */
    const float *bias;      /* [width]; null: E Y as it is, without relu */
    const int32_t *places;  /* each node's row of Y, [nodes]; null: node j has row j */
    const int32_t *offsets; /* graph g has the nodes offsets[g] to offsets[g + 1], [graphs + 1] */
    const int32_t *cells;   /* and its edges are from cells[g] on, [graphs + 1] */
    int32_t contexts, graphs, rows, width, longest, threads;
    int32_t self_loops; /* whether E = softmax(scale * H H^T) has a diagonal */
    float scale;
} graph_input;

typedef struct {
    float *edges, *to_edges, *turned, *masked, *spread;
} graph_room;

static graph_room graph_room_for(const graph_input *in) {
    size_t n = UP(in->longest), states = in->width * n;
    graph_room r = {space(n * n), space(n * n), space(states), space(states), space(states)};
    return r;
}

static void leave_graphs(graph_room r) { free(r.edges), free(r.to_edges), free(r.turned), free(r.masked), free(r.spread); }

/* A graph in a context: its states, edges and rows of Y. */
typedef struct {
    const float *states;
    matrix edges;
    rows below;
    int n;
} one_graph;

/* E = softmax(scale * H H^T) is left turned: H H^T is symmetric, so lane j of its row k is entry (j, k), and neither
 * the largest of a row of E nor its sum needs a step across lanes. */
INLINE matrix own_edges(graph_room r, rows states, int n, float scale, int self_loops) {
    int step = UP(n);
    dots(r.edges, states.values, states, n, r.turned);
    if (!self_loops)
        for (int k = 0; k < n; k++) r.edges[k * step + k] = -1e30f;
    for (int at = 0; at < step; at += LANES) {
        lanes most = load(r.edges + at), total = {0};
        for (int k = 1; k < n; k++) most = larger(load(r.edges + k * step + at), most);
        for (int k = 0; k < n; k++) {
            lanes e = exponential((load(r.edges + k * step + at) - most) * scale);
            store(r.edges + k * step + at, e);
            total += e;
        }
        for (int k = 0; k < n; k++) store(r.edges + k * step + at, load(r.edges + k * step + at) / total);
    }
    if (!self_loops && n == 1) r.edges[0] = 0; /* a node alone has no neighbour */
    return (matrix){r.edges, 1, step};
}

INLINE one_graph graph_of(graph_room r, const graph_input *in, int c, int g, int width) {
    int first = in->offsets[g], n = in->offsets[g + 1] - first;
    const float *below = in->below + (size_t)c * in->rows * width;
    rows own = {below + first * width, width, 0}, shared = {below, width, in->places + first};
    if (in->edges) return (one_graph){0, {in->edges + in->cells[g], n, 1}, in->places ? shared : own, n};
    rows states = {in->states + ((size_t)c * in->offsets[in->graphs] + first) * width, width, 0};
    return (one_graph){states.values, own_edges(r, states, n, in->scale, in->self_loops), own, n};
}

INLINE void convolve(float *out, graph_room r, const graph_input *in, int c, int width) {
    for (int g = 0; g < in->graphs; g++) {
        one_graph graph = graph_of(r, in, c, g, width);
        product(out, graph.edges, graph.below, in->bias, graph.n, graph.n);
        out += graph.n * width;
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

/* The gradient of E Y + b: that of the relu's result where it is positive; without `out` there was no relu, and no b. */
INLINE void through_relu(float *masked, const float *gradient, const float *out, float *to_bias, int n, int width) {
    if (!out) {
        memcpy(masked, gradient, sizeof(float) * n * width);
        return;
    }
    for (int j = 0; j < n; j++)
        for (int f = 0; f < width; f += LANES) {
            lanes g = where_positive(load(out + j * width + f), load(gradient + j * width + f));
            store(masked + j * width + f, g);
            store(to_bias + f, load(to_bias + f) + g);
        }
}

/* The gradient of Y: E^T times the masked gradient. */
INLINE void to_rows_below(graph_room r, one_graph graph, rows masked, float *to_below) {
    product(r.spread, (matrix){graph.edges.values, graph.edges.column, graph.edges.row}, masked, 0, graph.n, graph.n);
    for (int k = 0; k < graph.n; k++) {
        float *to = to_below + (row_of(graph.below, k) - graph.below.values);
        for (int f = 0; f < masked.width; f += LANES)
            store(to + f, load(to + f) + load(r.spread + k * masked.width + f));
    }
}

/* The gradient of H through softmax(scale * H H^T), from that of its result in r.to_edges, turned like the edges. */
INLINE void to_own_states(graph_room r, float *to_states, rows states, int n, float scale) {
    int step = UP(n);
    for (int at = 0; at < step; at += LANES) {
        lanes mean = {0};
        for (int k = 0; k < n; k++) mean += load(r.to_edges + k * step + at) * load(r.edges + k * step + at);
        for (int k = 0; k < n; k++) {
            int here = k * step + at;
            store(r.to_edges + here, load(r.edges + here) * (load(r.to_edges + here) - mean) * scale);
        }
    }
    for (int j = 0; j < n; j++) /* H stands on both sides of H H^T */
        for (int k = 0; k <= j; k++)
            r.to_edges[j * step + k] = r.to_edges[k * step + j] = r.to_edges[j * step + k] + r.to_edges[k * step + j];
    product(to_states, (matrix){r.to_edges, step, 1}, states, 0, n, n);
}

INLINE void convolve_back(const float *gradient, const float *out, graph_output to, graph_room r,
                          const graph_input *in, int c, int width) {
    for (int g = 0; g < in->graphs; g++) {
        size_t at = (size_t)in->offsets[g] * width;
        one_graph graph = graph_of(r, in, c, g, width);
        rows masked = {r.masked, width, 0};
        through_relu(r.masked, gradient + at, in->bias ? out + at : 0, to.bias, graph.n, width);
        to_rows_below(r, graph, masked, in->places ? to.below : to.below + at);
        if (in->edges) {
            dots(r.to_edges, r.masked, graph.below, graph.n, r.turned);
            for (int j = 0; j < graph.n; j++)
                for (int k = 0; k < graph.n; k++)
                    to.edges[in->cells[g] + j * graph.n + k] += r.to_edges[j * UP(graph.n) + k];
        } else {
            dots(r.to_edges, graph.below.values, masked, graph.n, r.turned);
            to_own_states(r, to.states + at, (rows){graph.states, width, 0}, graph.n, in->scale);
        }
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

/* ---- the reading of a node, <w, tanh(x)>: eq. 13 before its mean ---- */

typedef struct {
    const float *inner;   /* x, [nodes, width] */
    const float *weights; /* w, [width] */
    int32_t nodes, width, threads;
} reading_input;

/* Within 1e-7, from e^(-2|x|). */
INLINE lanes hyperbolic_tangent(lanes x) {
    int_lanes sign = (int_lanes)x & (int_lanes)all(-0.0f);
    lanes e = exponential((lanes)((int_lanes)(x + x) | (int_lanes)all(-0.0f)));
    return (lanes)((int_lanes)((1.0f - e) / (1.0f + e)) | sign);
}

#define MY_NODES(in)                                                                              \
    int me = omp_get_thread_num(), of = omp_get_num_threads(), width = (in)->width,               \
        j = (int)((int64_t)(in)->nodes * me / of), end = (int)((int64_t)(in)->nodes * (me + 1) / of)

/* out: [nodes] */
void readings_forward(const reading_input *in, float *out) {
#pragma omp parallel num_threads(in->threads)
    {
        MY_NODES(in);
        for (; j < end; j++) {
            lanes total = {0};
            for (int f = 0; f < width; f += LANES)
                total += load(in->weights + f) * hyperbolic_tangent(load(in->inner + (size_t)j * width + f));
            out[j] = sum(total);
        }
    }
}

/* gradient: [nodes]; to_inner: [nodes, width]; to_weights: [threads, width], 0 before */
void readings_backward(const reading_input *in, const float *gradient, float *to_inner, float *to_weights) {
#pragma omp parallel num_threads(in->threads)
    {
        MY_NODES(in);
        float *mine = to_weights + (size_t)me * width;
        for (; j < end; j++)
            for (int f = 0; f < width; f += LANES) {
                lanes t = hyperbolic_tangent(load(in->inner + (size_t)j * width + f));
                store(to_inner + (size_t)j * width + f, gradient[j] * load(in->weights + f) * (1.0f - t * t));
                store(mine + f, load(mine + f) + gradient[j] * t);
            }
    }
}
