"""How long calls take, and how far their results are apart."""
