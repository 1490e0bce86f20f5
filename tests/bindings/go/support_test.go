// What the tests share: models, values, and checks.

package tests

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ortolan.org/ortolan"
)

func modelPath(name string) string {
	return filepath.Join(os.Getenv("ORTOLAN_TEST_MODELS"), name+".onnx")
}

// must stops the test on an error and gives the result otherwise.
func must[T any](t testing.TB) func(result T, err error) T {
	return func(result T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal(t testing.TB, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got %#v, want %#v", got, want)
	}
}

// refused checks that an error is the library's or the package's own, with a code and with the words in its text that
// tell it from others.
func refused(t testing.TB, err error, code ortolan.ErrorCode, part string) {
	t.Helper()
	var failed *ortolan.Error
	if !errors.As(err, &failed) {
		t.Fatalf("got %v, want an error", err)
	}
	if part == "" || failed.Code != code || !strings.Contains(failed.Message, part) {
		t.Fatalf("got code %d and '%s', want code %d and '%s'", failed.Code, failed.Message, code, part)
	}
}

func open(t testing.TB, name string, options *ortolan.SessionOptions) *ortolan.Session {
	t.Helper()
	session := must[*ortolan.Session](t)(ortolan.NewSession(modelPath(name), options))
	t.Cleanup(func() { session.Close() })
	return session
}

func tensor[T ortolan.Element](t testing.TB, data []T, shape ...int64) *ortolan.Value {
	t.Helper()
	value := must[*ortolan.Value](t)(ortolan.NewTensor(data, shape...))
	t.Cleanup(func() { value.Close() })
	return value
}

func floats(t testing.TB, numbers ...float32) *ortolan.Value {
	t.Helper()
	return tensor(t, numbers, int64(len(numbers)))
}

func dataOf[T ortolan.Element](t testing.TB, value *ortolan.Value) []T {
	t.Helper()
	return must[[]T](t)(ortolan.Data[T](value))
}
