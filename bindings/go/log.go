// Log lines: their severity, and functions that get them.

package ortolan

import (
	"runtime/cgo"

	"ortolan.org/ortolan/internal/native"
)

// LogSeverity is how important a log line is.
type LogSeverity int32

// The severities, least important first.
const (
	LogVerbose LogSeverity = 0
	LogInfo    LogSeverity = 1
	LogWarning LogSeverity = 2
	LogError   LogSeverity = 3
	LogFatal   LogSeverity = 4
)

func (s LogSeverity) String() string {
	names := []string{"verbose", "info", "warning", "error", "fatal"}
	if s < 0 || int(s) >= len(names) {
		return "unknown"
	}
	return names[s]
}

// LogLine is one line of the library's log.
type LogLine struct {
	Severity LogSeverity
	Category string // what part of the library speaks
	LogID    string // of the environment, session or run
	Location string // file, line and function in the library
	Message  string
}

// LogFunc gets log lines, on any thread, several at a time. It should be quick and must not close what it hears of.
// What it panics with goes to stderr.
type LogFunc func(LogLine)

var sinkClass = &class{"log function", func(address uintptr) { cgo.Handle(address).Delete() }}

// newSink is the object for a log function; nil for nil.
func newSink(log LogFunc) *object {
	if log == nil {
		return nil
	}
	sink := new(object)
	sink.init(sinkClass, uintptr(cgo.NewHandle(native.LogSink(
		func(severity int32, category, logID, location, message string) {
			log(LogLine{LogSeverity(severity), category, logID, location, message})
		}))))
	return sink
}
