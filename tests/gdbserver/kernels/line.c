/* One straight line, which the threads of the scripted device execute without any effect. */
void straight(int *values);

static volatile int seen;

void straight(int *values)
{
    seen = 1;
    seen = 2;
    seen = 3;
    seen = 4;
    values[0] = seen;
}
