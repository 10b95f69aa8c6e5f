/* libnvperf_host.so: CUPTI needs it to be there, and uses nothing of it. */

__attribute__((visibility("default"))) int NVPW_InitializeHost(void);

int NVPW_InitializeHost(void)
{
    return 0;
}
