"""``%%compile`` and ``%compilescope``: the magics, their options, and the parsed cell."""
