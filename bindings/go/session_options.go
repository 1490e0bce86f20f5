// Session options: how sessions are made.

package ortolan

import (
	"runtime"
	"sync"

	"ortolan.org/ortolan/internal/native"
)

// SessionOptions are settings of sessions. Any number of sessions may be made with them; later changes leave those as
// they are.
type SessionOptions struct {
	object
	mutex sync.RWMutex
}

// OptimizationLevel says how much a model is rewritten before it runs.
type OptimizationLevel int32

// The levels of optimization.
const (
	OptimizeNothing  OptimizationLevel = 0
	OptimizeBasic    OptimizationLevel = 1
	OptimizeExtended OptimizationLevel = 2
	OptimizeLayout   OptimizationLevel = 3
	OptimizeAll      OptimizationLevel = 99 // the default
)

// ExecutionMode says in which order nodes run.
type ExecutionMode int32

// The modes of execution.
const (
	Sequential ExecutionMode = 0 // the default
	Parallel   ExecutionMode = 1
)

// DevicePolicy says how the devices of a session are chosen.
type DevicePolicy int32

// The policies.
const (
	DefaultPolicy   DevicePolicy = 0
	PreferCPU       DevicePolicy = 1
	PreferNPU       DevicePolicy = 2
	PreferGPU       DevicePolicy = 3
	MaxPerformance  DevicePolicy = 4
	MaxEfficiency   DevicePolicy = 5
	MinOverallPower DevicePolicy = 6
)

var sessionOptionsClass = &class{"session options object", native.Release_session_options}

// NewSessionOptions makes options with every setting at its default.
func NewSessionOptions() (*SessionOptions, error) {
	var status uintptr
	return ownOptions(native.Create_session_options(&status), status)
}

func ownOptions(address, status uintptr) (*SessionOptions, error) {
	if err := failure(status); err != nil {
		return nil, err
	}
	options := new(SessionOptions)
	options.init(sessionOptionsClass, address)
	runtime.SetFinalizer(options, (*SessionOptions).Close)
	return options, nil
}

// Clone makes options with the same settings.
func (o *SessionOptions) Clone() (*SessionOptions, error) {
	o.mutex.RLock()
	defer o.mutex.RUnlock()
	if err := o.acquire(); err != nil {
		return nil, err
	}
	defer o.done()
	var status uintptr
	clone, err := ownOptions(native.Clone_session_options(o.address, &status), status)
	if err != nil {
		return nil, err
	}
	for _, kept := range o.parents {
		clone.keep(kept)
	}
	return clone, nil
}

// Close gives the options back; sessions made with them go on. It always returns nil.
func (o *SessionOptions) Close() error {
	if o.address != 0 {
		runtime.SetFinalizer(o, nil)
	}
	o.close()
	return nil
}

// keep makes the options a user of what sessions made with them use: log functions, initializers, environments. The
// caller uses it too, and the options.
func (o *SessionOptions) keep(kept *object) {
	kept.state.Add(oneUser)
	o.parents = append(o.parents, kept)
}

// change calls the library with the options while no other goroutine changes or reads them.
func (o *SessionOptions) change(call func(address uintptr, status *uintptr)) error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.use(call)
}

// changeText is change for settings that are a text.
func (o *SessionOptions) changeText(text string, set func(address uintptr, text *byte, status *uintptr)) error {
	bytes, err := textFor(text)
	if err != nil {
		return err
	}
	return o.change(func(address uintptr, status *uintptr) { set(address, bytes, status) })
}

// changeNumber is change for settings that are a number.
func (o *SessionOptions) changeNumber(number int32, set func(address uintptr, number int32, status *uintptr)) error {
	return o.change(func(address uintptr, status *uintptr) { set(address, number, status) })
}

// SetOptimizationLevel says how much the model is rewritten.
func (o *SessionOptions) SetOptimizationLevel(level OptimizationLevel) error {
	return o.changeNumber(int32(level), native.Set_optimization_level)
}

// SetExecutionMode says whether nodes that do not depend on each other may run at once.
func (o *SessionOptions) SetExecutionMode(mode ExecutionMode) error {
	return o.changeNumber(int32(mode), native.Set_execution_mode)
}

// SetIntraOpThreads sets the number of threads that work on a node, the caller's among them; 0 means one a core.
func (o *SessionOptions) SetIntraOpThreads(threads int) error {
	return o.changeNumber(narrow(threads), native.Set_intra_op_threads)
}

// SetInterOpThreads sets the number of threads that run nodes in parallel mode; 0 means one a core.
func (o *SessionOptions) SetInterOpThreads(threads int) error {
	return o.changeNumber(narrow(threads), native.Set_inter_op_threads)
}

// DisableSessionThreads makes sessions use the thread pools of their environment instead of their own.
func (o *SessionOptions) DisableSessionThreads() error {
	return o.change(native.Disable_session_threads)
}

// EnableProfiling makes sessions write a profile to the file <prefix>_<date>.json; see Session.EndProfiling.
func (o *SessionOptions) EnableProfiling(prefix string) error {
	return o.changeText(prefix, native.Set_profiling)
}

// DisableProfiling takes EnableProfiling back.
func (o *SessionOptions) DisableProfiling() error {
	return o.change(func(address uintptr, status *uintptr) { native.Set_profiling(address, nil, status) })
}

// SetMemoryPattern says whether memory for runs is planned from the shapes of the first ones.
func (o *SessionOptions) SetMemoryPattern(on bool) error {
	return o.changeNumber(flag(on), native.Set_memory_pattern)
}

// SetCPUArena says whether sessions keep the memory of ended runs for later ones.
func (o *SessionOptions) SetCPUArena(on bool) error {
	return o.changeNumber(flag(on), native.Set_cpu_arena)
}

// SetLogID sets what log lines of sessions are marked with.
func (o *SessionOptions) SetLogID(logID string) error {
	return o.changeText(logID, native.Set_session_log_id)
}

// SetLogSeverity sets the severity of the least important lines that sessions log.
func (o *SessionOptions) SetLogSeverity(severity LogSeverity) error {
	return o.changeNumber(int32(severity), native.Set_session_severity)
}

// SetLogVerbosity sets how much sessions log at LogVerbose.
func (o *SessionOptions) SetLogVerbosity(verbosity int) error {
	return o.changeNumber(narrow(verbosity), native.Set_session_verbosity)
}

// SetLog makes sessions give their log lines to a function; nil leaves them to the environment.
func (o *SessionOptions) SetLog(log LogFunc) error {
	var sinkAddress uintptr
	sink := newSink(log)
	if sink != nil {
		defer sink.close()
		sinkAddress = sink.address
	}
	return o.change(func(address uintptr, status *uintptr) {
		if native.Set_session_log(address, sinkAddress, status); *status == 0 && sink != nil {
			o.keep(sink)
		}
	})
}

// SetOptimizedModelPath makes sessions write the rewritten model to a file.
func (o *SessionOptions) SetOptimizedModelPath(path string) error {
	return o.changeText(path, native.Set_optimized_model_path)
}

// SetDeterministic says whether equal runs must give equal bits.
func (o *SessionOptions) SetDeterministic(on bool) error {
	return o.changeNumber(flag(on), native.Set_deterministic)
}

// AddSetting sets one of the library's further settings, "session.intra_op.allow_spinning" for example.
func (o *SessionOptions) AddSetting(key, value string) error {
	keyText, valueText, err := textsFor(key, value)
	if err != nil {
		return err
	}
	return o.change(func(address uintptr, status *uintptr) {
		native.Add_session_setting(address, keyText, valueText, status)
	})
}

// Setting is the value of a setting, and whether it was set.
func (o *SessionOptions) Setting(key string) (value string, set bool, err error) {
	text, err := textFor(key)
	if err != nil {
		return "", false, err
	}
	o.mutex.RLock()
	defer o.mutex.RUnlock()
	err = o.use(func(address uintptr, status *uintptr) {
		result := native.Session_setting(address, text, status)
		value, set = native.TakeString(result), result != nil
	})
	return value, set, err
}

// RecordNodeAssignments makes sessions remember which provider runs each node; see Session.NodeAssignments.
func (o *SessionOptions) RecordNodeAssignments() error {
	return o.AddSetting("session.record_ep_graph_assignment_info", "1")
}

// AddFreeDimension gives all dimensions with a denotation, "DATA_BATCH" for example, a size.
func (o *SessionOptions) AddFreeDimension(denotation string, size int64) error {
	return o.changeText(denotation, func(address uintptr, text *byte, status *uintptr) {
		native.Add_free_dimension(address, text, size, status)
	})
}

// AddFreeDimensionByName gives the symbolic dimension of a name a size.
func (o *SessionOptions) AddFreeDimensionByName(name string, size int64) error {
	return o.changeText(name, func(address uintptr, text *byte, status *uintptr) {
		native.Add_free_dimension_by_name(address, text, size, status)
	})
}

// AddInitializer gives the model's initializer of a name a value, which sessions read in place.
func (o *SessionOptions) AddInitializer(name string, value *Value) error {
	if value == nil {
		return refuse("there must be a value for initializer '%s'", name)
	}
	if err := value.acquire(); err != nil {
		return err
	}
	defer value.done()
	return o.changeText(name, func(address uintptr, text *byte, status *uintptr) {
		if native.Add_initializer(address, text, value.address, status); *status == 0 {
			o.keep(&value.object)
		}
	})
}

// RegisterCustomOperators loads a library with operators for the models of sessions.
func (o *SessionOptions) RegisterCustomOperators(libraryPath string) error {
	return o.changeText(libraryPath, native.Register_custom_operators)
}
