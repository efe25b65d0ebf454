/* SPDX-License-Identifier: Apache-2.0
 * PONI files of pyFAI, versions 1 and 2: lines "Key: value", of which the last of each counts, because
 * pyFAI appends each calibration to the file. Theory: docs/theory/geometry.md. */
#include "io/geometry/poni.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

typedef enum number {
    DISTANCE,
    PONI1,
    PONI2,
    ROT1,
    ROT2,
    ROT3,
    WAVELENGTH,
    PIXEL1,
    PIXEL2,
    NUMBERS
} number;

static const char *const NAMES[NUMBERS] = {
    "Distance", "Poni1", "Poni2", "Rot1", "Rot2", "Rot3", "Wavelength", "PixelSize1", "PixelSize2"};

typedef struct poni {
    double value[NUMBERS];
    bool given[NUMBERS];
    sxi_poni_detector detector;
} poni;

static sx_status read_key(const sxi_line *line, const char *key, char *value, poni *p) {
    for (int i = 0; i < NUMBERS; i++) {
        if (strcmp(key, NAMES[i]) == 0) {
            if (strcmp(value, "None") == 0) {
                p->given[i] = false;
                return SX_OK;
            }
            p->given[i] = true;
            return sxi_line_real(line, NAMES[i], value, &p->value[i]);
        }
    }
    if (strcmp(key, "Detector") == 0) {
        snprintf(p->detector.name, sizeof p->detector.name, "%s", value);
    } else if (strcmp(key, "Detector_config") == 0) {
        return sxi_poni_config(line, value, &p->detector);
    } else if (strcmp(key, "poni_version") == 0) {
        double version;
        SXI_TRY(sxi_line_real(line, key, value, &version));
        if (!(version < 3)) {
            return SXI_FAIL(SX_ERR_UNSUPPORTED, "%s is of PONI version %s, known are 1 and 2",
                            line->path, value);
        }
    } else if (strcmp(key, "SplineFile") == 0 && strcmp(value, "None") != 0 && *value) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED,
                        "%s line %ld: distortions by a spline file are not read: correct the "
                        "frames with pyFAI first",
                        line->path, line->number);
    }
    return SX_OK; /* the rest are remarks such as "content" */
}

static sx_status check(const char *path, const poni *p) {
    for (int i = DISTANCE; i <= PONI2; i++) {
        if (!p->given[i]) {
            return SXI_FAIL(SX_ERR_MISSING, "%s has no line '%s:', so it is not complete", path,
                            NAMES[i]);
        }
    }
    if (p->given[WAVELENGTH] && !(p->value[WAVELENGTH] > 0)) {
        return SXI_FAIL(SX_ERR_RANGE, "%s: the wavelength is %g m", path, p->value[WAVELENGTH]);
    }
    for (int d = 0; d < 2; d++) {
        if (!(p->detector.pixel[d] > 0)) {
            return SXI_FAIL(SX_ERR_RANGE, "%s: the size of pixels is %g m", path,
                            p->detector.pixel[d]);
        }
    }
    return SX_OK;
}

/* Columns of the map from (p1, p2, L) to (t1, t2, t3), written as (x, y, z) = (-t2, t1, t3). */
static void axes(const poni *p, double *along1, double *along2, double *along3) {
    const double c1 = cos(p->value[ROT1]), s1 = sin(p->value[ROT1]);
    const double c2 = cos(p->value[ROT2]), s2 = sin(p->value[ROT2]);
    const double c3 = cos(p->value[ROT3]), s3 = sin(p->value[ROT3]);
    along1[0] = -c2 * s3;
    along1[1] = c2 * c3;
    along1[2] = s2;
    along2[0] = -(c1 * c3 + s1 * s2 * s3);
    along2[1] = c3 * s1 * s2 - c1 * s3;
    along2[2] = -c2 * s1;
    along3[0] = -c3 * s1 + c1 * s2 * s3;
    along3[1] = -(c1 * c3 * s2 + s1 * s3);
    along3[2] = c1 * c2;
}

/* The origin that a panel counts from, and the sense of rows and columns: pyFAI's orientations 1 to 4
 * are those of EXIF, 3 the plain one. */
static void lay(const poni *p, sxi_panel *panel) {
    const sxi_poni_detector *d = &p->detector;
    double along[3][3];
    axes(p, along[0], along[1], along[2]);
    const bool turned[2] = {d->orientation == 1 || d->orientation == 2,
                            d->orientation == 1 || d->orientation == 4};
    double start[2], step[2];
    for (int a = 0; a < 2; a++) {
        start[a] = (turned[a] ? (double)d->shape[a] * d->pixel[a] : 0) - p->value[PONI1 + a];
        step[a] = turned[a] ? -d->pixel[a] : d->pixel[a];
    }
    for (int c = 0; c < 3; c++) {
        panel->origin[c] =
            start[0] * along[0][c] + start[1] * along[1][c] + p->value[DISTANCE] * along[2][c];
        panel->slow[c] = step[0] * along[0][c];
        panel->fast[c] = step[1] * along[1][c];
    }
    snprintf(panel->name, sizeof panel->name, "the detector");
    panel->rows = d->shape[0];
    panel->columns = d->shape[1];
}

/* Rows or columns of gaps between modules. */
static bool in_gap(const sxi_poni_detector *d, int axis, int64_t i) {
    return d->module[axis] > 0 && i % (d->module[axis] + d->gap[axis]) >= d->module[axis];
}

static void mask_gaps(const sxi_poni_detector *d, uint8_t *mask) {
    for (int64_t j = 0; j < d->shape[0]; j++) {
        for (int64_t i = 0; i < d->shape[1]; i++) {
            mask[j * d->shape[1] + i] |= in_gap(d, 0, j) || in_gap(d, 1, i) ? SXI_PIXEL_BAD : 0;
        }
    }
}

sx_status sxi_geometry_poni(sx_geometry *geometry, char *text) {
    poni p = {0};
    sxi_line line = {.path = geometry->path, .next = text};
    for (char *here; (here = sxi_line_next(&line)) != NULL;) {
        char *colon = strchr(here, ':');
        if (*here != '#' && colon) {
            *colon = '\0';
            SXI_TRY(read_key(&line, sxi_trim(here), sxi_trim(colon + 1), &p));
        } else if (*here != '#' && *here) {
            return SXI_FAIL(SX_ERR_FORMAT, "%s line %ld: '%.40s' is no 'Key: value'", line.path,
                            line.number, here);
        }
    }
    for (int d = 0; d < 2; d++) {
        if (p.given[PIXEL1 + d]) {
            p.detector.pixel[d] = p.value[PIXEL1 + d];
        }
    }
    SXI_TRY(sxi_poni_complete(line.path, &p.detector));
    SXI_TRY(check(line.path, &p));
    SXI_TRY(sxi_geometry_shape(geometry, 2, p.detector.shape));
    sxi_panel *panel = sxi_geometry_panel(geometry);
    if (!panel) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory", line.path);
    }
    lay(&p, panel);
    snprintf(geometry->facts.detector, sizeof geometry->facts.detector, "%s", p.detector.name);
    if (p.given[WAVELENGTH]) {
        sxi_geometry_wavelength(geometry, p.value[WAVELENGTH]);
    }
    SXI_TRY(sxi_geometry_finish(geometry));
    mask_gaps(&p.detector, geometry->mask);
    return SX_OK;
}
