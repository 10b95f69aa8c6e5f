/* What imports.cl takes. */
int given_back(int x);

global int imported_variable = 7;

int imported_function(int x)
{
    return given_back(x + 1) + imported_variable * 100;
}

kernel void own(global int *out)
{
    out[get_global_id(0)] = imported_function(2);
}
