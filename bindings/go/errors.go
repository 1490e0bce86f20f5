// Errors: what the library says went wrong, with its code.

package ortolan

import (
	"fmt"
	"strings"

	"ortolan.org/ortolan/internal/native"
)

// ErrorCode says what kind of thing went wrong.
type ErrorCode int32

// The codes of errors.
const (
	Fail                     ErrorCode = 1
	InvalidArgument          ErrorCode = 2
	NoSuchFile               ErrorCode = 3
	NoModel                  ErrorCode = 4
	EngineError              ErrorCode = 5
	RuntimeException         ErrorCode = 6
	InvalidProtobuf          ErrorCode = 7
	ModelLoaded              ErrorCode = 8
	NotImplemented           ErrorCode = 9
	InvalidGraph             ErrorCode = 10
	ProviderFailed           ErrorCode = 11
	ModelLoadCanceled        ErrorCode = 12
	ModelRequiresCompilation ErrorCode = 13
	NotFound                 ErrorCode = 14
	DeviceReset              ErrorCode = 15
)

// Error is what every failed call of this package returns; errors.As finds it.
type Error struct {
	Code    ErrorCode
	Message string
	cause   error
}

func (e *Error) Error() string { return "ortolan: " + e.Message }

// Unwrap gives what lies under the error: ErrClosed, ErrCanceled, the error of a context, or nil.
func (e *Error) Unwrap() error { return e.cause }

// cause is an error that stands under others, to be found by errors.Is.
type cause string

func (c cause) Error() string { return string(c) }

const (
	// ErrClosed is under the errors of calls on objects that were closed.
	ErrClosed = cause("ortolan: the object is closed")
	// ErrCanceled is under the errors of runs that RunOptions.Terminate ended.
	ErrCanceled = cause("ortolan: the run was canceled")
)

func refuse(format string, arguments ...any) error {
	return &Error{Code: InvalidArgument, Message: fmt.Sprintf(format, arguments...)}
}

func closedError(what string) error {
	return &Error{Code: InvalidArgument, Message: "the " + what + " is closed", cause: ErrClosed}
}

// failure is the error of a call that left a status; nil when it left none.
func failure(status uintptr) error {
	if status == 0 {
		return nil
	}
	defer native.Release_status(status)
	return &Error{Code: ErrorCode(native.Status_code(status)), Message: native.StringOf(native.Status_message(status))}
}

// texts makes what a call reads of Go's texts; texts with a zero byte would be cut there, and are refused.
func textFor(text string) (*byte, error) {
	if strings.IndexByte(text, 0) >= 0 {
		return nil, refuse("the text %q holds a zero byte", text)
	}
	return native.TextOf(text), nil
}

func textsFor(first, second string) (*byte, *byte, error) {
	a, err := textFor(first)
	if err != nil {
		return nil, nil, err
	}
	b, err := textFor(second)
	return a, b, err
}
