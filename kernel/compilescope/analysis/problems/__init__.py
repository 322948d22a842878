"""Failed compilations and graph breaks."""
