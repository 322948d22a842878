"""What went wrong or was left out: failed compilations, graph breaks."""
