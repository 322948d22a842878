"""The backend that starts with the Python wrapper and builds the C++ wrapper in the background."""
