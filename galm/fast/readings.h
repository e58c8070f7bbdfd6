/* The reading of a node, <w, tanh(x)>: eq. 13 before its mean. */
#include "lanes.h"

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
BATCHED void readings_forward(const reading_input *in, float *out) {
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
BATCHED void readings_backward(const reading_input *in, const float *gradient, float *to_inner, float *to_weights) {
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
