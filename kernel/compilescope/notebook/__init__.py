"""``%%compile`` and ``%compilescope``: the magics, their options, the cell taken apart."""
