// Stands for NIXL's library: preloaded, it makes a process look as one that uses NIXL.
int nixl_stand_in = 1;
