/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sextant/cpu.h>
#include <sextant/version.h>

#include "base/memory_limit.h"
#include "sx_check.h"

START_TEST(this_machine_makes_sense) {
    sx_cpu cpu;
    char text[256];
    sx_cpu_get(&cpu);
    ck_assert_int_ge(cpu.cores, 1);
    ck_assert_int_gt(cpu.memory, 0);
    ck_assert_int_le(cpu.memory_available, cpu.memory);
    ck_assert(!(cpu.features & SX_CPU_AVX512) || cpu.features & SX_CPU_AVX2);
    sx_cpu_describe(&cpu, text, sizeof text);
    printf("%s, %lld of %lld bytes free\n", text, (long long)cpu.memory_available,
           (long long)cpu.memory);
    ck_assert(strncmp(text, cpu.architecture, strlen(cpu.architecture)) == 0);
}
END_TEST

START_TEST(features_are_words) {
    sx_cpu cpu = {.features = SX_CPU_AVX | SX_CPU_FMA};
    char text[64];
    sx_cpu_features(&cpu, text, sizeof text);
    ck_assert_str_eq(text, "avx fma");
    sx_cpu_features(&cpu, text, 6);
    ck_assert_str_eq(text, "avx f");
    cpu.features = 0;
    sx_cpu_features(&cpu, text, sizeof text);
    ck_assert_str_eq(text, "");
}
END_TEST

static char root[64];

static void put(const char *path, const char *content) {
    char full[512];
    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *slash = strchr(full + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    ck_assert_ptr_nonnull(file);
    fputs(content, file);
    fclose(file);
}

static void expect(int64_t total, int64_t available) {
    int64_t t = -1, a = -1;
    sxi_memory_limit(root, &t, &a);
    ck_assert_int_eq(t, total);
    ck_assert_int_eq(a, available);
}

START_TEST(control_groups_lower_the_memory) {
    snprintf(root, sizeof root, "/tmp/sextant-cpu-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    expect(0, 0);
    put("proc/meminfo", "MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable:  800 kB\n");
    expect(1024000, 819200);
    put("proc/self/cgroup", "0::/user/job\n");
    put("sys/fs/cgroup/user/job/memory.max", "max\n");
    expect(1024000, 819200);
    put("sys/fs/cgroup/user/memory.max", "500000\n");
    put("sys/fs/cgroup/user/memory.current", "300000\n");
    expect(500000, 200000);
    put("sys/fs/cgroup/user/memory.stat", "anon 5\ninactive_file 100000\n");
    expect(500000, 300000);
    put("sys/fs/cgroup/user/job/memory.max", "100000\n");
    put("sys/fs/cgroup/user/job/memory.current", "250000\n");
    expect(100000, 0);
    put("proc/self/cgroup", "9:memory:/elsewhere\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "400000\n");
    expect(400000, 400000);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(version_and_commit_are_known) {
    ck_assert_str_eq(sx_version(), "0.1.0");
    ck_assert_uint_ge(strlen(sx_commit()), 7);
    printf("commit %s\n", sx_commit());
}
END_TEST

SX_TEST_MAIN("cpu", this_machine_makes_sense, features_are_words, control_groups_lower_the_memory,
             version_and_commit_are_known)
