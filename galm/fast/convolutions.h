/* A graph convolution, relu(E Y + b): eq. 12. */
#include "lanes.h"

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
BATCHED void convolution_forward(const graph_input *in, float *out) {
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
BATCHED void convolution_backward(const graph_input *in, const float *gradient, const float *out, const graph_output *to) {
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
