/* printf as zeta-nv-cc and zeta-vgpu-cc lower it, and the buffer of an NVIDIA GPU as it lies there. */

int __zeta_printf(ulong format, ulong slots, ulong count);
ulong __zeta_print_buffer(void);

/* Each item prints the same; its result is stored. */
kernel void print(global char *format, global ulong *slots, uint count, global int *result)
{
    result[get_global_id(0)] = __zeta_printf((ulong)format, (ulong)slots, count);
}

/* Words over the begin of the buffer. */
kernel void damage(global ulong *words, uint count)
{
    global ulong *buffer = (global ulong *)__zeta_print_buffer();

    for (uint i = 0; i < count; i++)
        buffer[i] = words[i];
}
