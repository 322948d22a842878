"""Compiles a graph with the Python wrapper here, and with the C++ wrapper in another process.

Graphs are intercepted where Inductor returns them to AOTAutograd, fresh or from torch's caches
(`compiling`); each graph is packed before Inductor changes it, with the data that the other process
needs (`packing`). That process builds it (`building`). The result is loaded here: nothing is
traced, lowered or built (`loading`).
"""
