"""InferenceSession with the habits of the official package."""
import os
import warnings

import ortolan
from ortolan import Fail, OrtError

from ._options import SessionOptions
from ._providers import CPU, usable


class IOBinding(ortolan.IOBinding):
    """Inputs and outputs that are bound once and run many times. What cannot be bound is RuntimeError."""

    def _bind_input(self, name, handle):
        try:
            super()._bind_input(name, handle)
        except OrtError as error:
            raise RuntimeError(f"the input '{name}' cannot be bound: {error}") from error


class Session(ortolan.InferenceSession):
    """What can be run."""

    @property
    def _model_path(self):
        """The model's path, or None where it was given as bytes."""
        return os.fsdecode(self._model[0]) if isinstance(self._model, tuple) else None

    def run(self, output_names, input_feed, run_options=None):
        """The outputs of these names, None or none for all, for the inputs of `input_feed`. A missing input is ValueError,
        None for a tensor is Fail, and a text instead of a list of names is TypeError."""
        if isinstance(output_names, str):
            raise TypeError(f"run(): the names of outputs are a list of str, not the str '{output_names}'")
        try:
            return super().run(output_names, input_feed, run_options)
        except (OrtError, TypeError):
            self._raise_as_official(input_feed)
            raise

    def _raise_as_official(self, feed):
        """Raises what the official package does for a feed that cannot be run, if that is not what ortolan does."""
        given = list(feed.keys())
        missing = [name for name in self._required_types if name not in given]
        if missing:
            raise ValueError(f"Required inputs ({missing}) are missing from input feed ({given}).")
        for name in given:
            if feed[name] is None:
                raise Fail(f"[ONNXRuntimeError] : 1 : FAIL : the input '{name}' is None; give an array")

    def disable_fallback(self):
        """Does nothing: runs never change a session's providers."""

    def enable_fallback(self):
        """Does nothing: runs never change a session's providers."""

    def io_binding(self):
        """A new binding of inputs and outputs for run_with_iobinding."""
        self._open_handle()
        return IOBinding(self)

    def run_with_iobinding(self, iobinding, run_options=None):
        """Runs on what is bound; RuntimeError where that fails."""
        try:
            super().run_with_iobinding(iobinding, run_options)
        except OrtError as error:
            raise RuntimeError(f"Error in execution: {error}") from error

    def set_providers(self, providers=None, provider_options=None):
        """Loads the model again, for other providers; RuntimeError for a name that nobody knows."""
        super().set_providers(usable(providers, provider_options))


class InferenceSession(Session):
    """A model that is ready to run."""

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **kwargs):
        """Loads a model from a path or from its bytes. Providers that are not here are left out with a warning. So is the
        whole list where it makes no sense, unless enable_fallback=0 is given. Other keywords than that and
        disabled_optimizers are ignored."""
        if sess_options is not None and not isinstance(sess_options, ortolan.SessionOptions):
            raise TypeError(f"sess_options must be SessionOptions, not '{type(sess_options).__name__}'")
        fallback = int(kwargs.get("enable_fallback", 1)) == 1
        super().__init__(path_or_bytes, sess_options or SessionOptions(), self._usable(providers, provider_options, fallback),
                         disabled_optimizers=kwargs.get("disabled_optimizers") or ())

    @staticmethod
    def _usable(providers, provider_options, fallback):
        try:
            return usable(providers, provider_options)
        except (ValueError, RuntimeError) as error:
            if not fallback:
                raise
            warnings.warn(f"EP Error {error} when using {providers}; falling back to ['{CPU}']", stacklevel=3)
            return [(CPU, {})]
