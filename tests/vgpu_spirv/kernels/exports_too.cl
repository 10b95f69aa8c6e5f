/* Offers what exports.cl offers as well. */
int imported_function(int x)
{
    return x;
}
