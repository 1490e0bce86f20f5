// Stress: goroutines, sessions and garbage collection at once, closing in all orders and during runs, without growth.

package tests

import (
	"errors"
	"math/rand"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ortolan.org/ortolan"
)

// residentKiB is the memory that the process takes.
func residentKiB(t testing.TB) int {
	t.Helper()
	for _, line := range strings.Split(string(must[[]byte](t)(os.ReadFile("/proc/self/status"))), "\n") {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "VmRSS:" {
			return must[int](t)(strconv.Atoi(words[1]))
		}
	}
	t.Fatal("there is no VmRSS")
	return 0
}

// stressTime is how long the stress goes on: ORTOLAN_STRESS_SECONDS, or a few seconds.
func stressTime(t testing.TB) time.Duration {
	if text := os.Getenv("ORTOLAN_STRESS_SECONDS"); text != "" {
		return time.Duration(must[float64](t)(strconv.ParseFloat(text, 64)) * float64(time.Second))
	}
	return 6 * time.Second
}

// expected is an error that closing at any time may lead to, or nil.
func expected(err error) bool { return err == nil || errors.Is(err, ortolan.ErrClosed) }

// oneRound makes a session and values, runs on several goroutines, and closes everything in some order, or leaves it to
// the garbage collector.
func oneRound(t *testing.T, random *rand.Rand) {
	environment := must[*ortolan.Environment](t)(ortolan.NewEnvironment(nil))
	options := must[*ortolan.SessionOptions](t)(ortolan.NewSessionOptions())
	check(t, options.SetIntraOpThreads(1))
	check(t, options.SetLog(func(ortolan.LogLine) {}))
	factor := must[*ortolan.Value](t)(ortolan.NewTensor([]float32{2}, 1))
	check(t, options.AddInitializer("factor", factor))
	session := must[*ortolan.Session](t)(environment.NewSession(modelPath("add"), options))
	binding := must[*ortolan.Binding](t)(session.NewBinding())
	shared := must[*ortolan.Value](t)(ortolan.NewTensor([]float32{1, 2, 3}, 3))
	texts := must[*ortolan.Value](t)(ortolan.NewTensor([]string{"a", "b"}, 2))

	var workers sync.WaitGroup
	for worker := 0; worker < 3; worker++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for i := 0; i < 20; i++ {
				runOnce(t, session, binding, shared)
			}
		}()
	}
	closers := []interface{ Close() error }{environment, options, factor, session, binding, shared, texts}
	random.Shuffle(len(closers), func(i, j int) { closers[i], closers[j] = closers[j], closers[i] })
	for _, closer := range closers[random.Intn(len(closers)):] {
		closer.Close()
	}
	workers.Wait()
}

// runOnce runs whatever is still open, and checks what comes out.
func runOnce(t *testing.T, session *ortolan.Session, binding *ortolan.Binding, shared *ortolan.Value) {
	own, err := ortolan.NewTensor([]float32{10, 20, 30}, 3)
	if err != nil {
		t.Error(err)
		return
	}
	outputs, err := session.Run(shared, own)
	if !expected(err) {
		t.Error(err)
	}
	if err == nil {
		data, err := ortolan.Data[float32](outputs[1])
		if err != nil || data[2] != 66 {
			t.Error(data, err)
		}
		outputs[0].Close() // the other one is lost
	}
	for _, err := range []error{binding.BindInput("a", own), binding.BindInput("b", own),
		binding.BindOutput("sum", own), binding.Run()} {
		if !expected(err) {
			t.Error(err)
		}
	}
	own.Close()
}

func TestStress(t *testing.T) {
	random := rand.New(rand.NewSource(11))
	collecting := make(chan struct{})
	var collector sync.WaitGroup
	collector.Add(1)
	go func() {
		defer collector.Done()
		for {
			select {
			case <-collecting:
				return
			default:
				runtime.GC()
				time.Sleep(2 * time.Millisecond)
			}
		}
	}()
	rounds, warm := 0, 0
	begin := time.Now()
	for duration := stressTime(t); time.Since(begin) < duration && !t.Failed(); rounds++ {
		oneRound(t, random)
		if warm == 0 && time.Since(begin) > duration/3 {
			collect()
			warm = residentKiB(t)
		}
	}
	close(collecting)
	collector.Wait()
	collect()
	grown := residentKiB(t) - warm
	t.Logf("%d rounds; %d KiB after a third, %d KiB more at the end", rounds, warm, grown)
	if grown > 8<<10 {
		t.Errorf("the process grew by %d KiB in %d rounds", grown, rounds)
	}
}
