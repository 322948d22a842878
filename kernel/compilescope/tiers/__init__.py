"""The backend that begins with the Python wrapper and builds the C++ wrapper behind it."""
