// Where log lines come to Go.

package native

/*
#include <stdint.h>
*/
import "C"

import (
	"fmt"
	"os"
	"runtime/cgo"
)

// LogSink gets log lines, on any thread.
type LogSink func(severity int32, category, logID, location, message string)

//export ortolanLogLine
func ortolanLogLine(sink C.uintptr_t, severity C.int, category, logID, location, message *C.char) {
	defer surviveLog()
	cgo.Handle(sink).Value().(LogSink)(int32(severity), C.GoString(category), C.GoString(logID), C.GoString(location),
		C.GoString(message))
}

// A panic must not cross the library's frames, which could not be unwound.
func surviveLog() {
	if reason := recover(); reason != nil {
		fmt.Fprintln(os.Stderr, "ortolan: a log function panicked:", reason)
	}
}
