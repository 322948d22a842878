"""Running a graph once more, concurrently with the calls of the user: whether and how."""
