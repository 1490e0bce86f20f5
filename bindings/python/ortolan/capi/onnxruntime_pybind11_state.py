"""What programs for ONNX Runtime import from behind its package: exceptions and what few programs need."""
from .._binding import OrtValueVector  # noqa: F401
from .._errors import (  # noqa: F401
    DeviceReset, EngineError, EPFail, Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, ModelLoadCanceled, ModelLoaded,
    ModelRequiresCompilation, NoModel, NoSuchFile, NotFound, NotImplemented, RuntimeException)
from .._memory import ArenaExtendStrategy  # noqa: F401
from .._sparse import SparseBlockSparseView, SparseCooView, SparseCsrView  # noqa: F401
from .._state import (  # noqa: F401
    OrtCompiledModelCompatibility, OrtDeviceEpIncompatibilityReason, SessionObjectInitializer, get_all_operator_schema,
    get_all_opkernel_def, get_compatibility_info_from_model, get_compatibility_info_from_model_bytes,
    get_default_session_options, get_hardware_device_ep_incompatibility_details, get_hardware_devices,
    get_model_compatibility_for_ep_devices, get_session_initializer)

kNextPowerOfTwo = ArenaExtendStrategy.kNextPowerOfTwo  # noqa: N816
kSameAsRequested = ArenaExtendStrategy.kSameAsRequested  # noqa: N816
