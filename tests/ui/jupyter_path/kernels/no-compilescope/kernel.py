"""An IPython kernel that cannot import compilescope, as in an environment that lacks it."""

import sys


class Lacking:
    """Finds nothing, and says so, where compilescope is looked for."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "compilescope":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Lacking())

from ipykernel import kernelapp  # noqa: E402

kernelapp.launch_new_instance()
