// Frames, as Go sees them.

package native

import (
	"runtime"
	"unsafe"
)

// MostDimensions is how many dimensions a frame has room for.
const MostDimensions = 8

// Facts is what is known of an output; frame.c has the same. Type is 0 where the output is no tensor or has more
// dimensions than fit.
type Facts struct {
	Type  int64
	Data  unsafe.Pointer
	Size  int64
	Rank  int64
	Shape [MostDimensions]int64
	OnCPU int64
}

// frameMemory is the beginning of struct Frame of frame.c.
type frameMemory struct {
	status                    uintptr
	shape                     [MostDimensions]int64
	inputs, outputs           unsafe.Pointer
	inputChoice, outputChoice unsafe.Pointer
	facts                     unsafe.Pointer
}

// Frame is memory of C's that a call reads and writes.
type Frame struct {
	Address                   uintptr
	Status                    *uintptr // what a failed call left; 0 before and after others
	Shape                     *[MostDimensions]int64
	Inputs, Outputs           []uintptr
	InputChoice, OutputChoice []int32
	Facts                     []Facts // of the outputs that a run made
}

// NewFrame makes a frame for runs of at most so many inputs and outputs. The garbage collector releases it.
func NewFrame(inputs, outputs int) *Frame {
	address := Create_frame(inputs, outputs)
	if address == 0 {
		panic("ortolan: out of memory") // as Go itself does
	}
	memory := (*frameMemory)(Frame_memory(address))
	frame := &Frame{
		Address:      address,
		Status:       &memory.status,
		Shape:        &memory.shape,
		Inputs:       unsafe.Slice((*uintptr)(memory.inputs), inputs),
		Outputs:      unsafe.Slice((*uintptr)(memory.outputs), outputs),
		InputChoice:  unsafe.Slice((*int32)(memory.inputChoice), inputs),
		OutputChoice: unsafe.Slice((*int32)(memory.outputChoice), outputs),
		Facts:        unsafe.Slice((*Facts)(memory.facts), outputs),
	}
	runtime.SetFinalizer(frame, func(frame *Frame) { Release_frame(frame.Address) })
	return frame
}

// TakeStatus gives what a call left, and clears it for the next one.
func (f *Frame) TakeStatus() uintptr {
	status := *f.Status
	*f.Status = 0
	return status
}
