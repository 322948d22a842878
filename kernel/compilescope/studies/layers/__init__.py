"""The study of layers: where one call's time goes."""
