/* Takes a function and a variable from another module. */
int imported_function(int x);
extern global int imported_variable;

kernel void use_imports(global int *out)
{
    size_t i = get_global_id(0);

    out[i] = imported_function((int)i) + imported_variable;
}

/* And gives one. */
int given_back(int x)
{
    return x * 1000;
}
