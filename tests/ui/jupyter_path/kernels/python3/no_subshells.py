"""A kernel that has no subshells, as ipykernel 6 and Pyodide's have none."""

from ipykernel.ipkernel import IPythonKernel


class Plain(IPythonKernel):
    @property
    def kernel_info(self):
        info = super().kernel_info
        features = [f for f in info.get("supported_features", []) if f != "kernel subshells"]
        return {**info, "supported_features": features}
