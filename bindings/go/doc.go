// Package ortolan runs ONNX models with the Ortolan library.
//
//	session, err := ortolan.NewSession("model.onnx", nil)
//	...
//	defer session.Close()
//	input, err := ortolan.NewTensor([]float32{1, 2, 3, 4}, 2, 2)
//	...
//	defer input.Close()
//	outputs, err := session.Run(input)
//	...
//	numbers, err := ortolan.Data[float32](outputs[0])
//
// # Lifetimes
//
// Environments, session options, sessions, bindings and values hold memory of the library; Close gives it back. Close
// may be called any number of times and at any time, also while other goroutines use the object: their calls end first.
// What was made from an object keeps what it needs of it, so objects may be closed in any order. An object that the
// program loses without closing it is closed by the garbage collector some time later. Calls on closed objects fail
// with an error that is ErrClosed. These objects must not be copied.
//
// # Goroutines
//
// All functions may be called on any goroutine. Sessions run on any number of goroutines at once. Bindings run one run
// at a time; further ones wait. Writing the elements of a value that another goroutine reads or that takes part in a
// run is a data race, as with a slice of Go's.
//
// # Errors
//
// Errors are of type *Error, with the code and the text of the library. Runs that a context ended give an error that is
// the context's, too.
package ortolan
