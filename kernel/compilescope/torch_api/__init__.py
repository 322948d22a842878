"""The only rooms that touch torch's private names: one file a hook.

Each file says which names it stands on and what differs between torch 2.11 and 2.15, so that a
torch upgrade can break nothing else.
"""
