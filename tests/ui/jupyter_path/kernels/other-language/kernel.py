"""A kernel of another language: it prints what it is given."""

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel


class Echo(Kernel):
    implementation = "echo"
    implementation_version = "1.0"
    banner = "echo"
    language_info = {"name": "echo", "mimetype": "text/plain", "file_extension": ".txt"}

    async def do_execute(self, code, silent, *_args, **_kwargs):
        if not silent:
            self.send_response(self.iopub_socket, "stream", {"name": "stdout", "text": code})
        return {
            "status": "ok",
            "execution_count": self.execution_count,
            "payload": [],
            "user_expressions": {},
        }


IPKernelApp.launch_instance(kernel_class=Echo)
