"""Lists of providers as the official package takes them: what is not here is left out, with a warning."""
import warnings
from collections.abc import Sequence

import ortolan

CPU = "CPUExecutionProvider"


def _pairs(providers, provider_options):
    """The providers as (name, options); ValueError for what is neither a name nor such a pair."""
    if not isinstance(providers, Sequence):
        raise ValueError(f"providers must be a sequence of names or (name, options) pairs, not {providers!r}")
    if provider_options is not None:
        if not isinstance(provider_options, Sequence) or len(provider_options) != len(providers):
            raise ValueError("provider_options must be a sequence with as many elements as providers")
        if not all(isinstance(name, str) for name in providers) or not all(isinstance(o, dict) for o in provider_options):
            raise ValueError("with provider_options, which must be dicts, providers must be names")
        return list(zip(providers, provider_options))
    pairs = [(provider, {}) if isinstance(provider, str) else provider for provider in providers]
    for pair in pairs:
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) and isinstance(pair[1], dict)):
            raise ValueError(f"a provider must be a name or a pair of a name and a dict of options, not {pair!r}")
    return pairs


def check_and_normalize_provider_args(providers, provider_options, available_provider_names):
    """The names, each once, and the options of each, whose keys and values become text. Warns of those that are not
    available and of those that come twice."""
    found = {}
    for name, options in () if providers is None else _pairs(providers, provider_options):
        if name not in available_provider_names:
            warnings.warn(f"Specified provider '{name}' is not in available provider names. Available providers: "
                          f"'{', '.join(available_provider_names)}'", stacklevel=5)
        if name in found:
            warnings.warn(f"Duplicate provider '{name}' encountered, ignoring.", stacklevel=5)
        else:
            found[name] = {str(key): str(value) for key, value in options.items()}
    return list(found), list(found.values())


def usable(providers, provider_options):
    """The providers of a list that are here, with their options. RuntimeError where one has a name that nobody knows."""
    available = ortolan.get_available_providers()
    names, options = check_and_normalize_provider_args(providers, provider_options, available)
    for name in names:
        if name not in available and name not in ortolan.get_all_providers():
            raise RuntimeError(f"Unknown Provider Type: {name}")
    return [pair for pair in zip(names, options) if pair[0] in available]
