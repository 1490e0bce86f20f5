// Package native is what SWIG makes of the calls of the bindings, with the little that SWIG cannot make: how to link,
// and how texts and log lines come to Go. Handles are plain addresses; nothing here checks them.
package native

/*
#cgo pkg-config: libortolan
#cgo CFLAGS: -O2 -std=c11
*/
import "C"
