"""The way from this project to convlab 3.0.1: its data, its repairs, and the agents that play.

convlab is imported from a *runtime folder* (`data` builds it, `runtime` opens it), never patched
on disk.
"""
