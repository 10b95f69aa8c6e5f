/* Specialization constants, by the function that the translator makes them from. */
#define CONSTANT(type)                                                                             \
    type __attribute__((overloadable)) __spirv_SpecConstant(int id, type value)

CONSTANT(char);
CONSTANT(short);
CONSTANT(int);
CONSTANT(long);
CONSTANT(float);
CONSTANT(double);

kernel void constants(global double *out)
{
    out[0] = __spirv_SpecConstant(10, (char)1);
    out[1] = __spirv_SpecConstant(11, (short)2);
    out[2] = __spirv_SpecConstant(12, 3);
    out[3] = (double)__spirv_SpecConstant(13, 4L);
    out[4] = __spirv_SpecConstant(14, 5.5f);
    out[5] = __spirv_SpecConstant(15, 6.25);
}
