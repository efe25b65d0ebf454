/* SPDX-License-Identifier: Apache-2.0 */
#include "xani/fit/fit_key.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <sextant/version.h>

#include "base/fail.h"
#include "base/text.h"

static void add_word(sxi_text *text, const char *name, const char *word) {
    sxi_text_add(text, "%s %s\n", name, word ? word : "");
}

static void add_input(sxi_text *text, const sx_xani_input *i) {
    add_word(text, "cube", i->cube);
    add_word(text, "off", i->off);
    add_word(text, "signal", i->signal);
    add_word(text, "delay", i->delay);
    add_word(text, "sigma", i->sigma);
    add_word(text, "mask", i->mask);
    add_word(text, "detector", i->detector);
    add_word(text, "i0", i->i0);
    sxi_text_add(text, "delay_scale %a\n", i->delay_scale);
}

/* Neither tile, which the engine looks at itself, nor overwrite and the like, which change no result. */
static void add_options(sxi_text *text, const sx_xani_fit_options *o) {
    const sx_dcos_options *d = &o->dcos;
    sxi_text_add(text, "modes %d %d %d\n", d->fixed_modes, d->modes, d->max_modes);
    sxi_text_add(text, "how %d %d %d %d %d\n", (int)d->background, (int)d->init, (int)d->scale,
                 (int)d->backend, (int)d->precision);
    sxi_text_add(text, "times %a %d %a %a\n", d->t0, d->has_t_start, d->t_start, o->irf_fwhm);
    sxi_text_add(text, "bin %lld %lld roi %d", (long long)o->bin[0], (long long)o->bin[1],
                 o->has_roi);
    for (int i = 0; i < 4; i++) {
        sxi_text_add(text, " %lld", (long long)o->roi[i]);
    }
    sxi_text_add(text, "\n");
}

sx_status sxi_fit_key(const sx_xani_input *input, const sx_xani_fit_options *options,
                      const sxi_source_info *info, char **key) {
    sxi_text text = {0};
    *key = NULL;
    sxi_text_add(&text, "%s %s\n", sx_version(), sx_commit());
    add_input(&text, input);
    add_options(&text, options);
    for (int i = 0; i < info->inputs; i++) {
        struct stat about;
        if (stat(info->paths[i], &about) != 0) {
            free(sxi_text_take(&text));
            return SXI_FAIL(SX_ERR_IO, "%s: %s", info->paths[i], strerror(errno));
        }
        sxi_text_add(&text, "%s %lld %lld.%09ld\n", info->paths[i], (long long)about.st_size,
                     (long long)about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
    }
    *key = sxi_text_take(&text);
    return *key ? SX_OK : SXI_FAIL(SX_ERR_MEMORY, "no memory for the key of a journal");
}
