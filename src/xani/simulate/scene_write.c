/* SPDX-License-Identifier: Apache-2.0
 * /truth of a simulated run: what is true of each pixel. */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "xani/simulate/scene.h"

/* Element n of pixel i. */
typedef double (*value_fn)(const sxi_scene *scene, int64_t i, int n);

typedef enum extent { PER_PIXEL, PER_TONE, PER_BRANCH } extent;

typedef struct field {
    const char *name;
    sx_dtype dtype;
    extent extent;
    value_fn value;
    const char *unit, *sentence;
} field;

static bool has_tone(const sxi_scene *s, int64_t i, int n) { return n < s->pixel[i].tones; }

/* A function for each field: of a tone, with what stands where there is none, or of a pixel. */
#define TONE(name, expression, none)                                                               \
    static double name(const sxi_scene *s, int64_t i, int n) {                                     \
        const sxi_scene_tone *tone = &s->pixel[i].tone[n];                                         \
        return has_tone(s, i, n) ? (expression) : (none);                                          \
    }
#define PIXEL(name, expression)                                                                    \
    static double name(const sxi_scene *s, int64_t i, int n) {                                     \
        const sxi_scene_pixel *pixel = &s->pixel[i];                                               \
        (void)n;                                                                                   \
        return expression;                                                                         \
    }

static double level(const sxi_scene_pixel *pixel) {
    double sum = 0;
    for (int t = 0; t < pixel->tones; t++) {
        sum -= pixel->tone[t].amplitude;
    }
    return pixel->masked ? (double)NAN : sum;
}

static double decay(const sxi_scene *s, int64_t i, int n) {
    return has_tone(s, i, n) ? s->damping : (double)NAN;
}

static double nu(const sxi_scene *s, int64_t i, int n) { return s->nu[n * s->npix + i]; }

TONE(frequency, tone->frequency, (double)NAN)
TONE(amplitude, fabs(tone->amplitude), (double)NAN)
TONE(phase, tone->amplitude < 0 ? 3.14159265358979323846 : 0, (double)NAN)
TONE(kind, tone->kind, 255)
TONE(lower, tone->k, 255)
TONE(upper, tone->l, 255)
PIXEL(offset, level(pixel))
PIXEL(modes, pixel->tones)
PIXEL(masked, pixel->masked)
PIXEL(good, !pixel->masked)
PIXEL(before, pixel->before)
PIXEL(photons, pixel->photons)
PIXEL(qx, pixel->q[0])
PIXEL(qy, pixel->q[1])
PIXEL(qz, pixel->q[2])
PIXEL(h, pixel->hkl[0])
PIXEL(k, pixel->hkl[1])
PIXEL(l, pixel->hkl[2])

static const field FIELD[] = {
    {"/truth/frequency", SX_F64, PER_TONE, frequency, "THz",
     "frequency of a tone of the intensity, the strongest first"},
    {"/truth/amplitude", SX_F64, PER_TONE, amplitude, "1", "its amplitude in on / off - 1"},
    {"/truth/phase", SX_F64, PER_TONE, phase, "rad", "its phase at time zero, 0 or pi"},
    {"/truth/decay", SX_F64, PER_TONE, decay, "1/ps", "its decay rate"},
    {"/truth/kind", SX_U8, PER_TONE, kind, "",
     "0: twice a phonon, 1: sum of two, 2: difference of two, 255: no tone"},
    {"/truth/lower", SX_U8, PER_TONE, lower, "", "lower of its branches, from 0; 255: no tone"},
    {"/truth/upper", SX_U8, PER_TONE, upper, "", "upper of its branches; 255: no tone"},
    {"/truth/nu", SX_F64, PER_BRANCH, nu, "THz", "frequencies of the phonons after the pump"},
    {"/truth/offset", SX_F64, PER_PIXEL, offset, "1", "level about which on / off - 1 oscillates"},
    {"/truth/modes", SX_U8, PER_PIXEL, modes, "", "number of tones"},
    {"/truth/mask", SX_U8, PER_PIXEL, masked, "",
     "0: good, 1: dead, behind the beam stop, or no pixel"},
    {"/truth/before", SX_F64, PER_PIXEL, before, "1",
     "intensity before the pump, electrons^2 per primitive cell"},
    {"/truth/photons", SX_F64, PER_PIXEL, photons, "photon", "in a mean pulse before the pump"},
    {"/truth/qx", SX_F64, PER_PIXEL, qx, "1/Angstrom", "scattering vector to the left, with 2 pi"},
    {"/truth/qy", SX_F64, PER_PIXEL, qy, "1/Angstrom", "scattering vector upwards, with 2 pi"},
    {"/truth/qz", SX_F64, PER_PIXEL, qz, "1/Angstrom", "scattering vector along the beam"},
    {"/truth/h", SX_F64, PER_PIXEL, h, "1", "h of the crystal's cell"},
    {"/truth/k", SX_F64, PER_PIXEL, k, "1", "k of the crystal's cell"},
    {"/truth/l", SX_F64, PER_PIXEL, l, "1", "l of the crystal's cell"},
};

static sx_status write_field(const sxi_scene *s, const field *f, sxi_h5_writer *writer) {
    const int planes = f->extent == PER_TONE     ? s->most_tones
                       : f->extent == PER_BRANCH ? s->branches
                                                 : 1;
    const int skip = f->extent == PER_PIXEL;
    int64_t shape[4] = {planes};
    sx_array array;
    memcpy(shape + 1, s->shape, sizeof s->shape);
    SXI_TRY(sx_array_create(f->dtype, 1 + s->rank - skip, shape + skip, &array));
    for (int n = 0; n < planes; n++) {
        for (int64_t i = 0; i < s->npix; i++) {
            const double value = f->value(s, i, n);
            if (f->dtype == SX_F64) {
                ((double *)array.data)[n * s->npix + i] = value;
            } else {
                ((uint8_t *)array.data)[n * s->npix + i] = (uint8_t)value;
            }
        }
    }
    const sx_status status = sxi_h5_write(writer, f->name, &array, f->unit, f->sentence);
    sx_array_destroy(&array);
    return status;
}

sx_status sxi_scene_write_good(const sxi_scene *scene, sxi_h5_writer *writer, const char *name) {
    const field mask = {name, SX_U8, PER_PIXEL, good, "", "1: good"};
    return write_field(scene, &mask, writer);
}

sx_status sxi_scene_write(const sxi_scene *scene, sxi_h5_writer *writer) {
    for (size_t f = 0; f < sizeof FIELD / sizeof *FIELD; f++) {
        SXI_TRY(write_field(scene, &FIELD[f], writer));
    }
    return sxi_h5_set_text(writer, "/truth", "model",
                           "on / off - 1 = offset + sum amplitude exp(-decay t) cos(2 pi frequency "
                           "t + phase) for t >= 0, else 0");
}
