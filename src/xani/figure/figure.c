/* SPDX-License-Identifier: Apache-2.0 */
#include "xani/figure/figure.h"

#include "base/fail.h"
#include "io/hdf5/h5file.h"

sx_status sx_xani_figure(const char *path, const sx_xani_figure_options *options,
                         const char *output, const sx_context *context) {
    static const sx_xani_figure_options defaults;
    if (!options) {
        options = &defaults;
    }
    sx_hdf5 *file = NULL;
    SXI_TRY(sx_hdf5_open(path, &file));
    bool fit = sxi_h5_exists(file, "/fit/frequency");
    bool cube = sxi_h5_exists(file, "/cube/signal");
    bool dispersion = sxi_h5_exists(file, "/path/spectrum");
    sx_hdf5_close(&file);
    if (!fit && !cube && !dispersion) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "%s is neither a fit (it has no /fit/frequency) nor a cube (no "
                        "/cube/signal) nor a dispersion with a path (no /path/spectrum): give the "
                        "output of sextant xani fit, reduce, simulate or dispersion",
                        path);
    }
    return fit          ? sxi_figure_fit(path, options, output, context)
           : dispersion ? sxi_figure_path(path, options, output, context)
                        : sxi_figure_cube(path, options, output, context);
}
