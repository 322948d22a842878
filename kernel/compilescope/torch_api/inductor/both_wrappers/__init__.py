"""A graph compiled under the Python wrapper here, and under the C++ wrapper in another process.

What torch compiles is noticed where Inductor hands it to AOTAutograd, fresh or from torch's caches
(`compiling`); each graph is packed before Inductor changes it, and carries what the other process
needs (`packing`). That process builds it (`building`). What it gives is loaded here: nothing is
traced, lowered or built (`loading`).
"""
