"""Options of sessions and runs: entries that are not there are RuntimeError, and attributes show names."""
import ortolan

from ._enumerations import named


def _shown(attribute):
    """An attribute of ortolan's SessionOptions whose values are members of an enumeration."""
    setting = getattr(ortolan.SessionOptions, attribute)
    kind = named(type(setting.__get__(ortolan.SessionOptions())))

    def read(self):
        return kind(setting.__get__(self))

    def write(self, value):
        if not isinstance(value, int):
            raise TypeError(f"{attribute} is a member of {kind.__name__}, not a '{type(value).__name__}'")
        setting.__set__(self, value)

    return property(read, write, doc=setting.__doc__)


def _entry(options, read, key):
    try:
        return read(options, key)
    except ortolan.InvalidArgument as error:
        raise RuntimeError(f"{type(options).__name__} does not have configuration with key: {key}") from error


class SessionOptions(ortolan.SessionOptions):
    """How sessions are made."""

    graph_optimization_level = _shown("graph_optimization_level")
    execution_mode = _shown("execution_mode")
    execution_order = _shown("execution_order")

    def get_session_config_entry(self, key):
        """The value of an entry; RuntimeError when it is not set."""
        return _entry(self, ortolan.SessionOptions.get_session_config_entry, key)


class RunOptions(ortolan.RunOptions):
    """How one or more runs go."""

    def get_run_config_entry(self, key):
        """The value of an entry; RuntimeError when it is not set."""
        return _entry(self, ortolan.RunOptions.get_run_config_entry, key)
