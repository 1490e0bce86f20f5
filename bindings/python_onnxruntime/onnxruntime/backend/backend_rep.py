"""OnnxRuntimeBackendRep: a session as ONNX's backend interface wants it."""
import numpy as np
from onnx.backend.base import BackendRep

from onnxruntime import RunOptions

_ALLOWED = frozenset(("log_severity_level", "log_verbosity_level", "logid", "only_execute_path_to_fetches"))


def set_allowed(options, settings, allowed):
    """Sets attributes of options; RuntimeError for one that there is and that is not allowed. Others are ignored."""
    for name, value in settings.items():
        if name in allowed:
            setattr(options, name, value)
        elif hasattr(options, name):
            raise RuntimeError(f"{type(options).__name__} attribute '{name}' is not permitted via the backend API; these are: "
                               f"{', '.join(sorted(allowed))}")


class OnnxRuntimeBackendRep(BackendRep):
    """A session that is ready to run."""

    def __init__(self, session):
        self._session = session

    def run(self, inputs, **kwargs):
        """The outputs for a list with an array for each input, or for an array where there is one input. Keywords are
        attributes of RunOptions."""
        options = RunOptions()
        set_allowed(options, kwargs, _ALLOWED)
        names = [port.name for port in self._session.get_inputs()]
        if not isinstance(inputs, list):
            if len(names) != 1:
                raise RuntimeError(f"the model has {len(names)} inputs: give a list of arrays")
            inputs = [inputs]
        arrays = [np.asarray(value) if isinstance(value, np.generic) else value for value in inputs]
        return self._session.run(None, dict(zip(names, arrays)), options)
