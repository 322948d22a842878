"""The only package that uses torch's private names: one module per hook.

Each module lists the names it relies on and the differences between torch 2.11 and 2.15, so that a
torch upgrade can break nothing else.
"""
