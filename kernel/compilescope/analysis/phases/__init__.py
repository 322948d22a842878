"""When and for how long torch compiled: phases, caches, first calls."""
