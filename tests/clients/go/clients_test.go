// Package clients holds programs as Go users of github.com/yalue/onnxruntime_go write them.
package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	ort "github.com/yalue/onnxruntime_go"
)

// TestMain uses the library that the environment names for all tests.
func TestMain(m *testing.M) {
	ort.SetSharedLibraryPath(os.Getenv("CLIENTS_FILE"))
	if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := ort.DestroyEnvironment(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// made is for functions that return a value and an error: made(f())(t) is the value.
func made[T any](value T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		must(t, err)
		return value
	}
}

func equal[T comparable](t testing.TB, got, want []T) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

func refused(t testing.TB, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("there is no error")
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Fatalf("the error does not say %q: %v", word, err)
		}
	}
}

func model(name string) string {
	return filepath.Join(os.Getenv("CLIENTS_MODELS"), name+".onnx")
}

func digitsModel() string {
	return filepath.Join(os.Getenv("CLIENTS_DIGITS"), "digits.onnx")
}

// picture is the pixels of digit_N.pgm, 8 x 8, ink from 0 to 1.
func picture(t testing.TB, digit int) []float32 {
	path := filepath.Join(os.Getenv("CLIENTS_DIGITS"), fmt.Sprintf("digit_%d.pgm", digit))
	content := string(made(os.ReadFile(path))(t))
	_, numbers, _ := strings.Cut(content, "8 8\n16\n")
	pixels := make([]float32, 64)
	reader := strings.NewReader(numbers)
	for i := range pixels {
		if _, err := fmt.Fscan(reader, &pixels[i]); err != nil {
			t.Fatal(err)
		}
		pixels[i] /= 16
	}
	return pixels
}

func best(scores []float32) int {
	found := 0
	for i := range scores {
		if scores[i] > scores[found] {
			found = i
		}
	}
	return found
}

func TestLibraryIsOrtolan(t *testing.T) {
	if os.Getenv("CLIENTS_LIBRARY") == "" {
		t.Skip("on the official library")
	}
	maps := string(made(os.ReadFile("/proc/self/maps"))(t))
	if file := made(filepath.EvalSymlinks(os.Getenv("CLIENTS_FILE")))(t); !strings.Contains(maps, file) {
		t.Fatal("the process has not loaded", file)
	}
	if version := ort.GetVersion(); !strings.HasPrefix(version, "1.31.") {
		t.Fatal("the version is", version)
	}
}
