#!/usr/bin/env python3
"""Writes operator_signatures.txt anew from what a library with the C ABI answers to GetOpSchema.

read_operator_signatures.py LIBRARY NAMES > operator_signatures.txt
NAMES has a line "domain<tab>operator" for each operator to ask for; operators that the library does not know are left out.
"""
import ctypes
import pathlib
import sys

API_VERSION = 30
MAX_OPSET = 40
POINTER, SIZE, TEXT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p

HEADING = """\
# Names and types of operators' inputs and outputs. A domain stands in brackets. An operator's line has its name (nothing:
# the one above), the opset that brought this form, inputs, outputs and type parameters; " repeats the line above. An
# input is name:parameter, or its name alone where its type is fixed. A parameter names one of the sets of types, which
# are lists of numbers and ranges of the types, parted by |.
"""


class Api:
    def __init__(self, library):
        rows = [line.split("\t") for line in (pathlib.Path(__file__).parent / "ort_api.tsv").read_text().splitlines()]
        self.offsets = {(row[0], row[3]): int(row[2]) for row in rows[1:]}
        library.OrtGetApiBase.restype = POINTER
        base = library.OrtGetApiBase()
        get_api = ctypes.cast(base, ctypes.POINTER(POINTER))[0]
        self.api = ctypes.CFUNCTYPE(POINTER, ctypes.c_uint32)(get_api)(API_VERSION)
        self.ep = self.function("OrtApi", "GetEpApi", POINTER)()
        env = POINTER()
        self.function("OrtApi", "CreateEnv", POINTER, ctypes.c_int, TEXT, POINTER)(3, b"names", ctypes.byref(env))

    def function(self, table, name, result, *parameters):
        address = (self.ep if table == "OrtEpApi" else self.api) + self.offsets[table, name]
        return ctypes.CFUNCTYPE(result, *parameters)(ctypes.cast(address, ctypes.POINTER(POINTER))[0])

    def ask(self, name, kinds, *arguments):
        """Calls a function of OrtEpApi that ends in out parameters of these kinds."""
        outs = [kind() for kind in kinds]
        types = [TEXT if isinstance(a, bytes) else SIZE if isinstance(a, int) else POINTER for a in arguments]
        function = self.function("OrtEpApi", name, POINTER, *types, *[POINTER] * len(outs))
        status = function(*arguments, *[ctypes.byref(out) for out in outs])
        if status:
            raise RuntimeError(self.function("OrtApi", "GetErrorMessage", TEXT, POINTER)(status).decode())
        return outs[0].value if len(outs) == 1 else outs

    def parameter(self, constraint):
        return self.ask("OpSchemaTypeConstraint_GetTypeParamName", [TEXT], POINTER(constraint)).decode()

    def side(self, schema, kind):
        result = []
        for i in range(self.ask(f"OpSchema_GetNum{kind}s", [SIZE], schema)):
            name = self.ask(f"OpSchema_Get{kind}Name", [TEXT], schema, i).decode()
            constraint = self.ask(f"OpSchema_Get{kind}TypeConstraint", [POINTER], schema, i)
            result.append(f"{name}:{self.parameter(constraint)}" if constraint else name)
        return " ".join(result)

    def parameters(self, schema):
        for i in range(self.ask("OpSchema_GetTypeConstraintCount", [SIZE], schema)):
            constraint = self.ask("OpSchema_GetTypeConstraint", [POINTER], schema, i)
            types, count = self.ask("OpSchemaTypeConstraint_GetAllowedTypes", [POINTER, SIZE], POINTER(constraint))
            texts = ctypes.cast(types, ctypes.POINTER(TEXT))
            yield self.parameter(constraint), tuple(texts[k].decode() for k in range(count.value))

    def forms(self, domain, name):
        """(since, inputs, outputs, parameters) of each form of the operator."""
        last = 0
        for version in range(1, MAX_OPSET):
            address = self.ask("GetOpSchema", [POINTER], name.encode(), version, domain.encode())
            since = self.ask("OpSchema_GetSinceVersion", [ctypes.c_int], POINTER(address)) if address else 0
            if since <= last:
                continue
            last = since
            schema = POINTER(address)
            yield since, self.side(schema, "Input"), self.side(schema, "Output"), list(self.parameters(schema))


def ranges(numbers):
    """[0, 1, 2, 5] as "0-2,5"."""
    parts = []
    for number in numbers:
        if parts and parts[-1][1] + 1 == number:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def main():
    api = Api(ctypes.CDLL(sys.argv[1]))
    names = sorted({tuple(line.split("\t")) for line in pathlib.Path(sys.argv[2]).read_text().splitlines()})
    types, sets, lines = {}, {}, []
    section = None
    for domain, name in names:
        above, is_new = ("", ""), True
        for since, inputs, outputs, parameters in api.forms(domain, name):
            if domain != section:
                section = domain
                lines.append(f"[{domain}]")
            columns = []
            for parameter, allowed in parameters:
                key = ranges([types.setdefault(text, len(types)) for text in allowed])
                columns.append(f"{parameter}={sets.setdefault(key, len(sets))}")
            both = tuple('"' if text and text == old else text for text, old in zip((inputs, outputs), above))
            first = name if is_new else ""
            lines.append("\t".join([first, str(since), *both, " ".join(columns)]))
            above, is_new = (inputs, outputs), False
    print(HEADING + "types " + "|".join(types))
    print("sets " + " ".join(sets))
    print("\n".join(lines))


main()
