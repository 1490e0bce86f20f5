// How texts cross: to C as zero-terminated bytes of Go's, back as copies.

package native

import "C"

import "unsafe"

// TextOf is the bytes of text with a zero after them, for a call. A text must hold no zero byte itself.
func TextOf(text string) *byte {
	bytes := make([]byte, len(text)+1)
	copy(bytes, text)
	return &bytes[0]
}

// StringOf copies a text of the library's; it is empty for nil.
func StringOf(text *byte) string {
	return C.GoString((*C.char)(unsafe.Pointer(text)))
}

// TakeString copies a text that the caller owns, and frees it.
func TakeString(text *byte) string {
	if text == nil {
		return ""
	}
	defer Free_text(text)
	return StringOf(text)
}
