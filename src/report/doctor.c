/* SPDX-License-Identifier: Apache-2.0 */
#include <sextant/doctor.h>

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sextant/cpu.h>

#include "base/fail.h"
#include "engine/launcher.h"
#include "engine/wire.h"
#include "io/codec/codec.h"
#include "io/hdf5/h5_library.h"
#include "numer/dcos_cuda.h"
#include "report/doctor_load.h"

typedef struct doctor {
    sx_doctor_fn report;
    void *data;
} doctor;

const char *sx_doctor_state_word(sx_doctor_state state) {
    static const char *const words[] = {
#define WORD(name, word, sentence) word,
        SX_DOCTOR_STATE_LIST(WORD)
#undef WORD
    };
    return (size_t)state < sizeof words / sizeof *words ? words[state] : "?";
}

static void say(const doctor *d, const char *topic, sx_doctor_state state, const char *found,
                const char *remedy) {
    const sx_doctor_finding finding = {topic, state, found, remedy};
    d->report(d->data, &finding);
}

static void look_at_cpu(const doctor *d) {
    sx_cpu cpu;
    char text[256], features[64];
    sx_cpu_get(&cpu);
    sx_cpu_describe(&cpu, text, sizeof text);
    say(d, "cpu", SX_DOCTOR_OK, text, "");
    sx_cpu_features(&cpu, features, sizeof features);
    say(d, "simd", *features ? SX_DOCTOR_OK : SX_DOCTOR_NONE,
        *features ? features : "no instruction set that kernels have variants for", "");
    if (cpu.memory > 0) {
        snprintf(text, sizeof text, "%.1f GB, %.1f GB of it available", 1e-9 * (double)cpu.memory,
                 1e-9 * (double)cpu.memory_available);
        say(d, "memory", SX_DOCTOR_OK, text, "");
    } else {
        say(d, "memory", SX_DOCTOR_NONE, "the system does not say how much there is", "");
    }
}

static void look_at_openmp(const doctor *d) {
    char text[128];
    const int threads = omp_get_max_threads(), cores = omp_get_num_procs();
    snprintf(text, sizeof text, "version %d, %d thread%s on %d core%s", _OPENMP, threads,
             threads == 1 ? "" : "s", cores, cores == 1 ? "" : "s");
    if (threads > cores) {
        say(d, "openmp", SX_DOCTOR_POOR, text,
            "threads outnumber cores: unset OMP_NUM_THREADS or lower it");
    } else {
        say(d, "openmp", SX_DOCTOR_OK, text, "");
    }
}

static void look_at_hdf5(const doctor *d) {
    sxi_h5_library hdf5;
    char text[1024];
    sxi_h5_library_get(&hdf5);
    snprintf(text, sizeof text, "version %s, %s", hdf5.version,
             hdf5.thread_safe ? "thread-safe build" : "one thread at a time");
    say(d, "hdf5", SX_DOCTOR_OK, text, "");
    size_t used = 0;
    for (int i = 0; sxi_codec_at(i); i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "",
                                 sxi_codec_name(sxi_codec_at(i)));
    }
    say(d, "decoders", SX_DOCTOR_OK, text, "");
    snprintf(text, sizeof text, "deflate%s%s, plugins from %s", hdf5.has_shuffle ? " shuffle" : "",
             hdf5.has_szip ? " szip" : "", *hdf5.plugin_path ? hdf5.plugin_path : "nowhere");
    if (hdf5.has_deflate) {
        say(d, "hdf5 filters", SX_DOCTOR_OK, text, "");
    } else {
        say(d, "hdf5 filters", SX_DOCTOR_MISSING, "no deflate: most compressed files stay closed",
            "use an HDF5 built with zlib, as Debian's libhdf5-dev is");
    }
}

static void look_at_blas(const doctor *d) {
    char text[256];
    sxi_blas blas;
    if (!sxi_blas_find(&blas)) {
        say(d, "blas", SX_DOCTOR_NONE, "no OpenBLAS", "");
        return;
    }
    sx_cpu cpu;
    sx_cpu_get(&cpu);
    snprintf(text, sizeof text, "%s, kernels for %s", blas.configuration, blas.core);
    /* OpenBLAS takes a CPU that is newer than itself for the oldest it knows, which has none of
     * these instructions (0.3.21 of Debian 12 does so with new Xeons). */
    if (strcmp(blas.core, "Prescott") == 0 && cpu.features & SX_CPU_AVX2) {
        say(d, "blas", SX_DOCTOR_POOR, text,
            cpu.features & SX_CPU_AVX512
                ? "OpenBLAS does not know this CPU: export OPENBLAS_CORETYPE=SkylakeX"
                : "OpenBLAS does not know this CPU: export OPENBLAS_CORETYPE=Haswell");
    } else {
        say(d, "blas", SX_DOCTOR_OK, text, "");
    }
}

static void look_at_gpu(const doctor *d) {
    char text[SXI_CUDA_WHY];
    if (sxi_gpu_find(text, sizeof text)) {
        say(d, "gpu", SX_DOCTOR_OK, text, "");
    } else {
        say(d, "gpu", SX_DOCTOR_NONE, text, "");
    }
    sxi_dcos_cuda cuda;
    const bool kernels = sxi_dcos_cuda_load(&cuda, NULL, text);
    if (kernels) {
        snprintf(text, sizeof text, "libsextant_cuda.so; compiled, not run by us yet");
    }
    say(d, "gpu kernels", kernels ? SX_DOCTOR_OK : SX_DOCTOR_NONE, text, "");
    const bool straight = sxi_cufile_find(text, sizeof text);
    say(d, "cufile", straight ? SX_DOCTOR_OK : SX_DOCTOR_NONE, text, "");
}

static void look_at_mpi(const doctor *d) {
    sxi_launcher launcher;
    char library[SXI_WIRE_WHY], text[SXI_WIRE_WHY + 128];
    sxi_launcher_get(&launcher);
    const bool found = sxi_wire_version(library, sizeof library);
    const bool alone = launcher.size == 1;
    int used = snprintf(text, sizeof text, "%s, ", library);
    if (alone) {
        snprintf(text + used, sizeof text - (size_t)used, "one rank: no launcher");
    } else if (launcher.size > 0) {
        snprintf(text + used, sizeof text - (size_t)used, "%d ranks of %s", launcher.size,
                 launcher.name);
    } else {
        snprintf(text + used, sizeof text - (size_t)used, "ranks of %s", launcher.name);
    }
    if (launcher.mute) {
        say(d, "mpi", SX_DOCTOR_MISSING, text, "the ranks have no PMI: srun --mpi=pmix, or mpirun");
    } else if (found) {
        say(d, "mpi", SX_DOCTOR_OK, text, "");
    } else if (alone) {
        say(d, "mpi", SX_DOCTOR_NONE, text, "");
    } else {
        say(d, "mpi", SX_DOCTOR_MISSING, text, "install libopenmpi-dev and build again");
    }
}

static void look_at_gnuplot(const doctor *d) {
    char path[4096];
    if (sxi_program_find("gnuplot", path, sizeof path)) {
        say(d, "gnuplot", SX_DOCTOR_OK, path, "");
    } else {
        say(d, "gnuplot", SX_DOCTOR_MISSING, "not on PATH; sextant xani figure needs it",
            "apt-get install gnuplot-nox");
    }
}

sx_status sx_doctor_run(sx_doctor_fn report, void *data) {
    if (!report) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "the doctor has nobody to report to");
    }
    const doctor d = {report, data};
    look_at_cpu(&d);
    look_at_openmp(&d);
    look_at_hdf5(&d);
    look_at_blas(&d);
    look_at_gpu(&d);
    look_at_mpi(&d);
    look_at_gnuplot(&d);
    return SX_OK;
}
